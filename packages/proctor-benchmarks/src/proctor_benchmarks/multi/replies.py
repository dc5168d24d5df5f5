"""Recorded predictions as replies to a task; see `predictions.py` for the files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor_benchmarks.multi.predictions import predictions, trajectory_of


def read(path: Path, samples: Iterable[Sample]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Return the replies to the samples; predictions for others are passed over, as officially.

    Raises:
        BadInput: no predictions, another layout, or none for a question of the task.
    """
    found = predictions(Path(path))
    wanted = {sample.id for sample in samples}
    chosen = [answered for id, answered in found.items() if id in wanted]
    if not chosen:
        raise BadInput("{path} holds no prediction for a question of the task.", path=path)
    return ((answered.question_id, trajectory_of(answered)) for answered in chosen)
