"""Bound a share of a finite set by items that are drawn from it one after another, however it was decided when to stop.

The items are the beginning of a random order of the set, so that none is drawn twice: once all are known, so is the share.
The chance that the bounds ever leave out the share, at any count of draws, is at most `error`.

For points between nothing and all there is `stats.anytime`.

Source: the prior-posterior ratio for sampling without replacement, with a uniform prior over the counts, Waudby-Smith and
Ramdas 2020, arXiv 2006.04347.
"""

import math
from collections.abc import Callable

from proctor.core.errors import BadInput
from proctor.stats.rate import Interval

FINITE = "finite set, at any time"
_ROUNDING = 1e-9


def finite_bounds(hits: int, draws: int, size: int, error: float = 0.05) -> Interval:
    """Return the bounds of the share of hits in a set of `size`, of which `draws` are known.

    Raises:
        BadInput: the counts do not fit each other, or the set is empty.

    >>> finite_bounds(1, 2, 8)
    Interval(low=0.125, high=0.875)
    >>> finite_bounds(6, 8, 8)
    Interval(low=0.75, high=0.75)
    """
    if not 0 <= hits <= draws <= size or size < 1:
        raise BadInput(
            "{hits} hits of {draws} draws from {size} items: a count does not fit the others.",
            hits=hits,
            draws=draws,
            size=size,
        )
    mixed = -math.log(draws + 1) - _log_choose(draws, hits)  # the likelihood, averaged over the prior

    def is_possible(count: int) -> bool:
        likelihood = _log_choose(size - draws, count - hits) - _log_choose(size, count)
        return likelihood > mixed + math.log(error) - _ROUNDING

    least, most = hits, size - (draws - hits)
    likeliest = min(max(hits * (size + 1) // max(draws, 1), least), most)
    low = _first_of(is_possible, least, likeliest)
    high = -_first_of(lambda count: is_possible(-count), -most, -likeliest)
    return Interval(low=low / size, high=high / size)


def _first_of(is_possible: Callable[[int], bool], low: int, high: int) -> int:
    """Return the lowest possible count, where all from there to `high` are; the likelihood has one peak."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_possible(middle) else (middle + 1, high)
    return low


def _log_choose(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)
