"""Compute the error that each of several looks may make, so that all together make no more than may be spent.

A look passes if the sum so far is beyond a boundary; the boundary is put where the chance of passing for the first time is
what may be spent by then, less what was spent before. Its error is the chance of being beyond it at that look alone.

Source: Lan and DeMets 1983; Armitage, McPherson and Rowe 1969 for the recursion.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from proctor.stats.distributions import normal_cdf

_CELL = 0.04  # of a standard deviation of the sum at the end
_CELLS = 125  # to each side of 0
_ABOVE = 0.01  # of the next count's chance, so that rounding moves no boundary


def of_normal_sum(times: Sequence[float], spent: Sequence[float]) -> Iterator[float]:
    """Yield the errors of looks at a normal sum.

    Args:
        times: the variance of the sum at each look, ending with 1.
        spent: how much may be spent by each look.

    >>> [round(one, 4) for one in of_normal_sum([0.5, 1.0], [0.01, 0.05])]
    [0.01, 0.046]
    """
    chance_by_cell = {0: 1.0}
    gone = before = 0.0
    for time, most in zip(times, spent, strict=True):
        root = math.sqrt(time - before)
        ends = [normal_cdf((number - 0.5) * _CELL / root) for number in range(-2 * _CELLS, 2 * _CELLS + 2)]
        steps = [high - low for low, high in pairwise(ends)]
        chance_by_cell = {
            to: math.fsum(chance * steps[to - cell + 2 * _CELLS] for cell, chance in chance_by_cell.items())
            for to in range(-_CELLS, _CELLS + 1)
        }
        cell = _CELLS
        while gone + chance_by_cell[cell] < most:
            gone += chance_by_cell.pop(cell)
            cell -= 1
        part = (most - gone) / chance_by_cell[cell]
        chance_by_cell[cell] *= 1 - part
        gone, before = most, time
        yield normal_cdf(-(cell + 0.5 - part) * _CELL / math.sqrt(time))


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
