"""Bound a mean so that the bounds hold however it was decided when to stop.

If the mean is m, then E[w (x - m)] = 0 for a step's value x and weight w, so the wealth Π (1 + c w (x - m) / m), with values
from 0 to 1 and weights to at most 1, exceeds 1 / error with a chance of at most error at any step (Ville 1939). It is spread
over bets c from small ones to nearly all, and means that it refutes lie outside. The wealth depends on the values alone, not
on their order, as long as those that were seen are the beginning of a random one; so values are counted, not followed. A
cluster is one value, with its number of samples as its weight.

Source: Waudby-Smith and Ramdas 2024, arXiv 2010.09686.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from proctor.core.errors import BadInput
from proctor.stats.rate import Interval

ANYTIME = "betting, at any time"

BETS = (0.005, 0.015, 0.04, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95)  # of what would lose everything
STAKES: tuple[float, ...] = (0.04, 0.06, 0.1, 0.12, 0.12, 0.12, 0.11, 0.1, 0.08, 0.06, 0.05, 0.04)  # the wealth on each
_HALVINGS = 30
_ROUNDING = 1e-9
_DIGITS = 12

Step = tuple[float, float]
"""The value of a cluster, and how many samples it has."""


def bounds(
    steps: Iterable[Step], error: float, *, low: float = 0.0, high: float = 1.0, heaviest: float | None = None
) -> Interval:
    """Return the bounds of the mean over samples; each is wrong with a chance of at most `error`, at any time.

    Args:
        low, high: between which values lie.

        heaviest: the greatest weight that was planned; default is the greatest there is.

    >>> found = bounds([(1.0, 1)] * 90 + [(0.0, 1)] * 10, 0.025)
    >>> round(found.low, 3), round(found.high, 3)
    (0.783, 0.971)
    """
    counts = _counted(steps, low, high, heaviest)
    if not counts:
        return Interval(low=low, high=high)
    needed, span = math.log(1 / error), high - low
    return Interval(low=low + span * _refuted(counts, needed), high=high - span * _refuted(_mirrored(counts), needed))


def p_value(steps: Iterable[Step], mean: float = 0.0, *, low: float = -1.0, high: float = 1.0) -> float:
    """Return the two-sided p-value of a mean, which is right at any time.

    >>> round(p_value([(1.0, 1)] * 30 + [(0.0, 1)] * 60 + [(-1.0, 1)] * 10), 4)
    0.0322
    """
    counts = _counted(steps, low, high)
    centre = (mean - low) / (high - low)
    if not counts:
        return 1.0
    wealth = max(_wealth(counts, centre), _wealth(_mirrored(counts), 1 - centre))
    return min(1.0, 2 * math.exp(-wealth))


def _counted(steps: Iterable[Step], low: float, high: float, heaviest: float | None = None) -> Counter[Step]:
    """Count the steps by value, scaled to 0..1, and by weight, scaled so that the greatest is 1."""
    pairs = list(steps)
    heaviest = heaviest or max((weight for _, weight in pairs), default=1.0)
    for value, _ in pairs:
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            raise BadInput("A value lies between {low} and {high}; one is {value}.", low=low, high=high, value=value)
    return Counter((round((value - low) / (high - low), _DIGITS), weight / heaviest) for value, weight in pairs)


def _mirrored(counts: Mapping[Step, int]) -> dict[Step, int]:
    return {(1 - value, weight): count for (value, weight), count in counts.items()}


def _refuted(counts: Mapping[Step, int], needed: float) -> float:
    """Return the greatest mean for which a gambler on a greater one has won as much as is needed."""
    size = math.fsum(weight * count for (_, weight), count in counts.items())
    low, high = 0.0, math.fsum(value * weight * count for (value, weight), count in counts.items()) / size
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle > 0 and _wealth(counts, middle) >= needed:
            low = middle
        else:
            high = middle
    return low


def _wealth(counts: Mapping[Step, int], mean: float) -> float:
    """Return the logarithm of the mean wealth of those who bet that the true mean is greater."""
    if mean <= 0:
        return 0.0
    gains = [(weight * (value - mean) / mean, count) for (value, weight), count in counts.items()]
    logs = [math.fsum(count * math.log1p(bet * gain) for gain, count in gains) for bet in BETS]
    most = max(logs)
    return most + math.log(math.fsum(stake * math.exp(log - most) for log, stake in zip(logs, STAKES, strict=True)))
