"""Bet against what a mean might be: whoever bets against the truth hardly grows rich, however often one looks.

The bets are those of `proctor.stats.anytime`, followed step by step. An interval is what was not refuted, and holds at all
steps together. In a suite of N steps, what the rest has to be is known for each mean, and the bet is against that.

Source: Waudby-Smith and Ramdas 2024, arXiv 2010.09686; without replacement: arXiv 2006.04347.
"""

import math

from proctor.stats.anytime import BETS, STAKES

_GRID = 256  # means that are bet against; the ends of an interval are some of them
_ROUNDING = 1e-9


class ConfidenceSequence:
    """What gamblers have not refuted of a mean of values from 0 to 1.

    Attributes:
        low, high: the ends of the interval.
        above, below: True if the mean is shown to lie above, or below, the limit.
    """

    def __init__(self, limit: float, error: float, *, size: int | None) -> None:
        self.low, self.high = 0.0, 1.0
        self.above = self.below = False
        self._limit, self._size, self._needed = limit, size, 1 / error
        means = sorted({limit, *(at / _GRID for at in range(1, _GRID))})
        self._rising = [(mean, STAKES) for mean in means]
        self._falling = list(self._rising)
        self._steps = 0
        self._weight = self._total = 0.0

    def add(self, value: float, weight: float) -> None:
        """Take the next step."""
        left = math.inf if self._size is None else self._size - self._steps
        rising, falling = [], []
        for mean, before in self._rising:
            expected = (mean * self._weight - self._total) / left  # of weight * (value - mean)
            wealth = bet(before, weight * (value - mean) - expected, mean + expected)
            if math.fsum(wealth) >= self._needed:
                self.low = max(self.low, mean)
                self.above = self.above or mean == self._limit
            elif mean < self.high:
                rising.append((mean, wealth))
        for mean, before in self._falling:
            expected = (mean * self._weight - self._total) / left
            wealth = bet(before, expected - weight * (value - mean), 1 - mean - expected)
            if math.fsum(wealth) >= self._needed:
                self.high = min(self.high, mean)
                self.below = self.below or mean == self._limit
            elif mean > self.low:
                falling.append((mean, wealth))
        self._rising, self._falling = rising, falling
        self._steps += 1
        self._weight += weight
        self._total += weight * value
        if self._size is not None:
            whole = self._weight + self._size - self._steps  # were the weight of all that is left the greatest
            self.low = max(self.low, self._total / whole)
            self.high = min(self.high, (self._total + whole - self._weight) / whole)
            self.above = self.above or self.low > self._limit + _ROUNDING
            self.below = self.below or self.high < self._limit - _ROUNDING


def bet(wealth: tuple[float, ...], gain: float, worst: float) -> tuple[float, ...]:
    """Return the wealth of each bet after a gain, of which the least possible was -worst."""
    if worst <= _ROUNDING:  # the mean cannot be
        return (math.inf,) if gain > _ROUNDING or worst < -_ROUNDING else wealth
    share = gain / worst
    return tuple([value * (1 + part * share) for value, part in zip(wealth, BETS, strict=True)])
