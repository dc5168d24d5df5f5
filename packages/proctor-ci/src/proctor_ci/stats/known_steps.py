"""Make the mean of the first steps of a run more precise by what was expected of every step before the run began (control variates).

Of N planned steps the value y is known of the first n, and the expected value x of all. Where the first ones happen to be
easier than the rest, x shows it, and their mean is adjusted, with e = y - b · x:

    mean      = mean_n(y) - b · (mean_n(x) - mean_N(x))
    variance  = V(e) · (1/n - 1/N) + V(y) / N        with f = V(e) / V(y): that of a mean of n / (f + (1 - f) · n / N) steps

This holds for any slope b and any x, so that a wrong x makes nothing wrong: it gains nothing. After the last step all is as
without x. The slope is that of the steps of the look before, so that no value decides how it is adjusted itself. Residuals are
those of a jackknife, and half of the largest square counts once more, as in `stats.covariate`, since few values differ where most
are alike. With fewer than 10 steps at the look before, or where the correlation may well be chance (r² at most
4 / (n - 1)), the plain mean stays.

Source: Cochran, Sampling Techniques, 3rd edition, 7.3 to 7.10 and 12.9; simulated by `bench/known_looks.py`.
"""

import math
from collections.abc import Sequence

import msgspec

_FEW = 10
_CHANCE = 4.0
_LEAST_LEFT = 0.25  # of the variance: no slope is trusted to explain more
_SMALL = 1e-12


class StepsGain(msgspec.Struct, frozen=True, kw_only=True):
    """How the mean of the steps so far is adjusted.

    Attributes:
        shift: what is added to the mean.
        share: its variance as a share of that of the plain mean; 1 where nothing is gained.
    """

    shift: float = 0.0
    share: float = 1.0


NO_GAIN = StepsGain()


class KnownSteps:
    """Adjusts the mean of the steps at each look.

    Args:
        centre: the mean of the expected values over the samples of all planned steps.
        most: the number of planned steps.
    """

    def __init__(self, centre: float, most: int) -> None:
        self._centre = centre
        self._most = most
        self._slope = 0.0
        self._looked_at = 0

    def look(self, values: Sequence[float], expected: Sequence[float], weights: Sequence[float]) -> StepsGain:
        """Return the gain at the steps so far, by the slope of the look before; note the slope for the next look."""
        count, size = len(values), math.fsum(weights)
        middle = math.fsum(weight * x for x, weight in zip(expected, weights, strict=True)) / size
        ups, overs = _apart(values, weights, size), _apart(expected, weights, size)
        across = math.fsum(over * over for over in overs)
        slope, earlier = self._slope, self._looked_at
        self._slope = _dot(ups, overs) / across if across > _SMALL else 0.0
        self._looked_at = count
        if earlier < _FEW or count >= self._most or across <= _SMALL:
            return NO_GAIN
        whole = _dot(ups, ups)
        residuals = [
            (up - slope * over) / max(1 - over * over / across - 1 / count, 0.1) * (1 - 1 / count)
            for up, over in zip(ups, overs, strict=True)
        ]
        left = _dot(residuals, residuals) + max(residual * residual for residual in residuals) / 2
        if whole <= _SMALL or 1 - left / whole <= _CHANCE / (count - 1):
            return NO_GAIN
        unexplained = max(left / whole, _LEAST_LEFT)
        return StepsGain(
            shift=-slope * (middle - self._centre), share=unexplained + (1 - unexplained) * count / self._most
        )


def _apart(values: Sequence[float], weights: Sequence[float], size: float) -> list[float]:
    """Return how far each step lies from the mean over samples, times its weight."""
    mean = math.fsum(weight * value for value, weight in zip(values, weights, strict=True)) / size
    return [weight * (value - mean) for value, weight in zip(values, weights, strict=True)]


def _dot(ones: Sequence[float], others: Sequence[float]) -> float:
    return math.fsum(first * second for first, second in zip(ones, others, strict=True))
