"""Compute one-sided bounds for decisions: each is wrong with a chance of at most its error, on either side.

    one 0/1 attempt of independent samples     Clopper-Pearson, which is exact
    attempts, points, clusters, strata         Clopper-Pearson on an effective number of samples, with t
    the same, but all clusters alike           Clopper-Pearson on the number of clusters
    numbers of any size                        Student's t
    one cluster                                none

The interval that a report shows is right on average, and near 0 and 1 errs more often on one side; a decision must not.
The effective number is value · (1 - value) / SE², times (z / t)² for few clusters. As no number of alike values shows
that rare ones do not exist, bounds of points and clusters lie no nearer to 1 and 0 than G clusters without a loss would
put them: error^(1 / G).

Source: Clopper and Pearson 1934; Korn and Graubard 1998 for the effective number.
"""

import math

from proctor.core.run import Estimate
from proctor.stats.distributions import beta_quantile, normal_quantile, t_quantile
from proctor.stats.estimate import WILSON
from proctor.stats.rate import Interval

_LEAST_SAMPLES = 1e-6


def one_sided(one: Estimate, error: float) -> Interval | None:
    """Return the lower and the upper bound of an estimate; None where its spread is not known.

    >>> found = one_sided(Estimate(name="accuracy", value=1.0, low=0.8, high=1.0, method="Wilson", clusters=20, standard_error=0.0), 0.05)
    >>> found is not None and round(found.low, 4), found.high
    (0.8609, 1.0)
    """
    if one.value is None or one.low is None or one.high is None or one.standard_error is None or one.clusters < 2:
        return None
    if one.low == one.high:  # all that it is about was measured
        return Interval(low=one.value, high=one.value)
    if one.unit == "number":
        half = _quantile(error, one.degrees) * one.standard_error
        return Interval(low=one.value - half, high=one.value + half)
    if one.method == WILSON:
        return exact(round(one.value * one.clusters), one.clusters, error)
    count = float(one.clusters)
    if one.standard_error > 0:
        count = one.value * (1 - one.value) / one.standard_error**2
        count *= (normal_quantile(1 - error) / _quantile(error, one.degrees)) ** 2
    around = exact(one.value * count, max(count, _LEAST_SAMPLES), error)
    surest = error ** (1 / one.clusters)
    return Interval(low=min(around.low, surest), high=max(around.high, 1 - surest))


def exact(successes: float, count: float, error: float) -> Interval:
    """Return the bounds of a rate; the numbers need not be whole."""
    failures = count - successes
    return Interval(
        low=beta_quantile(error, successes, failures + 1) if successes > 0 else 0.0,
        high=beta_quantile(1 - error, successes + 1, failures) if failures > 0 else 1.0,
    )


def ranks(share: float, count: int, effective: float, error: float) -> tuple[int | None, int | None]:
    """Return the positions, among `count` ascending values, of a lower and an upper bound of a quantile; None where there is none.

    Args:
        share: of the values that lie at or below the quantile.
        effective: as how many independent values they count.
    """
    low = beta_quantile(error, share * effective, (1 - share) * effective + 1)
    high = beta_quantile(1 - error, share * effective + 1, (1 - share) * effective)
    below, above = math.floor(low * count) - 1, math.ceil(high * count)
    none_above = share**effective > error
    none_below = (1 - share) ** effective > error
    return (None if none_below or below < 0 else below), (None if none_above or above >= count else above)


def _quantile(error: float, degrees: float | None) -> float:
    return normal_quantile(1 - error) if degrees is None else t_quantile(1 - error, degrees)
