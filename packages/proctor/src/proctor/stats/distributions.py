"""Compute normal, Student's t and beta distributions, with the standard library alone.

The regularised incomplete beta function is the continued fraction of DLMF 8.17.22, evaluated by the modified Lentz
method. Relative errors stay below 1e-8 for parameters up to 100,000 (below 1e-9 for most of them), and below 1e-6 up to
10 million: the logarithms of gamma functions that are subtracted lose digits. Quantiles of beta distributions are exact to 1e-9
for parameters up to 500; near 1 the distance from 1 is sought, as numbers there lie too far apart.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300
_TOLERANCE = 1e-15
_STEPS = 100_000
_LIMIT = 1e7
_FEW_DEGREES = 60.0
_STANDARD = NormalDist()


def normal_cdf(x: float) -> float:
    """Return the chance that a standard normal number is at most x; exact in the lower tail.

    >>> round(normal_cdf(-1.959964), 6)
    0.025
    """
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_quantile(probability: float) -> float:
    """Return the number that a standard normal one stays below with this probability.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return _STANDARD.inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b): the chance that a Beta(a, b) number is at most x."""
    if not (a > 0 and b > 0):
        raise ValueError(f"a and b must be above 0: got {a}, {b}")
    if x <= 0 or x >= 1:
        return float(x >= 1)
    return _incomplete_beta(x, 1 - x, a, b)


@lru_cache(maxsize=1024)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the number that a Beta(a, b) one stays below with this probability.

    >>> round(beta_quantile(0.5, 2, 2), 12)
    0.5
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"a probability lies in 0 to 1: got {probability}")
    if probability in (0, 1):
        return float(probability)
    if beta_cdf(0.5, a, b) < probability:
        return 1 - _bisect(lambda y: beta_cdf(y, b, a) < 1 - probability, 0.0, 0.5)
    return _bisect(lambda x: beta_cdf(x, a, b) < probability, 0.0, 0.5)


def t_cdf(x: float, degrees: float) -> float:
    """Return the chance that a number of Student's t distribution is at most x; exact in the lower tail."""
    if not degrees > 0:
        raise ValueError(f"degrees of freedom must be above 0: got {degrees}")
    square = x * x
    if square == 0:
        return 0.5
    if math.isinf(square):
        return float(x > 0)
    below = 0.5 * _incomplete_beta(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5)
    return below if x < 0 else 1 - below


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the number that one of Student's t distribution stays below with this probability.

    >>> round(t_quantile(0.975, 10), 6)
    2.228139
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability lies between 0 and 1: got {probability}")
    tail = min(probability, 1 - probability)
    if tail == 0.5:
        return 0.0
    far = 1.0
    while t_cdf(-far, degrees) > tail:
        far *= 2
    distance = _bisect(lambda x: t_cdf(-x, degrees) > tail, 0.0, far)
    return distance if probability > 0.5 else -distance


@lru_cache(maxsize=1024)
def chi_squared_quantile(probability: float, degrees: float) -> float:
    """Return the number that a chi-squared one stays below with this probability, to three digits or more.

    Up to 60 degrees it is the limit of beta distributions, b · Beta(degrees / 2, b); beyond that it is that of Wilson and
    Hilferty (1931).

    >>> round(chi_squared_quantile(0.025, 2), 4), round(chi_squared_quantile(0.975, 20), 2)
    (0.0506, 34.17)
    """
    if degrees <= _FEW_DEGREES:
        return 2 * _LIMIT * beta_quantile(probability, degrees / 2, _LIMIT)
    part = 2 / (9 * degrees)
    return degrees * (1 - part + normal_quantile(probability) * math.sqrt(part)) ** 3


def _incomplete_beta(x: float, y: float, a: float, b: float) -> float:
    """Return I_x(a, b); y = 1 - x is an argument because near 1 the difference loses digits."""
    if x <= 0 or y <= 0:
        return float(y <= 0)
    if x > (a + 1) / (a + b + 2):  # the fraction converges quickly on the other side
        return 1 - _incomplete_beta(y, x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * _log(y, x)
    return math.exp(front) * _fraction(x, a, b) / a


def _log(y: float, x: float) -> float:
    return math.log1p(-x) if x < 0.5 else math.log(y)


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction; calls for its terms would take a quarter of the time."""
    both, d = a + b, _inverse(1 - (a + b) * x / (a + 1))
    value, c = d, 1.0
    for m in range(1, _STEPS):
        at = a + 2 * m
        even = m * (b - m) * x / ((at - 1) * at)
        d = 1 + even * d
        d = 1 / (d if d > _TINY or d < -_TINY else _TINY)
        c = 1 + even / c
        c = c if c > _TINY or c < -_TINY else _TINY
        value *= c * d
        odd = -(a + m) * (both + m) * x / (at * (at + 1))
        d = 1 + odd * d
        d = 1 / (d if d > _TINY or d < -_TINY else _TINY)
        c = 1 + odd / c
        c = c if c > _TINY or c < -_TINY else _TINY
        last = c * d
        value *= last
        if abs(last - 1) < _TOLERANCE:
            break
    return value


def _inverse(number: float) -> float:
    return 1 / (number if abs(number) > _TINY else _TINY)


def _bisect(is_below: Callable[[float], bool], low: float, high: float) -> float:
    """Return where `is_below` turns from true to false, to the last digit."""
    while low < (middle := (low + high) / 2) < high:
        if is_below(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2
