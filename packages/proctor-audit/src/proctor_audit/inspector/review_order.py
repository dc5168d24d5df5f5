"""The order in which people are to judge trials, drawn at random for a check of a run, and what the judged ones say of all.

People stop when they like, and open what they like. So only the beginning of the order that is judged without a gap speaks for
the rest, with bounds that hold however it was decided to stop.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

import msgspec

from proctor.core.digest import digest
from proctor.core.run import Estimate
from proctor_audit.finite import FINITE, finite_bounds
from proctor_audit.inspector.inspecting import TrialLine


class JudgedFindings(msgspec.Struct, frozen=True, kw_only=True):
    """What people say of the trials in which a check found something.

    Attributes:
        judged: how many trials people agree on, and `contested` on how many they do not.
        changed: how many labels are of a trial or finding that is another now; they count nowhere.
        in_order: how many trials from the beginning of the order are judged or contested; `right` is of them.
        right: the share in which the event happened, None without one that people agree on. A contested trial may have been
            either, for the interval.
    """

    judged: int = 0
    contested: int = 0
    changed: int = 0
    in_order: int = 0
    right: Estimate | None = None

    @property
    def out_of_order(self) -> int:
        """Return how many trials are judged or contested, and count nowhere because an earlier one is not."""
        return self.judged + self.contested - self.in_order


def order_of_review(ids: Iterable[str], lines: Sequence[TrialLine], check: str) -> list[str]:
    """Return trials among the `lines` in an order that check and runs fix, and nothing that was found."""
    runs = sorted({line.run for line in lines})
    return sorted(ids, key=lambda trial: digest([runs, check, trial]))


def flags_of(lines: Sequence[TrialLine], check: str) -> Mapping[str, bool]:
    """Return of each trial whether a check found something; none of those in which it raised."""
    return {line.id: check in line.checks for line in lines if check not in line.faults}


def judge_findings(order: Sequence[str], said: Mapping[str, bool | None], changed: int = 0) -> JudgedFindings:
    """Return what the labels `said`, by trial, say of the trials in their order of review; None is a contested one."""
    known = {id: said[id] for id in order if id in said}
    first = [*takewhile(known.__contains__, order)]
    return JudgedFindings(
        judged=sum(happened is not None for happened in known.values()),
        contested=sum(happened is None for happened in known.values()),
        changed=changed,
        in_order=len(first),
        right=_share_right([known[id] for id in first], len(order)),
    )


def _share_right(said: Sequence[bool | None], size: int, level: float = 0.95) -> Estimate | None:
    right, wrong, contested = said.count(True), said.count(False), said.count(None)
    if not right + wrong:
        return None
    value = right / (right + wrong)
    low = finite_bounds(right, len(said), size, 1 - level).low
    high = finite_bounds(right + contested, len(said), size, 1 - level).high
    return Estimate(
        name="right",
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        method=FINITE,
        scored=right + wrong,
        planned=size,
        clusters=right + wrong,
        floor=right / size,
        ceiling=1 - wrong / size,
    )
