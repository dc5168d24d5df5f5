"""Test results while they come in, as often as one likes, without inflating the rate of false findings.

A fixed test looked at 20 times finds a difference that is not there in 25 % of the cases instead of 5 %; what is here holds
for all looks together. Samples must come in random order, and a cluster enters as one step.

Sources: Howard et al., arXiv 1810.08240 (confidence sequence of a normal mixture); Ville 1939 (reject when an e-value reaches
1 / alpha); Waudby-Smith and Ramdas, arXiv 2010.09686 (betting).
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.rate import Interval

_TUNED_FOR = 100  # steps at which the confidence sequence is about as narrow as it can be
_LARGEST_BET = 0.5  # of what would lose everything


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a sequence after some steps: an e-value, and whether it ever reached 1 / alpha."""

    steps: int
    e_value: float
    decided: bool


def boundary(variance: float, *, tuned_for: float, alpha: float = 0.05) -> float:
    """Return how far a sum of centred steps stays from 0, at all times together, with probability 1 - alpha.

    Args:
        variance: the sum so far of the steps' variances, or of bounds on them.
        tuned_for: the variance at which the boundary is to be narrow; rho in the source.

    >>> round(boundary(1000, tuned_for=100), 5)
    96.06402
    """
    _check(alpha)
    if not (variance >= 0 and tuned_for > 0):
        raise BadInput("A variance is not below 0, and the one it is tuned for lies above 0.")
    total = variance + tuned_for
    return math.sqrt(total * math.log(total / (alpha**2 * tuned_for)))


def confidence_sequence(
    values: Iterable[float], *, low: float = 0.0, high: float = 1.0, alpha: float = 0.05, tuned_for: int = _TUNED_FOR
) -> Iterator[Interval]:
    """Yield the interval of the mean after every value; with probability 1 - alpha the mean is in all of them.

    Args:
        low, high: between which values lie; for differences of shares, -1 and 1.
        tuned_for: the number of values at which it is to be narrow.

    >>> [round(one.high - one.low, 3) for one in confidence_sequence([0.5] * 400)][99::100]
    [0.366, 0.231, 0.181, 0.154]

    Raises:
        BadInput: a value outside its bounds.
    """
    _check(alpha)
    most = (high - low) ** 2 / 4  # the variance of a bounded step is at most this
    total, best = 0.0, Interval(low=low, high=high)
    for count, value in enumerate(values, 1):
        total += _within(value, low, high)
        half = boundary(count * most, tuned_for=tuned_for * most, alpha=alpha) / count
        low_end = max(best.low, total / count - half)
        best = Interval(low=low_end, high=max(low_end, min(best.high, total / count + half)))
        yield best


def paired_e_value(wins: int, losses: int) -> float:
    """Return the evidence that two systems differ, from the samples that only one of them got right; infinite beyond 1e308.

    If they are equally good it exceeds 1 / alpha with probability alpha at most, however often one looks.

    >>> [round(paired_e_value(*one), 4) for one in [(9, 1), (10, 0), (12, 1)]]
    [9.3091, 93.0909, 45.011]
    """
    if wins < 0 or losses < 0:
        raise BadInput("Wins and losses are counts: {wins} and {losses} cannot be.", wins=wins, losses=losses)
    return _exp(
        (wins + losses) * math.log(2) + math.lgamma(wins + 1) + math.lgamma(losses + 1) - math.lgamma(wins + losses + 2)
    )


def paired_looks(pairs: Iterable[tuple[float, float]], *, alpha: float = 0.05) -> Iterator[Look]:
    """Yield that evidence after every pair of right or wrong (1 or 0) answers; equal ones are steps without evidence.

    >>> [look.decided for look in paired_looks([(1, 0)] * 9)]
    [False, False, False, False, False, False, False, True, True]
    """
    _check(alpha)
    wins = losses = 0
    decided = False
    for count, (first, second) in enumerate(pairs, 1):
        wins, losses = wins + (first > second), losses + (first < second)
        e_value = paired_e_value(wins, losses)
        decided = decided or e_value >= 1 / alpha
        yield Look(steps=count, e_value=e_value, decided=decided)


def betting_looks(
    values: Sequence[float] | Iterable[float], mean: float, *, low: float = 0.0, high: float = 1.0, alpha: float = 0.05
) -> Iterator[Look]:
    """Yield the evidence that the mean of bounded values is not `mean`: what two gamblers, one for each side, make of 1.

    Each bets before he sees a value, on what the values before it were like.

    Raises:
        BadInput: a value or the mean outside the bounds.
    """
    _check(alpha)
    scale = high - low
    centre = (_within(mean, low, high) - low) / scale
    if not 0 < centre < 1:
        raise BadInput("The mean to test lies between {low} and {high}.", low=low, high=high)
    above = below = 0.0  # logarithms of their wealth
    total, squares, decided = 0.5, 0.25, False
    for count, value in enumerate(values, 1):
        share = (_within(value, low, high) - low) / scale
        bet = math.sqrt(2 * math.log(2 / alpha) * count / (squares * count * math.log(count + 1) + 1e-12))
        above += math.log1p(min(bet, _LARGEST_BET / centre) * (share - centre))
        below += math.log1p(-min(bet, _LARGEST_BET / (1 - centre)) * (share - centre))
        e_value = (_exp(above) + _exp(below)) / 2
        decided = decided or e_value >= 1 / alpha
        yield Look(steps=count, e_value=e_value, decided=decided)
        total += share
        squares += (share - total / (count + 1)) ** 2


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise BadInput(
            "The chance of a false finding lies between 0 and 1, for example 0.05; it is {alpha}.", alpha=alpha
        )


def _within(value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise BadInput("A value lies between {low} and {high}; one is {value}.", low=low, high=high, value=value)
    return value


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 709 else math.inf
