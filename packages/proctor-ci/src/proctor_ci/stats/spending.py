"""Compute the error that each of several looks may make, so that all together make no more than may be spent.

A look passes if the sum so far is beyond a boundary; the boundary is put where the chance of passing for the first time is
what may be spent by then, less what was spent before. Its error is the chance of being beyond it at that look alone.

Source: Lan and DeMets 1983; Armitage, McPherson and Rowe 1969 for the recursion.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import mul

from proctor.stats.distributions import normal_cdf

_CELL = 0.04  # of a standard deviation of the sum at the end
_CELLS = 125  # to each side of 0
_FAR = 8.0  # standard deviations, beyond which a step does not reach
_ABOVE = 0.01  # of the next count's chance, so that rounding moves no boundary


class NormalSpending:
    """Spends at looks at a normal sum, whose times may depend on what was seen of its variance.

    >>> spending = NormalSpending()
    >>> round(spending.error(0.5, 0.01), 4), round(spending.error(1.0, 0.05), 4)
    (0.01, 0.046)
    """

    def __init__(self) -> None:
        self._chances = [0.0] * _CELLS + [1.0] + [0.0] * _CELLS  # of the sum in each cell, without what has passed
        self._gone = self._before = 0.0

    def error(self, time: float, most: float) -> float:
        """Return the error of a look at a later time.

        Args:
            time: the variance of the sum, which ends at 1.
            most: how much may be spent by then.
        """
        root = math.sqrt(time - self._before)
        reach = min(math.ceil(_FAR * root / _CELL), 2 * _CELLS)
        ends = [normal_cdf((number - 0.5) * _CELL / root) for number in range(-reach, reach + 2)]
        steps = [high - low for low, high in pairwise(ends)]
        around = [0.0] * reach + self._chances + [0.0] * reach
        chances = [sum(map(mul, around[cell : cell + len(steps)], steps)) for cell in range(2 * _CELLS + 1)]
        highest = 2 * _CELLS
        while self._gone + chances[highest] < most:
            self._gone += chances[highest]
            chances[highest] = 0.0
            highest -= 1
        part = (most - self._gone) / chances[highest]
        chances[highest] *= 1 - part
        self._chances, self._gone, self._before = chances, most, time
        return normal_cdf(-(highest - _CELLS + 0.5 - part) * _CELL / math.sqrt(time))


def of_normal_sum(times: Sequence[float], spent: Sequence[float]) -> Iterator[float]:
    """Yield the errors of looks at a normal sum, whose times are known before."""
    spending = NormalSpending()
    for time, most in zip(times, spent, strict=True):
        yield spending.error(time, most)


def of_count(steps: Sequence[int], spent: Sequence[float], rate: float) -> Iterator[float]:
    """Yield the errors of looks at a count of successes after each number of steps, exactly; what one cannot spend is left for the next.

    >>> [round(one, 4) for one in of_count([5, 10], [0.01, 0.05], 0.5)]
    [0.0003, 0.0112]
    """
    waiting, all_paths = [1.0], [1.0]  # chances of counts: of paths that have not passed, and of all
    gone, done = 0.0, 0
    for until, most in zip(steps, spent, strict=True):
        for _ in range(until - done):
            waiting, all_paths = (
                [stay * (1 - rate) + rise * rate for stay, rise in zip([*chances, 0.0], [0.0, *chances], strict=True)]
                for chances in (waiting, all_paths)
            )
        done = until
        least = done + 1
        while least and gone + waiting[least - 1] <= most:
            least -= 1
            gone += waiting[least]
            waiting[least] = 0.0
        yield math.fsum(all_paths[least:]) + (_ABOVE * all_paths[least - 1] if least else 0.0)
