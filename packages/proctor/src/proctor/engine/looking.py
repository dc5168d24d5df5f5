"""Define what looks at a run while it goes on, and admits no further trial once what it was to show is decided."""

from collections.abc import Collection, Sequence
from typing import Protocol

from proctor.core.run import Looked, RunRecord
from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict

Key = tuple[str, int]


class LookWatch(Protocol):
    """Follows the trials of a run that are on disk."""

    @property
    def is_over(self) -> bool:
        """True if no further trial is needed."""
        ...

    def begin(self, record: RunRecord, store: Store, finished: Collection[Key]) -> None:
        """Read the plan, and the trials that are stored and will not be run again."""
        ...

    async def turn(self, sample: Sample, attempt: int) -> bool:
        """Wait until a trial may begin; False if it is not needed any more. Trials come in the order of the plan."""
        ...

    def add(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        """Take a trial that is on disk."""
        ...

    def looked(self) -> Looked | None:
        """Return what was found so far; None if nothing can be."""
        ...
