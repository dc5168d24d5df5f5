"""Draw samples spread over how hard they are, and estimate from neighbours how far their mean is from that of all.

The samples are sorted by an expected value and cut into halves, these into halves, and so on; a draw takes from each half in
proportion to its size, and chance decides where that is no whole number. So each sample is drawn with the same chance, and the
mean of the draw is unbiased whatever the expected values are: they only decide what lies together. A larger draw with the same
chance contains a smaller one. Where the values are right, neighbours are alike, and the mean of the draw hardly depends on
chance. What is left is seen in the differences of neighbours, of which each says s², as if all values had the same expectation:

    s²  = max(Σ (y_h - y_h+1)² / (2 (n - 1)), a quarter of the plain variance)
    SE² = (1 - n/N) s² / n              about the very samples of the suite
        + plain variance / N            in addition, about samples like these

The quarter keeps a few neighbours that happened to be equal from being taken for certainty. The interval is Wilson's for
value (1 - value) / SE² samples, with t (n - 1 degrees) in place of z; where that is no narrower, it is the plain one. About
the very samples of a suite it does not allow for skewed points, with which it would cover 97 to 98 % (`python -m bench items`).

Source: Cochran, Sampling Techniques, 3rd edition, 5A.11 and 5A.12 (collapsed strata), 8.11 (samples drawn in an order);
Stevens and Olsen 2004, "Spatially balanced sampling of natural resources", for draws by halves that contain each other.
"""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.stats.distributions import t_quantile
from proctor.stats.estimate import allow_for_skewness
from proctor.stats.rate import wilson

SPREAD = "spread by expected values, Wilson with t"

_LEAST_SHARE = 1 / 4  # of the plain variance
_FEWEST = 4
_SMALL = 1e-12

Key = TypeVar("Key")


def draw_spread(expected: Mapping[Key, float], count: int, source: random.Random) -> list[Key]:
    """Draw `count` keys spread over their expected values, in the order of these; those of a smaller count are among them.

    >>> expected = {at: at / 100 for at in range(100)}
    >>> drawn = draw_spread(expected, 4, random.Random(0))
    >>> [at // 25 for at in drawn], {*drawn} <= {*draw_spread(expected, 9, random.Random(0))}
    ([0, 1, 2, 3], True)
    """
    ties = {key: source.random() for key in expected}
    in_order = sorted(expected, key=lambda key: (expected[key], ties[key]))
    drawn = {*_order_by_halves(in_order, source)[:count]}
    return [key for key in in_order if key in drawn]


def _order_by_halves(keys: Sequence[Key], source: random.Random) -> Sequence[Key]:
    """Return an order whose every beginning takes from each half in proportion to its size, to within one key."""
    size = len(keys)
    if size < 2:
        return keys
    half = size // 2
    first, second = (iter(_order_by_halves(part, source)) for part in (keys[:half], keys[half:]))
    begin = source.randrange(size)  # which makes the expected share of each half exact
    return [next(first if (at * half + begin) % size >= size - half else second) for at in range(size)]


def estimate_spread(
    plain: Estimate, values: Sequence[float], total: int, *, weights: Sequence[float] = (), of_suite: bool = False
) -> Estimate:
    """Return the plain estimate with the interval of a draw by `draw_spread`; unchanged where that is no narrower.

    Args:
        values: one of each independent sample, in the order of the expected values.
        total: samples that they were drawn from.
        weights: of the samples in the value, where they are not equal; their mean is 1.
    """
    count, value = len(values), plain.value
    if value is None or plain.low is None or plain.high is None or not 0 < value < 1 or not _FEWEST <= count < total:
        return plain
    pulls = [weight * (sample - value) for sample, weight in zip(values, weights or [1.0] * count, strict=True)]
    around = math.fsum(pull**2 for pull in pulls) / (count - 1)
    if around <= _SMALL:
        return plain
    between = math.fsum((pull - after) ** 2 for pull, after in pairwise(pulls)) / (2 * (count - 1))
    variance = (1 - count / total) / count * max(between, _LEAST_SHARE * around)
    if not of_suite:
        variance += around / total
    quantile = t_quantile(0.5 + plain.level / 2, count - 1.0)
    effective = value * (1 - value) / variance
    interval = wilson(value, effective, quantile=quantile)
    if plain.partial and not of_suite:
        interval = allow_for_skewness(value, effective, count, quantile)
    if interval.high - interval.low >= plain.high - plain.low:
        return plain
    return replace(
        plain,
        low=interval.low,
        high=interval.high,
        method=SPREAD,
        standard_error=math.sqrt(variance),
        degrees=count - 1.0,
    )


def times_as_many(plain: Estimate, spread: Estimate) -> float:
    """Return how many times as many samples of a plain draw say as much; 1 where that is not known."""
    if not plain.standard_error or not spread.standard_error:
        return 1.0
    return (plain.standard_error / spread.standard_error) ** 2
