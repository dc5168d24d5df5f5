"""Reach what looks at runs while they go on: `--until`, which a package brings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.core.parts import LooksPart
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.registry import offered

if TYPE_CHECKING:
    from proctor.reports.compare import DecidedBy

END = "end"
"""In place of a rule: run the rest of a run that ended early."""
Stored = tuple[RunRecord, Store]


def looks() -> LooksPart:
    """Return what looks at runs.

    Raises:
        MissingExtra: its package is not installed.
    """
    part: LooksPart = offered("looks", "until", needed_for="--until")
    return part


def held(record: RunRecord, store: Store, found: Sequence[Estimate], *, scorer: str | None = None) -> list[Estimate]:
    """Return estimates of a run; of one that was looked at, with intervals that hold for any number of looks."""
    return list(found) if record.spec.until is None else looks().intervals(record, store, found, scorer=scorer)


def decision_between(first: Stored, second: Stored, scorer: str) -> "DecidedBy | None":
    """Return how one of two runs was decided against the other; None where neither was looked at."""
    if first[0].spec.until is None and second[0].spec.until is None:
        return None
    decision: DecidedBy | None = looks().decided(first, second, scorer)
    return decision
