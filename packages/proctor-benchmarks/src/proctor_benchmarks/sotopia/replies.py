"""Read and write episodes in the official layout, an `EpisodeLog` in each line.

    {"environment": "e1", "agents": ["a1", "a2"], "models": ["judge", "M", "P"], "rewards": [[3.1, {"goal": 8, …}], …],
     "messages": [[["Environment", "Ann Lee", "…"], …, ["Ann Lee", "Environment", "said: \"Hi\""], …], …], "reasoning": "…"}

The lines of the published episodes, which name the same things otherwise (`raw_messages`), are read too.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.core.validation import in_words
from proctor.runtime.files import write_whole
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.sotopia.actions import NOTHING
from proctor_benchmarks.sotopia.dataset import scene_id, scene_of
from proctor_benchmarks.sotopia.partner import replayed
from proctor_benchmarks.sotopia.ratings import ENVIRONMENT

NAME = "episodes.jsonl"
PARTNER = "partner"
PUBLISHED = {
    "environment_id": "environment",
    "agent_ids": "agents",
    "experiment_model_name_pairs": "models",
    "raw_messages": "messages",
}


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded episode; the first of its models is the judge."""

    environment: str
    agents: tuple[str, ...]
    models: tuple[str, ...] | None = None
    messages: list[list[tuple[str, str, str]]]
    reasoning: str = ""
    rewards: list[object] = []


def read(path: Path, task_options: Mapping[str, object]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the episodes of a file, or of `episodes.jsonl` in a folder, for each player whose model is tested.

    Raises:
        BadInput: no such file, a line that is no episode, or a model that none of them has.
    """
    tested = task_options.get("model")
    file = path / NAME if path.is_dir() else path
    is_found = False
    for number, row in read_json_lines(file, dict[str, Any]):
        log = _log(file, number, row)
        models = (log.models or ())[1:]
        for seat in range(len(log.agents)):
            if tested is None or (seat < len(models) and models[seat] == tested and seat == models.index(tested)):
                is_found = True
                yield f"{scene_id(log.environment, log.agents)}/{seat + 1}", _trajectory(log, seat)
    if not is_found:
        raise BadInput("{path} has no episode of the model {model}.", path=file, model=tested or "-")


def _log(path: Path, number: int, row: Mapping[str, object]) -> Log:
    try:
        return msgspec.convert({PUBLISHED.get(name, name): value for name, value in row.items()}, Log)
    except msgspec.ValidationError as error:
        raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=in_words(error)) from None


def _trajectory(log: Log, seat: int) -> Trajectory:
    names = [receiver for sender, receiver, _ in (log.messages[0] if log.messages else ()) if sender == ENVIRONMENT]
    steps = [
        Step(
            message=Message.of("assistant" if names[seat : seat + 1] == [sender] else "user", text.strip()),
            author=sender,
            turn=number,
        )
        for number, turn in enumerate(log.messages)
        for sender, receiver, text in turn
        if sender != ENVIRONMENT and receiver == ENVIRONMENT and text.strip() != NOTHING
    ]
    state = {"messages": log.messages, "rewards": log.rewards, "reasoning": log.reasoning}
    return Trajectory(steps=tuple(steps), state=state)


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts that were scored, and say where.

    The rewards are 0, as in all files of the official code: those of the judge are verdicts of the run.

    Raises:
        BadInput: a sample that is not of SOTOPIA, or nothing to write.
    """
    lines: list[str] = []
    for sample, trial in trials:
        if "scene" not in sample.meta:
            raise BadInput("The sample '{id}' is not of SOTOPIA.", id=sample.id)
        if trial.attempt or trial.outcome != "scored":
            continue
        scene, seat, _ = scene_of(sample)
        state = trial.trajectory.state or {}
        players = range(len(scene.profiles))
        log = {
            "environment": scene.setting.pk,
            "agents": [profile.pk for profile in scene.profiles],
            "tag": trial.run_id,
            "models": ["", *(model if index == seat else PARTNER for index in players)],
            "messages": state["messages"] if "messages" in state else replayed(sample, state).log,
            "reasoning": state.get("reasoning", ""),
            "rewards": state.get("rewards", [0.0 for _ in players]),
        }
        lines.append(json.dumps(log, ensure_ascii=False))
    if not lines:
        raise BadInput("The run holds no scored trial to export.")
    return [write_whole(folder / NAME, "\n".join(lines) + "\n")]
