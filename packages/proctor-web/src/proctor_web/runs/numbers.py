"""The numbers of a run that a reader looks for first."""

from collections.abc import Mapping

import msgspec

from proctor.api import numbers
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import Outcome
from proctor_web.samples.side import Side
from proctor_web.workspace import Found, Workspace


class RunNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be computed from the trials of a run."""

    headline: Estimate | None
    outcomes: Mapping[Outcome, int]
    usage: Usage


def numbers_soon(workspace: Workspace, found: Found, *, seconds: float) -> RunNumbers | None:
    """Return the numbers of a run that is not under way; None while they are computed, where that takes longer."""
    store, record, _ = found
    side = workspace.kept(Side)
    return side.soon(found, "list", RunNumbers, lambda: _numbers(store, record), seconds=seconds)


def _numbers(store: Store, record: RunRecord) -> RunNumbers:
    headline = numbers.headline(record, store) if record.scorers else None
    return RunNumbers(headline=headline, outcomes=store.outcomes(record.id), usage=store.usage(record.id))
