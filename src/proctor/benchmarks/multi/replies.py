"""Recorded predictions as replies to a task; see `predictions.py` for the files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.benchmarks.multi import task
from proctor.benchmarks.multi.predictions import predictions, trajectory_of
from proctor.core.errors import BadInput
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Failure


def read(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | Failure]]:
    """The replies to the questions of the task; predictions for others are passed over, as officially.

    Raises:
        BadInput: no predictions, another layout, or none for a question of the task.
    """
    found = predictions(Path(path))
    samples = task(**task_options).samples
    assert not callable(samples)
    wanted = {sample.id for sample in samples}
    chosen = [answered for id, answered in found.items() if id in wanted]
    if not chosen:
        raise BadInput("{path} holds no prediction for a question of the task.", path=path)
    return ((answered.question_id, trajectory_of(answered)) for answered in chosen)
