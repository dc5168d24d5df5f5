"""Read recorded official results: a result tree, a model's folder, or one file.

    result/<model>/<group>/BFCL_v4_<category>_result.json      one line for each sample:
    {"id": "simple_python_0", "result": [{"f": "{\\"x\\": 1}"}], "input_token_count": 96, "output_token_count": 9, "latency": 0.8}

In categories of several turns `result` is a list of turns, each a list of steps, and the counts are such lists too. A
step, or the `result` of one turn, is text in prompting mode; in native mode a list of `{name: arguments as JSON text}`, or the text of the
message (or null) where no tool was called. Whatever else is there is kept such that it gets the verdict the
official decoder would give. Texts `Error during inference: ...` are scored as the official tool scores them: as what
the model said.

Source: bfcl-eval 2026.3.23, `eval_checker/eval_runner.py`, `model_handler/api_inference/openai_completion.py`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Part, Reasoning, Text, ToolCall
from proctor.core.trajectory import Step, ToolStyle, Trajectory, Usage
from proctor.core.trial import TrialFailure
from proctor.runtime.files import reading
from proctor.runtime.json_file import read_json
from proctor_benchmarks.bfcl import dataset, dataset_agentic
from proctor_benchmarks.bfcl.formats import FORMAT_SENSITIVITY

FAILED = "Error during inference:"
SNAPSHOTS = Path("memory_snapshot", "prereq_checkpoints")
"""Where the memory after each conversation of a write phase is kept, next to its results."""

_OF_TURNS = (*dataset.MULTI_TURN, *dataset.AGENTIC)
_NAME = re.compile(r"BFCL_v4_(\w+?)(?:_result)?\.json")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Line(msgspec.Struct, frozen=True, gc=False):
    id: str
    result: Any
    input_token_count: object = 0
    output_token_count: object = 0
    latency: Any = 0.0
    reasoning_content: object = None


_decoder = msgspec.json.Decoder(_Line)


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the replies to samples of the task's categories, in the order of the files.

    Native or text is decided for a model as a whole, unless `mode` says it: native when the folder's name ends with
    `-FC` or any reply is a list.

    Raises:
        BadInput: nothing to read, results of several models, a malformed line, an unknown id, an id twice.
    """
    path = Path(path)
    wanted = dataset.expand(dataset.names_of(task_options.get("category") or "single_turn"))
    file_by_category = files(path)
    lines = {category: _lines(file) for category, file in file_by_category.items()}
    tools = _tools(file_by_category, task_options.get("mode", "auto"), lines)
    chosen = [category for category in file_by_category if category in wanted and lines[category]]
    if not chosen:
        raise BadInput(
            "{path} holds no results for {categories}. Found: {found}.",
            path=path,
            categories=", ".join(wanted),
            found=", ".join(category for category in lines if lines[category]) or "-",
        )
    folder = dataset.locate(task_options.get("data"))
    for category in chosen:
        _check_ids(file_by_category[category], lines[category], dataset.ids(folder, category), category)
    written = [
        write_phase
        for category in chosen
        if category in dataset.MEMORY
        for write_phase in _write_phases(file_by_category[category].parent, category, tools, folder)
    ]
    scored = (
        (
            line.id,
            _conversation(line, tools)
            if category in _OF_TURNS
            else _trajectory(line, "text" if category == FORMAT_SENSITIVITY else tools),
        )
        for category in chosen
        for _, line in lines[category]
    )
    return chain(written, scored)


def _write_phases(results: Path, category: str, tools: ToolStyle, folder: Path) -> Iterator[tuple[str, Trajectory]]:
    """Yield the conversations in which memory was written, with the memory they left, where both are there."""
    file = results / f"BFCL_v4_{category}{dataset.WRITE_PHASE}_result.json"
    if not file.is_file():
        return
    lines, entries = _lines(file), dataset_agentic.read(folder, category).entries
    _check_ids(file, lines, [entry.id for entry in entries if entry.answers is None], category)
    for _, line in lines:
        snapshot = results / SNAPSHOTS / f"{line.id}.json"
        memory = {f"MemoryAPI_{category.removeprefix('memory_')}": read_json(snapshot)} if snapshot.is_file() else None
        yield line.id, replace(_conversation(line, tools), state=memory)


def files(path: Path) -> dict[str, Path]:
    """Return the result file of each known category that is there, in the order of the table; others are passed over.

    Raises:
        BadInput: nothing that looks like results, two files of one category, or results of several models.
    """
    if path.is_file():
        return {_category_of(path): path}
    paths: dict[str, list[Path]] = {}
    for file in sorted(path.rglob("BFCL_v4_*_result.json")):
        if (match := _NAME.fullmatch(file.name)) and match[1] in dataset.CATEGORIES:
            paths.setdefault(match[1], []).append(file)
    if not paths:
        raise BadInput("{path} holds no files BFCL_v4_<category>_result.json of known categories.", path=path)
    models = sorted({_model_folder(file) for several in paths.values() for file in several})
    if len(models) > 1:
        raise BadInput(
            "{path} holds results of several models: {models}. Give the folder of one.",
            path=path,
            models=", ".join(model.name for model in models),
        )
    for category, several in paths.items():
        if len(several) > 1:
            raise BadInput(
                "{path} holds two result files of {category}: {first} and {second}.",
                path=path,
                category=category,
                first=several[0],
                second=several[1],
            )
    return {category: paths[category][0] for category in dataset.CATEGORIES if category in paths}


def trajectory_of(result: object, tools: ToolStyle, *, of_turns: bool = False) -> Trajectory:
    """Return what is in `result`, of one turn or a list of turns of steps, as a trajectory that gets the official verdict.

    >>> [call.name for call in trajectory_of([{"f": "{}"}], "native").calls()]
    ['f']
    >>> trajectory_of(None, "text").steps[0].message.parts
    ()
    """
    return (_conversation if of_turns else _trajectory)(_Line(id="", result=result), tools)


def _trajectory(line: _Line, tools: ToolStyle) -> Trajectory:
    parts: tuple[Part, ...] = _native_parts(line.result) if tools == "native" else _text_parts(line.result)
    if isinstance(line.reasoning_content, str):
        parts = (Reasoning(text=_clean(line.reasoning_content)), *parts)
    usage = Usage(
        input_tokens=_count(line.input_token_count), output_tokens=_count(line.output_token_count), requests=1
    )
    latency = line.latency
    seconds = float(latency) if type(latency) in (int, float) and 0 <= latency < 1e9 else 0.0
    step = Step(message=Message(role="assistant", parts=parts), seconds=seconds, usage=usage)
    failed = isinstance(line.result, str) and line.result.startswith(FAILED)
    return Trajectory(steps=(step,), tools=tools, state={"failed_when_generated": True} if failed else None)


def _conversation(line: _Line, tools: ToolStyle) -> Trajectory:
    """Return the turns of steps; what is not of that form, such as an error, is kept in the state as it came."""
    from proctor_benchmarks.bfcl.turn_scorer import OFFICIAL, result_of

    steps = [
        replace(_trajectory(_step_of(line, turn, number, said), tools).steps[0], turn=turn)
        for turn, several in enumerate(line.result if isinstance(line.result, list) else ())
        for number, said in enumerate(several if isinstance(several, list) else ())
    ]
    trajectory = Trajectory(steps=tuple(steps), tools=tools)
    result = json.loads(_clean(json.dumps(line.result, ensure_ascii=False)))
    return trajectory if result_of(trajectory) == result else replace(trajectory, state={OFFICIAL: result})


def _step_of(line: _Line, turn: int, number: int, said: object) -> _Line:
    def one_of(values: Any) -> object:
        try:
            return values[turn][number]
        except (IndexError, KeyError, TypeError):
            return None

    return _Line(
        id=line.id,
        result=said,
        input_token_count=one_of(line.input_token_count),
        output_token_count=one_of(line.output_token_count),
        latency=one_of(line.latency),
        reasoning_content=one_of(line.reasoning_content) or None,
    )


def _text_parts(result: object) -> tuple[Text, ...]:
    """Prompting mode: what is no text cannot be decoded, exactly as null cannot."""
    return (Text(text=_clean(result)),) if isinstance(result, str) else ()


def _native_parts(result: object) -> tuple[Text | ToolCall, ...]:
    """Native mode: the official decoder takes the first key of each item, and fails on all when it fails on one."""
    if result is None:
        return ()
    if isinstance(result, str):
        return (Text(text=_clean(result)),)
    if isinstance(result, list | dict) and not result:
        return (Text(text=""),)  # decodes to no calls, as empty text does
    if not isinstance(result, list) or not all(map(_is_call, result)):
        return (Text(text=_clean(json.dumps(result, ensure_ascii=False))),)
    return tuple(_call(next(iter(item.items()))) for item in result)


def _is_call(item: object) -> bool:
    return isinstance(item, dict) and bool(item) and isinstance(next(iter(item.values())), str)


def _call(item: tuple[str, str]) -> ToolCall:
    name, arguments = item
    return ToolCall.from_text(_clean(name), _clean(arguments))


def _clean(text: str) -> str:
    """Return the text without lone surrogates, which no store and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _count(value: Any) -> int:
    return int(value) if type(value) in (int, float) and 0 <= value < 1e12 else 0


def _tools(file_by_category: Mapping[str, Path], mode: str, lines: Mapping[str, list[tuple[int, _Line]]]) -> ToolStyle:
    if mode != "auto":
        return "native" if mode == "native" else "text"
    if any(_model_folder(file).name.endswith("-FC") for file in file_by_category.values()):
        return "native"
    said = (reply for category, several in lines.items() for _, line in several for reply in _said(category, line))
    listed = any(isinstance(reply, list) for reply in said)
    return "native" if listed else "text"


def _said(category: str, line: _Line) -> Iterator[object]:
    """Yield the replies of the model: of several turns, those of each."""
    turns = line.result if isinstance(line.result, list) else ()
    if category in _OF_TURNS:
        for turn in turns:
            yield from turn if isinstance(turn, list) else ()
    else:
        yield line.result


def _model_folder(file: Path) -> Path:
    """Return the folder above the group's: `result/<model>/<group>/<file>`, of memory two levels further up."""
    folder = file.absolute().parent
    for about in dataset.CATEGORIES.values():
        group = Path(about.folder or about.group).parts
        if folder.parts[-len(group) :] == group:
            return folder.parents[len(group) - 1]
    return folder


def _category_of(file: Path) -> str:
    """By the official file name, else by the first id."""
    if match := _NAME.fullmatch(file.name):
        return dataset.expand([match[1]])[0]
    for _, line in _lines(file):
        return dataset.expand([dataset.category_of(line.id)])[0]
    raise BadInput("{path} is empty.", path=file)


def _lines(file: Path) -> list[tuple[int, _Line]]:
    with reading(file):
        data = file.read_bytes()
    return [(number, _decode(file, number, line)) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]


def _decode(file: Path, number: int, line: bytes) -> _Line:
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        first = error
    try:  # NaN, numbers without bounds and lone surrogates are no JSON, but official files may hold them
        return msgspec.convert(json.loads(line), _Line)
    except (ValueError, RecursionError, msgspec.ValidationError):
        raise BadInput("{path}, line {line}: {error}.", path=file, line=number, error=first) from None


def _check_ids(file: Path, lines: list[tuple[int, _Line]], ids: Sequence[str], category: str) -> None:
    known = set(ids)
    seen: set[str] = set()
    for number, line in lines:
        if line.id not in known:
            raise BadInput(
                "{path}, line {line}: {category} has no sample '{id}'.",
                path=file,
                line=number,
                category=category,
                id=line.id,
            )
        if line.id in seen:
            raise BadInput(
                "{path}, line {line}: the result of '{id}' is there twice.", path=file, line=number, id=line.id
            )
        seen.add(line.id)
