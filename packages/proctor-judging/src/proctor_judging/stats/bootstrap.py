"""Compute the uncertainty of a statistic of items by resampling the items (bootstrap) or leaving them out (jackknife).

An item carries all that belongs together: the ratings of one problem, the battles of one prompt. A statistic is a function
of how often each different item counts, `{item: times}`, and gives None where it is undefined; items that are equal are
evaluated once, so that a thousand resamples of a thousand items take a second or two.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import msgspec

from proctor.stats.rate import Interval, checked_level

T = TypeVar("T", bound=Hashable)
Statistic = Callable[[Mapping[T, int]], float | None]

RESAMPLES = 1_000
_GROUPS = 200  # to leave out one after the other, where there are more different items than that


class Jackknife(msgspec.Struct, frozen=True, kw_only=True):
    """A standard error with its degrees of freedom; `undefined` counts what had no value without one of the items."""

    standard_error: float
    degrees: int
    undefined: int


def draws(items: Sequence[T], *, resamples: int = RESAMPLES, seed: int = 0) -> list[Counter[T]]:
    """Yield resamples of the same size, drawn with replacement; the same seed draws the same.

    >>> [drawn.total() for drawn in draws("abc", resamples=2)]
    [3, 3]
    """
    source = random.Random(seed)  # noqa: S311 - an interval must be the same again
    return [Counter(source.choices(items, k=len(items))) for _ in range(resamples)]


def percentiles(values: Sequence[float], level: float = 0.95) -> Interval:
    """Return the ends of the middle part of the values, with linear interpolation.

    >>> percentiles([5, 1, 2, 3, 4], level=0.5)
    Interval(low=2.0, high=4.0)
    """
    ascending = sorted(values)
    tail = (1 - checked_level(level)) / 2
    return Interval(low=_quantile(ascending, tail), high=_quantile(ascending, 1 - tail))


def jackknife(
    statistic: Statistic[T], items: Sequence[T], *, clusters: Sequence[str] = (), seed: int = 0
) -> Jackknife | None:
    """Compute the standard error from leaving out each item; None with fewer than two items, or where nothing has a value.

    Beyond 200 different items they are dealt at random into 200 groups, and the groups are left out. Items of the same
    cluster are left out together.
    """
    if len(items) < 2 or (clusters and len({*clusters}) < 2):
        return None
    times = Counter(items)
    if clusters:
        of_cluster: dict[str, Counter[T]] = {}
        for item, name in zip(items, clusters, strict=True):
            of_cluster.setdefault(name, Counter())[item] += 1
        groups = [(one, 1) for one in of_cluster.values()]
    elif len(times) <= _GROUPS:
        groups = [(Counter({item: 1}), count) for item, count in times.items()]
    else:
        groups = [(counter, 1) for counter in _dealt(items, seed)]
    count = sum(equal for _, equal in groups)
    left = [(statistic(times - group), equal) for group, equal in groups]
    values = [(value, equal) for value, equal in left if value is not None]
    defined = sum(equal for _, equal in values)
    if not defined:
        return None
    mean = math.fsum(value * equal for value, equal in values) / defined
    squares = math.fsum(equal * (value - mean) ** 2 for value, equal in values)
    return Jackknife(
        standard_error=math.sqrt((count - 1) / count * squares), degrees=count - 1, undefined=count - defined
    )


def _dealt(items: Sequence[T], seed: int) -> list[Counter[T]]:
    dealt = list(items)
    random.Random(seed).shuffle(dealt)  # noqa: S311 - an error must be the same again
    return [Counter(dealt[start::_GROUPS]) for start in range(_GROUPS)]


def _quantile(ascending: Sequence[float], share: float) -> float:
    position = share * (len(ascending) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (ascending[above] - ascending[below]) * (position - below)
