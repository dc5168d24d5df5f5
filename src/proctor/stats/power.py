"""How many samples it takes, and what a given number can show.

A sample's score varies because samples differ (between) and because an attempt at one sample differs from the next
(within); K attempts divide the second by K. All numbers are on the scale of values, 0 to 1, and tests are two-sided.

Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640, section on power.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.distributions import normal_quantile


class Variance(msgspec.Struct, frozen=True, kw_only=True):
    """Variance between the expected values of samples, and the mean variance within a sample."""

    between: float
    within: float

    def of_mean(self, attempts: int) -> float:
        """The variance of a sample's mean over that many attempts."""
        return self.between + self.within / attempts


def variance(values_by_sample: Iterable[Sequence[float]]) -> Variance | None:
    """Split the variance, from samples with two attempts or more each; None when there are fewer than two of them."""
    samples = [values for values in values_by_sample if len(values) > 1]
    if len(samples) < 2:
        return None
    within = [_variance(values) for values in samples]
    means = [math.fsum(values) / len(values) for values in samples]
    noise = [one / len(values) for one, values in zip(within, samples, strict=True)]
    return Variance(
        between=max(_variance(means) - math.fsum(noise) / len(samples), 0.0),
        within=math.fsum(within) / len(samples),
    )


def samples_needed(difference: float, spread: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Samples to find a true difference with that power.

    Args:
        spread: the variance of a sample's difference; see `paired_spread`.

    >>> round(samples_needed(0.03, paired_spread(1 / 9)))
    969
    """
    return sum(_quantiles(alpha, power)) ** 2 * spread / _difference(difference) ** 2


def smallest_difference(samples: int, spread: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that so many samples find with that power."""
    if samples < 1:
        raise BadInput("At least 1 sample is needed; there are {samples}.", samples=samples)
    return sum(_quantiles(alpha, power)) * math.sqrt(spread / samples)


def paired_spread(
    between: float, within_first: float = 0.0, within_second: float = 0.0, *, attempts: tuple[int, int] = (1, 1)
) -> float:
    """The variance of the difference of a sample's means in two runs.

    Args:
        between: the variance of the difference of expected values.
        within_first, within_second: the mean variance within a sample in each run.
        attempts: of each run.
    """
    return between + within_first / attempts[0] + within_second / attempts[1]


def mcnemar_samples(wins: float, losses: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Samples for McNemar's test when that share of all pairs is won, and that share lost.

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


def more_samples(
    difference: float, standard_error: float, samples: int, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """How many samples more would decide, with that power, if the true difference is the one seen so far.

    0 when there are enough already; None when the difference seen is 0, which no number decides.
    """
    if difference == 0:
        return None
    needed = samples_needed(difference, standard_error**2 * samples, alpha=alpha, power=power)
    return max(math.ceil(needed) - samples, 0)


def _variance(values: Sequence[float]) -> float:
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
