"""Decide what a comparison of two runs found, so that one false finding in all its rows stays rare.

The first row, the main metric over the whole, is tested at the full level. Only if it shows a difference are the other
rows tested (slices, further scorers and their slices), corrected by Holm: a fixed sequence, in which the chance of any
false finding is at most 1 - level (Maurer, Hothorn and Lehmacher 1995). Rows with so few clusters that nothing could
ever be found are not tested and cost the others nothing (Tarone 1990). Each interval is at the level at which its row
was tested, so it leaves out 0 exactly when a difference is found.

Missing scores move either end of an interval as far as they could move the value, as they move the bounds of a gate, and the
p-value with it: what is missing is seldom a fair part of the whole, as a judge reads good answers better than bad ones.

Where several runs are compared, only their first rows are tested, corrected by Holm for all of them: to let those that
are found pass the full level on to their slices as well would let false findings add up.
"""

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.core.sentence import Sentence, say
from proctor.stats.distributions import normal_cdf
from proctor.stats.multiple import holm
from proctor.stats.paired import Decision, Difference, PairedSample, at_level, non_inferior
from proctor.stats.rate import two_sided_z

Outcome = Literal["better", "worse", "inconclusive"]


class MetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one slice: both means over the samples in common, and their paired difference (second - first).

    Attributes:
        difference: its interval is as wide as missing scores could make it.
        p_adjusted: Holm's for all rows but the first; None where the row was not tested.
        outcome: what the second run is, as far as that was shown.
        floor, ceiling: the difference if every missing attempt had gone against the second run, or for it.
        missing: samples of both runs in which an attempt has no score.
    """

    metric: str
    slice: str
    first: float
    second: float
    difference: Difference
    p_adjusted: float | None
    outcome: Outcome
    verdict: Sentence
    floor: float
    ceiling: float
    missing: int


class Untested(msgspec.Struct, frozen=True, kw_only=True):
    """A row before it is compared with others; its difference is that of what was scored.

    Attributes:
        old: the mean of the first run as earlier runs adjust it; None where it is that of the pairs.
        is_decided: the interval is that by which one of the runs was ended, and the verdict is that decision.
    """

    metric: str
    slice: str
    pairs: Sequence[PairedSample]
    difference: Difference
    floor: float
    ceiling: float
    missing: int
    old: float | None = None
    is_decided: bool = False

    def at(self, level: float) -> Difference:
        """Return the difference with its interval at a level, and as wide as missing scores could make it."""
        if self.is_decided:
            return self.difference
        difference = self.difference if level == self.difference.level else at_level(self.difference, self.pairs, level)
        if not self.missing or difference.low is None or difference.high is None:
            return difference
        below, above = max(difference.value - self.floor, 0.0), max(self.ceiling - difference.value, 0.0)
        return replace(difference, low=max(difference.low - below, -1.0), high=min(difference.high + above, 1.0))

    @property
    def p_value(self) -> float:
        """Return the p-value, and where scores are missing that of a difference nearer to 0 by what they could move it."""
        difference = self.difference
        if not self.missing or difference.low is None or difference.high is None or not difference.value:
            return difference.p_value
        is_better = difference.value > 0
        half = difference.value - difference.low if is_better else difference.high - difference.value
        left = self.floor if is_better else -self.ceiling
        if left <= 0 or half <= 0:
            return 1.0
        return max(difference.p_value, 2 * normal_cdf(-left / half * two_sided_z(difference.level)))


def decide(rows: Sequence[Untested], alpha: float) -> list[MetricRow]:
    """Test the rows, the first one before all others."""
    main = rows[0].p_value
    decided = [_row(rows[0], rows[0].at(1 - alpha), main, alpha)]
    testable = [row for row in rows[1:] if row.difference.p_least <= alpha]
    is_found = main <= alpha
    p_values = [row.p_value for row in testable]
    tested = dict(zip(map(id, testable), zip(holm(p_values), _levels(p_values, alpha), strict=True), strict=True))
    for row in rows[1:]:
        if id(row) not in tested:
            decided.append(_row(row, row.at(1 - alpha), None, alpha, say("too few samples")))
        elif is_found:
            p_adjusted, level = tested[id(row)]
            decided.append(_row(row, row.at(level), p_adjusted, alpha))
        else:
            decided.append(_row(row, row.at(1 - alpha), None, alpha, say("not tested")))
    return decided


def decide_each(comparisons: Sequence[Sequence[Untested]], alpha: float) -> list[list[MetricRow]]:
    """Test several comparisons: with more than one, the first row of each by Holm, and no others."""
    if len(comparisons) == 1:
        return [decide(comparisons[0], alpha)]
    mains = [rows[0] for rows in comparisons]
    testable = [row for row in mains if row.difference.p_least <= alpha]
    p_values = [row.p_value for row in testable]
    tested = dict(zip(map(id, testable), zip(holm(p_values), _levels(p_values, alpha), strict=True), strict=True))
    decided = []
    for main, *slices in comparisons:
        if id(main) in tested:
            p_adjusted, level = tested[id(main)]
            first = _row(main, main.at(level), p_adjusted, alpha)
        else:
            first = _row(main, main.at(1 - alpha), None, alpha, say("too few samples"))
        decided.append([first, *(_row(row, row.at(1 - alpha), None, alpha, say("not tested")) for row in slices)])
    return decided


def decide_in_order(rows: Sequence[Untested], alpha: float) -> list[MetricRow]:
    """Test each row at the full level until one shows nothing; those after it are not tested.

    The chance of any false finding is at most `alpha`, as the order does not depend on the data.
    """
    decided: list[MetricRow] = []
    goes_on = True
    for row in rows:
        if goes_on:
            decided.append(_row(row, row.at(1 - alpha), row.p_value, alpha))
            goes_on = row.p_value <= alpha
        else:
            decided.append(_row(row, row.at(1 - alpha), None, alpha, say("not tested")))
    return decided


def gate(main: MetricRow, margin: float) -> Decision:
    """Decide whether the second run may replace the first: with a margin, if it is no worse by more than that; else as the verdict says."""
    if margin:
        return non_inferior(main.difference, margin)
    return "no_go" if main.outcome == "worse" else "go" if main.outcome == "better" else "inconclusive"


def _levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level at which Holm's procedure tests each: stricter for smaller ones, and constant once it stops."""
    levels = [0.0] * len(p_values)
    left, stopped = len(p_values), False
    for index in sorted(range(len(p_values)), key=p_values.__getitem__):
        levels[index] = 1 - alpha / left
        stopped = stopped or p_values[index] > alpha / left
        left -= not stopped
    return levels


def _row(
    row: Untested, difference: Difference, p_adjusted: float | None, alpha: float, verdict: Sentence | None = None
) -> MetricRow:
    outcome: Outcome = "inconclusive"
    if verdict is None:
        outcome, verdict = _verdict(row, difference, p_adjusted is not None and p_adjusted <= alpha, alpha)
    first, second = (
        math.fsum(pair.weight * value for pair, value in zip(row.pairs, values, strict=True)) / len(row.pairs)
        for values in ([pair.second for pair in row.pairs], [pair.first for pair in row.pairs])
    )
    if row.old is not None:
        first, second = row.old, row.old + difference.value
    return MetricRow(
        metric=row.metric,
        slice=row.slice,
        first=first,
        second=second,
        difference=difference,
        p_adjusted=p_adjusted,
        outcome=outcome,
        verdict=verdict,
        floor=row.floor,
        ceiling=row.ceiling,
        missing=row.missing,
    )


def _verdict(row: Untested, shown: Difference, is_found: bool, alpha: float) -> tuple[Outcome, Sentence]:
    if (row.missing or row.is_decided) and shown.low is not None and shown.high is not None:
        is_found = (is_found or row.is_decided) and not shown.low <= 0 <= shown.high
    if is_found:
        is_better = row.difference.value > 0
        return ("better", say("the second is better")) if is_better else ("worse", say("the second is worse"))
    if row.missing and row.difference.p_value <= alpha:
        return "inconclusive", say("inconclusive: {count} samples are missing", count=row.missing)
    return "inconclusive", say("no significant difference")
