"""Compute how many samples a comparison takes, and which difference a given number can show.

A sample's score varies because samples differ (between) and because an attempt at one sample differs from the next
(within); K attempts divide the second by K. All numbers are on the scale of values, 0 to 1, and tests are two-sided.

Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640, section on power.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.distributions import chi_squared_quantile, normal_quantile, t_quantile
from proctor.stats.paired import BONETT_PRICE, Difference
from proctor.stats.rate import wilson


class Variance(msgspec.Struct, frozen=True, kw_only=True):
    """Variance between the expected values of samples, and the mean variance within a sample."""

    between: float
    within: float


def variance(values_by_sample: Iterable[Sequence[float]]) -> Variance | None:
    """Split the variance, from samples with two attempts or more each; None when there are fewer than two of them."""
    samples = [values for values in values_by_sample if len(values) > 1]
    if len(samples) < 2:
        return None
    within = [sample_variance(values) for values in samples]
    means = [math.fsum(values) / len(values) for values in samples]
    noise = [one / len(values) for one, values in zip(within, samples, strict=True)]
    return Variance(
        between=max(sample_variance(means) - math.fsum(noise) / len(samples), 0.0),
        within=math.fsum(within) / len(samples),
    )


def samples_needed(difference: float, spread: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return how many samples find a true difference with that power.

    Args:
        spread: the variance of a sample's difference.

    >>> round(samples_needed(0.03, 1 / 9))
    969
    """
    return sum(_quantiles(alpha, power)) ** 2 * spread / _difference(difference) ** 2


def mcnemar_samples(wins: float, losses: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return how many samples McNemar's test takes when these shares of all pairs are won and lost.

    >>> round(mcnemar_samples(0.15, 0.05), 1)
    154.6
    """
    if not (wins >= 0 and losses >= 0 and wins + losses <= 1):
        raise BadInput(
            "Shares of wins and losses are 0 to 1 together; they are {wins}, {losses}.", wins=wins, losses=losses
        )
    difference = _difference(wins - losses)
    equal, unequal = _quantiles(alpha, power)
    spread = wins + losses
    return ((equal * math.sqrt(spread) + unequal * math.sqrt(spread - difference**2)) / difference) ** 2


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """The number of samples that finds a difference with that power.

    Attributes:
        difference: the true difference to be found.
        samples: as many, if samples move (or vary) as in the pairs seen; `low` to `high` is what the pairs allow for.
        moved: the share of the pairs seen that moved; None where they are no single 0/1 attempts.
    """

    difference: float
    power: float
    samples: int
    low: int
    high: int
    moved: float | None


def to_detect(found: Difference, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> Needed | None:
    """Estimate how many samples find a true difference, if they are like those of a comparison; None if it cannot tell.

    For single 0/1 attempts the share of samples that move decides, with its Wilson interval, and the number is that of
    McNemar's test with the correction for exactness of Fleiss (1981); at least as many samples move as are won on
    balance. Else it is the variance of the differences, with its chi-squared interval, and t and clusters count.

    Raises:
        BadInput: the difference does not lie between 0 and 1.
    """
    if not 0 < difference <= 1:
        raise BadInput("The difference to find lies between 0 and 100 points; it is {points}.", points=100 * difference)
    if found.method == BONETT_PRICE:
        moved = (found.wins + found.losses) / found.pairs
        around = wilson(moved, found.pairs, 1 - alpha)
        shares = [min(max(share, difference), 1.0) for share in (moved, around.low, around.high)]
        numbers = [
            _exactly(
                mcnemar_samples((share + difference) / 2, (share - difference) / 2, alpha=alpha, power=power),
                difference,
            )
            for share in shares
        ]
    elif found.standard_error and found.degrees is not None:
        moved = None
        spread = found.standard_error**2 * found.pairs
        upper, lower = (
            chi_squared_quantile(tail, found.degrees) / found.degrees for tail in (1 - alpha / 2, alpha / 2)
        )
        numbers = [_by_t(found, one, difference, alpha, power) for one in (spread, spread / upper, spread / lower)]
    else:
        return None
    samples, low, high = (math.ceil(number) for number in numbers)
    return Needed(difference=difference, power=power, samples=samples, low=low, high=high, moved=moved)


def _exactly(samples: float, difference: float) -> float:
    return samples / 4 * (1 + math.sqrt(1 + 2 / (samples * difference))) ** 2


def _by_t(found: Difference, spread: float, difference: float, alpha: float, power: float) -> float:
    """Return the samples for a t test with as many effective clusters per sample; sign flips need six clusters at 5 %."""
    clusters = ((found.degrees or 0.0) + 1) / found.pairs
    least = (1 - math.log2(alpha)) / clusters
    samples = max(samples_needed(difference, spread, alpha=alpha, power=power), least)
    for _ in range(20):
        degrees = samples * clusters - 1
        quantiles = t_quantile(1 - alpha / 2, degrees) + t_quantile(power, degrees)
        samples = max(quantiles**2 * spread / difference**2, least)
    return samples


def sample_variance(values: Sequence[float]) -> float:
    """Return the variance of values as an estimate of that of all."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _difference(difference: float) -> float:
    if difference == 0:
        raise BadInput("No number of samples shows a difference of 0; name the smallest one that matters.")
    return difference


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0 < power < 1):
        raise BadInput(
            "Alpha and power lie between 0 and 1, for example 0.05 and 0.8; they are {alpha} and {power}.",
            alpha=alpha,
            power=power,
        )
    return normal_quantile(1 - alpha / 2), normal_quantile(power)
