"""Compute the interval of a ratio of two independent estimates, from their own intervals.

Source: Donner and Zou 2012, "Closed-form confidence intervals for functions of the normal mean and standard deviation"
(MOVER-R), here with the roots rationalised, so that no denominator vanishes; as Fagerland and Newcombe 2013 use it for
proportions with Wilson's limits.
"""

import math

from proctor.core.run import Estimate
from proctor.stats.rate import Interval


def ratio(over: Estimate, under: Estimate) -> Interval | None:
    """Return the interval of over / under; None where either has no interval, or `under` may be 0.

    >>> over, under = (Estimate(name="", value=value, low=value - 0.1, high=value + 0.1) for value in (0.4, 0.5))
    >>> interval = ratio(over, under)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.5698, 1.0969)
    """
    if over.value is None or over.low is None or over.high is None:
        return None
    if under.value is None or under.low is None or under.high is None or under.low <= 0:
        return None
    product = over.value * under.value
    low_part = over.low * (2 * over.value - over.low)
    high_part = over.high * (2 * over.value - over.high)
    below = under.low * (2 * under.value - under.low)
    above = under.high * (2 * under.value - under.high)
    low = low_part / (product + _root(product**2 - low_part * above)) if low_part > 0 else 0.0
    high = (product + _root(product**2 - high_part * below)) / below
    return Interval(low=min(low, over.value / under.value), high=max(high, over.value / under.value))


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))
