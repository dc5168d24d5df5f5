"""Compute intervals of a rate over independent samples."""

import math

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.distributions import normal_quantile

_LEAST = 1e-9  # effective samples, below which the interval is all there is


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A closed interval."""

    low: float
    high: float


def wilson(rate: float, count: float, level: float = 0.95, *, quantile: float | None = None) -> Interval:
    """Return Wilson's score interval; for small counts it keeps its coverage, unlike the normal one.

    Args:
        count: above 0; it need not be whole, and is then an effective number of samples.
        quantile: how many standard errors the interval reaches, such as that of Student's t; by default the normal
            one of the level.

    >>> interval = wilson(18 / 20, 20)
    >>> round(interval.low, 6), round(interval.high, 6)
    (0.698966, 0.972134)

    Source: Wilson 1927; the choice for evaluations is that of arXiv 2503.01747.
    """
    z = two_sided_z(level) if quantile is None else quantile
    count = max(count, _LEAST)
    scale = 1 + z * z / count
    centre = (rate + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(max(rate * (1 - rate), 0.0) / count + z * z / (4 * count * count))
    return Interval(low=min(max(centre - half, 0.0), rate), high=max(min(centre + half, 1.0), rate))


def two_sided_z(level: float) -> float:
    """Return how many standard errors an interval of that level reaches to each side."""
    return normal_quantile(0.5 + checked_level(level) / 2)


def checked_level(level: float) -> float:
    """Return the level unchanged, if it is one.

    Raises:
        BadInput: it does not lie between 0 and 1.
    """
    if not 0 < level < 1:
        raise BadInput("The level of an interval lies between 0 and 1, for example 0.95; it is {level}.", level=level)
    return level
