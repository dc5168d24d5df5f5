"""Read answers: official converted files, or the raw ones of a search, which are converted as officially.

    <folder>/<set>.json                       {"588": {"query": "…", "available_tools": […], "answer": {…}}}
    <folder>/<set>/<query id>_<method>.json    a raw answer

A folder or file of one set does not need its name.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json
from proctor_benchmarks.tooleval import dataset
from proctor_benchmarks.tooleval.answers import ToolEvalExample, is_tree, trajectory_of
from proctor_benchmarks.tooleval.conversion import Edition, Unconvertible, convert


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the answers to the queries of the task; one that the official conversion breaks off at is a failure.

    Raises:
        BadInput: there are none, or a file is malformed.
    """
    sets = dataset.sets_of(task_options.get("category"))
    clone = dataset.locate(task_options.get("data"))
    wanted = {f"{name}/{id}" for name in sets for id in clone.ids(name)}
    count = 0
    for id, example in answers(path, sets, task_options.get("method"), task_options.get("edition", "stable")):
        if id in wanted:
            count += 1
            yield id, example if isinstance(example, TrialFailure) else trajectory_of(example.answer)
    if not count:
        raise BadInput("{path} holds no answers to queries of {sets}.", path=path, sets=", ".join(sets))


def answers(path: Path, sets: Sequence[str], method: str | None = None, edition: Edition = "stable") -> Iterator[tuple[str, ToolEvalExample | TrialFailure]]:  # fmt: skip
    """Yield what a file or folder holds, by set and query.

    Args:
        method: a text that is in the names of the raw files to read, and the method they were made with; else the text
            after the first underscore.
    """
    for name in sets:
        file, folder = (path, path) if len(sets) == 1 else (path / f"{name}.json", path / name)
        if path.is_file() and path.stem in sets and path.stem != name:
            continue
        if path.is_file():
            file = path
        elif (path / f"{name}.json").is_file():
            file = path / f"{name}.json"
        if (path / name).is_dir():
            folder = path / name
        if file.is_file():
            yield from ((f"{name}/{id}", example) for id, example in _converted(file))
        elif folder.is_dir():
            yield from ((f"{name}/{id}", one) for id, one in _raw(folder, method, edition))


def _converted(path: Path) -> Iterator[tuple[str, ToolEvalExample]]:
    try:
        examples = msgspec.convert(read_json(path), dict[str, ToolEvalExample])
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
    for id, example in examples.items():
        if not _is_answer(example):
            raise BadInput("{path}: the answer to query {id} is no tree with a final answer.", path=path, id=id)
        yield id, example


def _is_answer(example: ToolEvalExample) -> bool:
    given = example.answer
    is_counted = isinstance(given.get("total_steps", 0), int)
    return is_counted and isinstance(given.get("final_answer"), str) and is_tree(given.get("answer_details"))


def _raw(folder: Path, method: str | None, edition: Edition) -> Iterator[tuple[str, ToolEvalExample | TrialFailure]]:
    for path in sorted(folder.glob("*.json")):
        if method is None or method in path.name:
            id, _, made_with = path.stem.partition("_")
            try:
                example = convert(read_json(path), method or made_with, edition, id)
                if not _is_answer(example):
                    raise Unconvertible("the final answer is no text")
                yield id, example
            except (BadInput, Unconvertible, msgspec.ValidationError) as error:
                yield id, TrialFailure(kind="unreadable", reason=say("{path} cannot be converted: {error}", path=path.name, error=str(error)))  # fmt: skip
