"""Compute the chance that a run with this number of samples and attempts decides, before it is made.

A difference is tested as `stats.paired` does: single 0/1 attempts of independent samples by McNemar's exact test, all else by
t over clusters. A threshold is decided as a gate does, by one-sided bounds: exact for single 0/1 attempts, else on
an effective number of samples. By simulation (`bench/planning.py`) the power is within 6 points of what is computed here.

Source: Miller 2024, arXiv 2411.00640 for the variance of K attempts; Fleiss 1981 for the exactness of McNemar's test.
"""

import math
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from proctor.stats.distributions import (
    chi_squared_quantile,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

MOST_SAMPLES = 10_000_000
_TEETH = 40
_FEWER = 3  # clusters less than t would make of it: p is the larger of that of t and of sign flips


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """The variance of the value of a sample, or of its difference between two agents.

    Attributes:
        between: of its expected value, clusters included.
        within: of one attempt, of all runs that are to be made together.
        fixed: what the attempts of a run that exists leave in its mean.
        clusters: how many clusters there are to a sample, in effect.
        is_binary: one attempt is right or wrong, so a difference of two is 0, 1 or -1.
    """

    between: float
    within: float
    fixed: float = 0.0
    clusters: float = 1.0
    is_binary: bool = True

    def total(self, attempts: int) -> float:
        """Return the variance with as many attempts."""
        return self.between + self.fixed + self.within / attempts

    def scaled(self, factor: float) -> "Spread":
        """Return it with variances as many times as large."""
        return replace(self, between=self.between * factor, within=self.within * factor, fixed=self.fixed * factor)

    def is_exact(self, attempts: int) -> bool:
        """True if exact tests and bounds apply."""
        return self.is_binary and attempts == 1 and self.clusters >= 1


def power_to_compare(samples: int, attempts: int, spread: Spread, difference: float, *, alpha: float = 0.05) -> float:
    """Return the chance that two runs with this true difference are found to differ, in its direction.

    >>> round(power_to_compare(175, 1, Spread(between=0.19, within=0), 0.1), 2)
    0.83
    """
    if spread.is_exact(attempts):
        moved = min(max(spread.total(1) + difference**2, difference), 1.0)  # as many at least as are won on balance
        exact = (math.sqrt(samples) - 1 / (2 * difference * math.sqrt(samples))) ** 2
        if samples * 2 * difference <= 1 or samples * moved < 1 - math.log2(alpha):
            return 0.0
        rest = math.sqrt(max(moved - difference**2, 1e-12))
        return normal_cdf((difference * math.sqrt(exact) - normal_quantile(1 - alpha / 2) * math.sqrt(moved)) / rest)
    clusters = samples * min(spread.clusters, 1.0)
    if clusters < max(1 - math.log2(alpha), _FEWER + 1):  # sign flips of fewer can show nothing
        return 0.0
    error = math.sqrt(max(spread.total(attempts), 1e-12) / samples / (1 - _FEWER / clusters))
    return t_cdf(min(difference / error, 1e6) - t_quantile(1 - alpha / 2, clusters - 1), clusters - 1)


def least_samples(power_of: Callable[[int], float], power: float, *, most: int = MOST_SAMPLES) -> int | None:
    """Return the fewest samples with that power; None if `most` are too few."""
    high = 2
    while power_of(high) < power:
        if high >= most:
            return None
        high = min(2 * high, most)
    low = max(high // 2, 1)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    near = range(max(high - _TEETH, 2), high)  # the power of an exact bound goes up and down like a saw
    return next((count for count in near if power_of(count) >= power), high)


def variance_factors(degrees: float, level: float = 0.95) -> tuple[float, float]:
    """Return by which factors a variance with these degrees of freedom may be lower and higher than it was seen."""
    degrees = max(degrees, 1.0)
    low, high = (degrees / chi_squared_quantile(0.5 + side * level / 2, degrees) for side in (1, -1))
    return low, high
