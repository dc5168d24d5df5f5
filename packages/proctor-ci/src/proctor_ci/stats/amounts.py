"""Bound a mean of amounts, or a ratio of two, that are skewed: seconds, money, tokens.

A few long trials make such a mean, and the samples may hold none of them. No spread shows what was not seen, so Student's
bound calls too slow agents fast: in 34 % of ten lognormal samples (sigma 1.5), and in 80 % where one in fifty takes 60 times
as long, where it says 5 %. Here one more cluster is counted, which was not seen and took the most that one can:

    bound = the quantile of Σ g_c t_c / Σ g_c n_c     g_c independent, exponential; clusters c of n_c samples that took t_c

For samples that each take 0 or the most it is the bound of Clopper and Pearson. No distribution is known for which it errs
more often than it says, however few the samples (conjectured, and proved in part); in the simulations of `bench/amounts.py` it
erred in at most 5 %. Without a greatest amount there is no upper bound of a mean, for any number of samples.

A ratio r of two means is refuted where Σ g_c (new_c - r · old_c) is: pairs keep their correlation.

The distribution of the sum is that of the saddlepoint, to about 0.001.

Source: Bahadur and Savage 1956 (no bound without a greatest amount); Learned-Miller and Thomas 2019, arXiv 1905.06208, and
Phan, Thomas and Learned-Miller 2021, arXiv 2106.03163 (the bound); Lugannani and Rice 1980 (the saddlepoint).
"""

import math
from collections.abc import Sequence
from operator import mul

import msgspec

from proctor.stats.distributions import normal_cdf, normal_quantile
from proctor.stats.rate import Interval

_STEPS = 60
_CLOSE = 1e-6
_CENTRAL = 0.01  # saddlepoints, in standard errors, nearer than which their formula is 0 by 0
_ALMOST_SURE = 1e-12  # beyond which the quantile of a chance is of no use


class AmountStep(msgspec.Struct, frozen=True):
    """What a cluster counts above and below the line: its total and its size, or its totals in two runs."""

    over: float
    under: float


def bounds(
    steps: Sequence[AmountStep], error: float, *, least: AmountStep | None, most: AmountStep | None
) -> Interval | None:
    """Return the bounds of Σ over / Σ under, each wrong with a chance of at most `error`; None for one cluster.

    Args:
        least, most: what a cluster that was not seen may be, for the lower and the upper bound; without it that bound is 0,
            or infinite.

    >>> found = bounds([AmountStep(0.0, 1.0)] * 20, 0.05, least=AmountStep(0.0, 1.0), most=AmountStep(60.0, 1.0))
    >>> found is not None and round(found.low, 2), round(found.high, 1)
    (0.0, 8.4)
    """
    if len(steps) < 2 or math.fsum(step.under for step in steps) <= 0:
        return None
    return Interval(
        low=0.0 if least is None else _bound([*steps, least], error),
        high=math.inf if most is None else _bound([*steps, most], 1 - error),
    )


def seen_bounds(steps: Sequence[AmountStep], error: float) -> Interval | None:
    """Return the bounds as if nothing could be but what was seen; None for one cluster."""
    if len(steps) < 2 or math.fsum(step.under for step in steps) <= 0:
        return None
    return Interval(low=_bound(steps, error), high=_bound(steps, 1 - error))


def _bound(steps: Sequence[AmountStep], chance: float) -> float:
    """Return the ratio that a weighted one does not exceed with this chance (false position, Illinois)."""

    def beyond(ratio: float) -> float:
        value = chance_below([step.over - ratio * step.under for step in steps])
        return normal_quantile(min(max(value, _ALMOST_SURE), 1 - _ALMOST_SURE)) - normal_quantile(chance)

    low, high = 0.0, math.fsum(step.over for step in steps) / math.fsum(step.under for step in steps)
    below, above = beyond(low), beyond(high)
    if below >= 0:
        return low
    while above < 0:
        low, below, high = high, above, 2 * high
        above = beyond(high)
    for _ in range(_STEPS):
        ratio = (low * above - high * below) / (above - below)
        value = beyond(ratio)
        if value >= 0:
            high, above, below = ratio, value, below / 2
        else:
            low, below, above = ratio, value, above / 2
        if high - low <= _CLOSE * high or abs(value) <= _CLOSE:
            return ratio
    return high if chance > 0.5 else low


def chance_below(weights: Sequence[float]) -> float:
    """Return the chance that Σ g · weight is at most 0, for independent exponential g.

    >>> round(chance_below([3.0, -1.0]), 2)  # exactly 1/4
    0.25
    """
    least, most = min(weights), max(weights)
    if least >= 0 or most <= 0:
        return float(most <= 0)
    low, high, at = 1 / least, 1 / most, 0.0
    for _ in range(_STEPS):  # where the derivative of the cumulants is 0
        parts = [weight / (1 - at * weight) for weight in weights]
        slope, curve = sum(parts), float(sum(map(mul, parts, parts)))
        if abs(slope) <= _CLOSE * math.sqrt(curve):
            break
        low, high = (low, at) if slope > 0 else (at, high)
        moved = at - slope / curve
        at = moved if low < moved < high else (low + high) / 2
    parts = [weight / (1 - at * weight) for weight in weights]
    curve = float(sum(map(mul, parts, parts)))
    scaled = at * math.sqrt(curve)
    if abs(scaled) < _CENTRAL:
        skew = 2 * math.fsum(part * part * part for part in parts) / (curve * math.sqrt(curve))
        return 0.5 + (scaled + skew / 6) / math.sqrt(2 * math.pi)
    root = math.copysign(math.sqrt(max(2 * sum(map(math.log, [1 - at * weight for weight in weights])), 0.0)), at)
    density = math.exp(-root * root / 2) / math.sqrt(2 * math.pi)
    return min(max(normal_cdf(root) + density * (1 / root - 1 / scaled), 0.0), 1.0)
