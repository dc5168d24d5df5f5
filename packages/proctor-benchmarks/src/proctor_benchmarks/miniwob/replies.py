"""Read and write episodes as lines of JSON: which one it was, and the rewards that the page gave; upstream has no such file.

    {"task": "click-test", "seed": 7, "done": true, "raw_reward": 1.0, "reward": 0.93, "reason": null, "actions": []}

`actions` are those of the agent, `[name, arguments]`; with them `proctor data parity` can play the episode again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, TrialFailure
from proctor.runtime.files import folder_name, write_whole
from proctor.runtime.json_file import read_json_lines

NAME = "episodes.jsonl"


class PlayedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line; `utterance` and `dom` are compared by `proctor data parity` where they are there."""

    task: str
    seed: int
    done: bool
    raw_reward: float | None = 0.0
    reward: float | None = 0.0
    reason: str | None = None
    mode: str = "train"
    actions: tuple[tuple[str, dict[str, object]], ...] = ()
    utterance: str | None = None
    dom: tuple[str, ...] | None = None

    @property
    def id(self) -> str:
        return f"{self.task}/{self.seed}"


def read(path: Path, task_options: Mapping[str, object]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:  # noqa: ARG001
    """Yield the end of each episode.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    for _, line in read_json_lines(path, PlayedLine):
        state = {"task": line.task, "seed": line.seed, "done": line.done, "reason": line.reason}
        yield line.id, Trajectory(state={**state, "raw_reward": line.raw_reward, "reward": line.reward})


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the first attempts that were scored, and say where.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of MiniWoB++, or nothing to write.
    """
    name = folder_name(model)
    lines = []
    for sample, trial in trials:
        if "episode" not in sample.meta:
            raise BadInput("The sample '{id}' is not of MiniWoB++.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored" and trial.trajectory.state:
            actions = [(call.name, call.arguments) for call in trial.trajectory.calls()]
            lines.append(json.dumps({**trial.trajectory.state, "actions": actions}))
    if not lines:
        raise BadInput("The run holds no scored trial to export.")
    return [write_whole(folder / name / NAME, "\n".join(lines) + "\n")]
