"""Summarise a number over many trials, such as their times: quantiles, and counts in bins that a plot shows."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean, quantiles

import msgspec

from proctor.stats.distributions import beta_quantile

MOST_BINS = 40
SKEWED = 50.0  # from this ratio of the largest to the smallest value on, bins grow with the value
MOST_TICKS = 6


Ends = tuple[float | None, float | None]


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """The quantiles of some values, and how many of them are between neighbouring `edges`.

    `median_ends` and `p95_ends` are their 95 % intervals by ranks; an end that the values do not show is None. The edges are at equal distances, or at equal ratios if `is_logarithmic`. All values alike have no bins.
    """

    count: int
    mean: float
    lowest: float
    median: float
    p95: float
    highest: float
    median_ends: Ends = (None, None)
    p95_ends: Ends = (None, None)
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    is_logarithmic: bool = False

    def share(self, value: float) -> float:
        """Return where a value is on the axis: 0 is the left end, 1 the right one.

        >>> summarise([1.0, 2.0, 5.0]).share(2.0)
        0.25
        """
        low, high = self.edges[0], self.edges[-1]
        if self.is_logarithmic:
            value, low, high = math.log(value), math.log(low), math.log(high)
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Return a few round values within the bins.

        >>> summarise([0.2, 1.0, 4.1]).ticks(), summarise([1.0, 8.0, 300.0]).ticks()
        ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0, 100.0])
        """
        low, high = self.edges[0], self.edges[-1]
        ticks = list(_round_values(low, high) if self.is_logarithmic else _multiples(low, high))
        return ticks[:: math.ceil(len(ticks) / MOST_TICKS)] if ticks else []


def summarise(values: Sequence[float], independent: int | None = None) -> Distribution | None:
    """Summarise values; None where there are none.

    Args:
        independent: as how many independent values they count, for the intervals of quantiles; by default all.

    >>> summarise([2.0, 4.0, 4.0, 6.0]).median, summarise([3.0, 3.0]).counts, summarise([])
    (4.0, (), None)
    >>> found = summarise([float(n) for n in range(1, 101)])
    >>> found.median_ends, found.p95_ends
    ((39.0, 62.0), (88.0, 100.0))
    """
    if not values:
        return None
    lowest, highest = min(values), max(values)
    cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else [values[0]] * 19
    distribution = Distribution(
        count=len(values),
        mean=fmean(values),
        lowest=lowest,
        median=cuts[9],
        p95=cuts[18],
        highest=highest,
    )
    if lowest == highest or not math.isfinite(highest - lowest):
        return distribution
    ends = [_ends(values, share, independent) for share in (0.5, 0.95)]
    bins = min(MOST_BINS, max(4, math.ceil(2 * len(values) ** (1 / 3))))  # the rule of Rice
    is_logarithmic = lowest > 0 and highest / lowest >= SKEWED
    edges = tuple(_edges(lowest, highest, bins, is_logarithmic=is_logarithmic))
    counts = Counter(min(bisect_right(edges, value), bins) for value in values)
    return msgspec.structs.replace(
        distribution,
        median_ends=ends[0],
        p95_ends=ends[1],
        edges=edges,
        is_logarithmic=is_logarithmic,
        counts=tuple(counts[at] for at in range(1, bins + 1)),
    )


def _ends(values: Sequence[float], share: float, independent: int | None) -> Ends:
    effective = len(values) if independent is None else min(independent, len(values))
    if effective < 2:
        return None, None
    in_order = sorted(values)
    low, high = (None if at is None else in_order[at] for at in ranks(share, len(values), effective, 0.025))
    return low, high


def _edges(low: float, high: float, bins: int, *, is_logarithmic: bool) -> Iterator[float]:
    yield low
    for number in range(1, bins):
        yield low * (high / low) ** (number / bins) if is_logarithmic else low + (high - low) * number / bins
    yield high


def _multiples(low: float, high: float) -> Iterator[float]:
    rough = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield float(f"{number * step:.12g}")


def _round_values(low: float, high: float) -> Iterator[float]:
    factors = (1.0,) if high / low >= 100 else (1.0, 2.0, 5.0)
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for factor in factors:
            if low <= (value := float(f"{factor * 10.0**power:.12g}")) <= high:
                yield value


def ranks(share: float, count: int, effective: float, error: float) -> tuple[int | None, int | None]:
    """Return the positions, among `count` ascending values, of a lower and an upper bound of a quantile; None where there is none.

    Args:
        share: of the values that lie at or below the quantile.
        effective: as how many independent values they count.
    """
    low = beta_quantile(error, share * effective, (1 - share) * effective + 1)
    high = beta_quantile(1 - error, share * effective + 1, (1 - share) * effective)
    below, above = math.floor(low * count) - 1, math.ceil(high * count)
    none_above = share**effective > error
    none_below = (1 - share) ** effective > error
    return (None if none_below or below < 0 else below), (None if none_above or above >= count else above)
