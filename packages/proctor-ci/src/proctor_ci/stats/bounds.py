"""Compute one-sided bounds for decisions: each is wrong with a chance of at most its error, on either side.

    one 0/1 attempt of independent samples     Clopper-Pearson, which is exact
    attempts, points, clusters, strata         Clopper-Pearson on an effective number of samples, with t
    points                                     the same, with the skewness of lognormal ones
    the same, but all clusters alike           Clopper-Pearson on Kish's number of clusters
    numbers of any size                        Student's t
    differences of pairs                       the two bounds of what was won and what was lost, combined
    one cluster                                none

The interval that a report shows is right on average, and near 0 and 1 errs more often on one side; a decision must not.
The effective number is value · (1 - value) / SE², times (z / t)² for few clusters, with the wider error of a jackknife. As
no number of alike values shows that rare ones do not exist, bounds of points and clusters lie no nearer to 1 and 0 than
clusters without a loss would put them: error^(1 / K) for Kish's number K of clusters. Clopper and Pearson ask what one loss
more would be; where clusters differ in size it may be a large one, heavier than the typical loss so far: by
(1 - value) / (K · SE²), at most G / K for G clusters, or by how much smaller than usual those are that lost.

A difference is what was won less what was lost, each a share with bounds of its own, and MOVER combines them: bounds about
the difference itself take the few losses of a sample for its spread, and called 8 to 10 % of too bad runs good at 5 %.

Source: Clopper and Pearson 1934; Korn and Graubard 1998 for the effective number; Zou and Donner 2008 for MOVER; Fay
and Feuer 1997 for the heavier loss.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from proctor.core.run import Estimate
from proctor.stats.distributions import beta_quantile, normal_quantile, t_quantile
from proctor.stats.estimate import WILSON, count_of_skewed, sizes_of
from proctor.stats.paired import PairedSample
from proctor.stats.rate import Interval

_LEAST_SAMPLES = 1e-6
_LEAST_DEGREES = 0.5
_SKEWNESS = 6.0  # as in `stats.estimate`, more of it, as a decision errs on one side
_ROUNDING = 1e-12


def one_sided(one: Estimate, error: float) -> Interval | None:
    """Return the lower and the upper bound of an estimate; None where its spread is not known.

    >>> found = one_sided(Estimate(name="accuracy", value=1.0, low=0.8, high=1.0, method="Wilson", clusters=20, standard_error=0.0), 0.05)
    >>> found is not None and round(found.low, 4), found.high
    (0.8609, 1.0)
    """
    if one.value is None or one.low is None or one.high is None or one.standard_error is None or one.clusters < 2:
        return None
    if one.low == one.high:  # all that it is about was measured
        return Interval(low=one.value, high=one.value)
    if one.unit == "number":
        half = _quantile(error, one.degrees) * one.standard_error
        return Interval(low=one.value - half, high=one.value + half)
    if one.method == WILSON:
        return exact(round(one.value * one.clusters), one.clusters, error)
    return effective(
        one.value, one.standard_error, one.degrees, one.clusters, error, sizes=sizes_of(one), partial=one.partial
    )


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What was won and what was lost over pairs, as means, with their standard errors and correlation.

    Attributes:
        exact: every pair is a cluster that won all, lost all or did not move, and counts once.
        degrees: of freedom; None where `exact`.
        won_size, lost_size: the mean size of a cluster over what was won, or lost, relative to that over all pairs.
        added: variance of the difference that is not in the spread of the pairs.
    """

    won: float
    lost: float
    won_error: float
    lost_error: float
    correlation: float
    pairs: int
    clusters: int
    exact: bool
    degrees: float | None
    won_size: float = 1.0
    lost_size: float = 1.0
    added: float = 0.0

    @property
    def value(self) -> float:
        return self.won - self.lost

    def bounds(self, error: float) -> Interval | None:
        """Return the lower and the upper bound of the difference; None for one cluster."""
        if self.clusters < 2:
            return None
        won = self._share(self.won, self.won_error, self.won_size, error)
        lost = self._share(self.lost, self.lost_error, self.lost_size, error)
        more = _quantile(error, self.degrees) * math.sqrt(self.added)
        below = math.hypot(self._reach(self.won - won.low, lost.high - self.lost), more)
        above = math.hypot(self._reach(won.high - self.won, self.lost - lost.low), more)
        return Interval(low=max(self.value - below, -1.0), high=min(self.value + above, 1.0))

    def _share(self, value: float, spread: float, size: float, error: float) -> Interval:
        if self.exact:
            return exact(round(value * self.pairs), self.pairs, error)
        others = (1 - value * size) / (1 - value) if value < 1 else 1.0
        return effective(value, spread, self.degrees, self.clusters, error, sizes=(others, size))

    def _reach(self, won: float, lost: float) -> float:
        return math.sqrt(max(won**2 + lost**2 - 2 * self.correlation * won * lost, 0.0))


def moved(pairs: Sequence[PairedSample], *, single: bool = True, added: float = 0.0) -> Moved:
    """Add up what was won and lost.

    Args:
        single: each value of a pair is one attempt.
        added: variance of the difference that is not in the spread of the pairs.
    """
    sums: dict[str, tuple[float, float, float]] = {}
    binary = single
    for pair in pairs:
        weight, won, lost = sums.get(pair.cluster, (0.0, 0.0, 0.0))
        change = pair.difference
        binary = binary and change in (-1, 0, 1) and pair.weight == 1 and not pair.shift
        up, down = pair.weight * max(change, 0.0), pair.weight * max(-change, 0.0)
        sums[pair.cluster] = (weight + pair.weight, won + up, lost + down)
    size = math.fsum(weight for weight, _, _ in sums.values())
    won = math.fsum(value for _, value, _ in sums.values()) / size
    lost = math.fsum(value for _, _, value in sums.values()) / size
    ups = [value - weight * won for weight, value, _ in sums.values()]
    downs = [value - weight * lost for weight, _, value in sums.values()]
    squares, crossed, others = _product(ups, ups), _product(ups, downs), _product(downs, downs)
    count = len(sums)
    scale = math.sqrt(count / (count - 1)) / size if count > 1 else 0.0
    is_exact = binary and count == len(pairs)
    squared = math.fsum(weight * weight for weight, _, _ in sums.values())
    won_size, lost_size = (
        math.fsum(row[0] * row[at] for row in sums.values()) / (mean * squared) if mean > _ROUNDING else 1.0
        for at, mean in ((1, won), (2, lost))
    )
    return Moved(
        won=won,
        lost=lost,
        won_error=scale * math.sqrt(squares),
        lost_error=scale * math.sqrt(others),
        correlation=crossed / math.sqrt(squares * others) if squares > _ROUNDING and others > _ROUNDING else 0.0,
        pairs=len(pairs),
        clusters=count,
        exact=is_exact,
        degrees=None if is_exact else max(size**2 / squared - 1, _LEAST_DEGREES),
        won_size=won_size,
        lost_size=lost_size,
        added=added,
    )


def _product(ones: Iterable[float], others: Iterable[float]) -> float:
    return math.fsum(value * other for value, other in zip(ones, others, strict=True))


def effective(
    value: float,
    spread: float,
    degrees: float | None,
    clusters: int,
    error: float,
    *,
    sizes: tuple[float, float] = (1.0, 1.0),
    partial: bool = False,
) -> Interval:
    """Return the bounds of a share with a standard error, on its effective number of samples.

    Args:
        sizes: the mean sizes of a cluster over what was lost, and over what was earned, relative to that over all samples.
        partial: the values may be points, which are more skewed than right and wrong.
    """
    alike = float(clusters) if degrees is None else min(degrees + 1, clusters)
    count, heavier = alike, (1.0, 1.0)
    if spread > _ROUNDING:
        count = value * (1 - value) / spread**2
        if degrees is not None:  # large clusters pull the mean towards themselves, so their residuals are too small
            count *= (degrees / (degrees + 1)) ** 2 * clusters / (clusters - 1)
            typical = (degrees + 1) * spread**2
            heavier = (
                _weigh((1 - value) / typical, clusters / (degrees + 1), sizes[0]),
                _weigh(value / typical, clusters / (degrees + 1), sizes[1]),
            )
        count *= (normal_quantile(1 - error) / _quantile(error, degrees)) ** 2
    lower = upper = max(count, _LEAST_SAMPLES)
    if partial and spread > _ROUNDING and 0 < value < 1:
        quantile = _quantile(error, degrees)
        lower, upper = (
            count_of_skewed(share, lower, alike, quantile, skewness=_SKEWNESS) for share in (1 - value, value)
        )
    surest = error ** (1 / alike)
    return Interval(
        low=min(1 - _at_most((1 - value) * lower, value * lower, error, heavier[0]), surest),
        high=max(_at_most(value * upper, (1 - value) * upper, error, heavier[1]), 1 - surest),
    )


def _weigh(whole: float, unequal: float, size: float) -> float:
    """Return how heavy one event more may be, relative to the typical one: at most a `whole` cluster of typical size."""
    return min(max(unequal, 1 / max(size, _ROUNDING), 1.0), max(whole, 1.0))


def _at_most(events: float, others: float, error: float, weight: float) -> float:
    """Return the upper bound of a rate of events, had there been one more: of this weight, the typical one's being 1.

    With a weight of 1 it is that of Clopper and Pearson. Where clusters differ in size, the one that did not happen to
    lose may be a large one, and few losses do not show it.
    """
    if others <= 0:
        return 1.0
    more = events + weight
    shape = more**2 / (events + weight**2)
    return beta_quantile(1 - error, shape, others * shape / more)


def exact(successes: float, count: float, error: float) -> Interval:
    """Return the bounds of a rate; the numbers need not be whole."""
    failures = count - successes
    return Interval(
        low=beta_quantile(error, successes, failures + 1) if successes > 0 else 0.0,
        high=beta_quantile(1 - error, successes + 1, failures) if failures > 0 else 1.0,
    )


def _quantile(error: float, degrees: float | None) -> float:
    return normal_quantile(1 - error) if degrees is None else t_quantile(1 - error, degrees)
