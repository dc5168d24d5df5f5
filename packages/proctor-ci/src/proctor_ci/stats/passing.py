"""Compute the chance that a run with this number of samples and attempts passes a threshold; see `proctor.stats.planning`."""

import math

from proctor.stats.distributions import (
    beta_cdf,
    normal_quantile,
    t_quantile,
)
from proctor.stats.planning import Spread


def power_to_pass(
    samples: int, attempts: int, spread: Spread, threshold: float, value: float, *, error: float = 0.05
) -> float:
    """Return the chance that the lower bound reaches a threshold if this is the true value, which is above it.

    >>> round(power_to_pass(93, 1, Spread(between=0.09, within=0), 0.8, 0.9), 2)
    0.78
    """
    clusters = samples * min(spread.clusters, 1.0)
    if error ** (1 / clusters) < threshold or clusters < 2:  # not even if all pass
        return 0.0
    count = float(samples)
    if not spread.is_exact(attempts):
        degrees = max(clusters - 1, 0.5)
        count = value * (1 - value) * samples / max(spread.total(attempts), 1e-12)
        count *= degrees / (degrees + 1) * (normal_quantile(1 - error) / t_quantile(1 - error, degrees)) ** 2
    successes = _critical(count, threshold, error)
    if spread.is_exact(attempts):
        successes = math.ceil(successes - 1e-9)
    return beta_cdf(value, successes, count - successes + 1) if successes <= count else 0.0


def _critical(count: float, threshold: float, error: float) -> float:
    """Return the number of successes whose lower bound is the threshold."""
    low, high = count * threshold, count
    if beta_cdf(threshold, high, 1) > error:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_cdf(threshold, middle, count - middle + 1) > error else (low, middle)
    return high
