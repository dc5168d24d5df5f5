"""Read and write the official result files, `pair_comparison_results.json`: one for each order of the answers.

    <folder>/calc_score_comparison/<model>/pair_comparison_results.json
    <folder>/calc_score_comparison_reverse/<model>/pair_comparison_results.json

    [{"question": "…", "response": {"gpt35": "…", "vicuna": "…"}, "evaluation": [{"role": "Critic", "evaluation": "…"}]}]

Items are matched by their place in the list, as officially, and their questions have to be the same.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.core.validation import in_words
from proctor.runtime.files import folder_name, write_whole
from proctor.runtime.json_file import read_json
from proctor_benchmarks.chateval import dataset, scorer
from proctor_benchmarks.chateval.dataset import FORWARD, REVERSED

NAME = "pair_comparison_results.json"
REVERSE = "reverse"
_FOLDERS = {FORWARD: "calc_score_comparison", REVERSED: "calc_score_comparison_reverse"}


class DebateSpeech(msgspec.Struct, frozen=True):
    """A speech of the official file."""

    role: str
    evaluation: str


class ChatEvalResult(msgspec.Struct, frozen=True):
    """An item of the official file."""

    question: str
    evaluation: tuple[DebateSpeech, ...]


def read(path: Path, task_options: Mapping[str, object]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the speeches of each item and order; a file whose folder says `reverse` is that of the other order.

    Raises:
        BadInput: no such file below the path, or one that does not go with the data.
    """
    file, _ = dataset.locate(str(task_options.get("data", dataset.EXAMPLE)))
    ids = [(dataset.id_of(number, item), item) for number, item in enumerate(dataset.items(file))]
    paths = [path] if path.is_file() else sorted(path.rglob(NAME))
    if not paths:
        raise BadInput("There is no {name} in {path}.", name=NAME, path=path)
    for one in paths:
        order = REVERSED if any(REVERSE in part for part in one.parts[-3:]) else FORWARD
        results = _results(one)
        for number, (result, (id, item)) in enumerate(zip(results, ids, strict=False)):
            if result.question != item.question:
                raise BadInput(
                    "{path}: item {number} is another question than in the data: {question}",
                    path=one,
                    number=number,
                    question=result.question[:80],
                )
            yield f"{id}/{order}", _trajectory(result)


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts that were scored, in the order of the data, and say where.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of ChatEval, or nothing to write.
    """
    name = folder_name(model)
    lines: dict[str, dict[int, dict[str, object]]] = {FORWARD: {}, REVERSED: {}}
    for sample, trial in trials:
        if "pair" not in sample.meta:
            raise BadInput("The sample '{id}' is not of ChatEval.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored":
            pair = sample.meta["pair"]
            roles = [seat["name"] for seat in sample.meta["debate"]["seats"]]
            lines[pair["order"]][pair["number"]] = {
                "question": pair["question"],
                "response": pair["response"],
                "evaluation": _said(trial.trajectory, roles),
            }
    written = [
        write_whole(
            folder / _FOLDERS[order] / name / NAME, json.dumps([by_number[at] for at in sorted(by_number)], indent=4)
        )
        for order, by_number in lines.items()
        if by_number
    ]
    if not written:
        raise BadInput("The run holds no scored trial to export.")
    return written


def _results(path: Path) -> Sequence[ChatEvalResult]:
    try:
        return msgspec.convert(read_json(path), list[ChatEvalResult])
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None


def _trajectory(result: ChatEvalResult) -> Trajectory:
    return Trajectory(
        steps=tuple(
            Step(message=Message.of("assistant", speech.evaluation), author=speech.role or "agent")
            for speech in result.evaluation
        ),
        state={"evaluation": [{"role": speech.role, "evaluation": speech.evaluation} for speech in result.evaluation]},
    )


def _said(trajectory: Trajectory, roles: Sequence[str]) -> list[dict[str, str]]:
    texts, _ = scorer.speeches(trajectory)
    counted = (trajectory.state or {}).get("evaluation")
    named = [str(speech.get("role", "")) for speech in counted] if counted else list(roles)
    return [{"role": role, "evaluation": text} for role, text in zip(named, texts, strict=False)]
