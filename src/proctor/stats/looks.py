"""Look at results while they come in, after every step, and decide as soon as the evidence does.

A step is a cluster of samples with all its attempts, and has one value within known bounds. Steps come in random order
(also one balanced over strata). What is decided is where the mean over samples lies, of a limit:

    samples like these, at most 200 steps    bounds of a gate at 10 looks, each at the error that O'Brien and Fleming leave it
    samples like these, more steps           betting, and the bounds of a gate after the last step
    this very suite                          betting without replacement; the interval ends as the value itself

Betting. Is the mean m, then E[w (x - m)] = 0 for a step's value x and weight w, and nobody grows rich by betting on it:
Π (1 + c (w (x - m)) / m), with values scaled to 0..1 and weights to at most 1, exceeds 1 / error with a chance of at most
error, however often one looks (Ville 1939). The wealth is shared among bets c from small to nearly all. The interval is what
no gambler has refuted, and holds at all times together. In a suite of N steps, the mean that is left after t - 1 of them is
known for each m, and the bet is against that. With wins and losses and no margin this is the mixture over the share of wins.

Sources: Waudby-Smith and Ramdas 2024, arXiv 2010.09686 (betting, without replacement too); O'Brien and Fleming 1979; Jennison
and Turnbull 2000 (repeated intervals); Spiegelhalter, Freedman and Blackburn 1986 (predictive power).
"""

import math
from typing import Literal, Protocol

import msgspec

from proctor.core.errors import BadInput

Target = Literal["samples", "suite"]
Decision = Literal["go", "no_go", "futile"]

BETTING = "betting"
BETTING_WITHOUT_REPLACEMENT = "betting without replacement"

_GRID = 256  # means that are betted against; the ends of an interval are some of them
_BETS = (0.004, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.85, 0.97)  # of what would lose everything
_ROUNDING = 1e-9


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be decided about the mean of the values of steps.

    Attributes:
        limit: where good ends; good is at or above it if `higher`, else at or below.
        low, high: the least and the greatest value of a step: 0 and 1 of a share, -1 and 1 of a difference of shares.
        error: the greatest chance of a wrong GO, and of a wrong NO-GO.
        most: the number of steps there can be at most, known before the first one.
        target: samples like these, or the suite itself, whose steps are `size` (by default `most`).
        binary: every step is one sample, and its value a single 0 or 1, or a difference of them.
        heaviest: the greatest weight of a step. A weight is the number of samples of a cluster.
    """

    limit: float
    higher: bool = True
    low: float = 0.0
    high: float = 1.0
    error: float = 0.05
    most: int
    target: Target = "samples"
    size: int | None = None
    binary: bool = False
    heaviest: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.error < 0.5:
            raise BadInput("The chance of a wrong decision lies between 0 and 0.5; it is {error}.", error=self.error)
        if not self.low <= self.limit <= self.high:
            raise BadInput(
                "The limit {limit} lies outside of what can be measured, {low} to {high}.",
                limit=self.limit,
                low=self.low,
                high=self.high,
            )
        if self.most < 1 or (self.size is not None and self.size < self.most):
            raise BadInput("There is at least one step, and a suite has at least as many as are run.")


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What is known after some steps.

    Attributes:
        decision: None while nothing is decided; it stays as it was made first. "futile": not decided after the last step,
            or not to be expected to be.
        value: the mean over samples so far.
        low, high: the true mean lies above `low`, and below `high`, at all looks together, each with a chance of 1 - error.
    """

    steps: int
    decision: Decision | None
    value: float
    low: float
    high: float


class Looks(Protocol):
    """Takes steps one by one, and says what they show."""

    method: str

    def add(self, value: float, weight: float = 1.0) -> Look:
        """Take the next step."""


def looks(question: Question) -> Looks:
    """Choose the method for a question.

    >>> looking = looks(Question(limit=0.5, most=400, binary=True))
    >>> next(look.steps for look in (looking.add(1.0) for _ in range(400)) if look.decision)
    9
    """
    return _Betting(question)


class _Betting:
    """Decide by a confidence sequence."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._is_suite = question.target == "suite"
        self.method = BETTING_WITHOUT_REPLACEMENT if self._is_suite else BETTING
        self._sequence = _Sequence(
            _scaled(question, question.limit),
            question.error,
            size=(question.size or question.most) if self._is_suite else None,
        )
        self._steps = 0
        self._weight = self._total = 0.0
        self._decision: Decision | None = None

    def add(self, value: float, weight: float = 1.0) -> Look:
        asked = self._question
        if not (asked.low - _ROUNDING <= value <= asked.high + _ROUNDING and 0 < weight <= asked.heaviest):
            raise BadInput(
                "The value of a step lies between {low} and {high}, and its weight is at most {heaviest}; one is {value}, of weight {weight}.",
                low=asked.low,
                high=asked.high,
                heaviest=asked.heaviest,
                value=value,
                weight=weight,
            )
        self._steps += 1
        self._weight += weight
        self._total += weight * value
        self._sequence.add(_scaled(asked, value), weight / asked.heaviest)
        if self._decision is None:
            self._decision = self._decide()
        span = asked.high - asked.low
        return Look(
            steps=self._steps,
            decision=self._decision,
            value=self._total / self._weight,
            low=asked.low + span * self._sequence.low,
            high=asked.low + span * self._sequence.high,
        )

    def _decide(self) -> Decision | None:
        asked = self._question
        if self._is_suite and self._steps == (asked.size or asked.most):
            beyond = self._total / self._weight - asked.limit
            is_good = beyond >= -_ROUNDING if asked.higher else beyond <= _ROUNDING
            return "go" if is_good else "no_go"
        if self._sequence.above:
            return "go" if asked.higher else "no_go"
        if self._sequence.below:
            return "no_go" if asked.higher else "go"
        return "futile" if self._steps >= self._question.most else None


class _Sequence:
    """What gamblers have not refuted of a mean of values from 0 to 1.

    Attributes:
        low, high: the ends of the interval.
        above, below: True if the mean is shown to lie above, or below, the limit.
    """

    def __init__(self, limit: float, error: float, *, size: int | None) -> None:
        self.low, self.high = 0.0, 1.0
        self.above = self.below = False
        self._limit, self._size, self._needed = limit, size, len(_BETS) / error
        means = sorted({limit, *(at / _GRID for at in range(1, _GRID))})
        self._rising = [(mean, [1.0] * len(_BETS)) for mean in means]
        self._falling = [(mean, [1.0] * len(_BETS)) for mean in means]
        self._steps = 0
        self._weight = self._total = 0.0

    def add(self, value: float, weight: float) -> None:
        left = math.inf if self._size is None else self._size - self._steps
        rising, falling = [], []
        for mean, before in self._rising:
            expected = (mean * self._weight - self._total) / left  # of weight * (value - mean)
            wealth = _bet(before, weight * (value - mean) - expected, mean + expected)
            if math.fsum(wealth) >= self._needed:
                self.low = max(self.low, mean)
                self.above = self.above or mean == self._limit
            elif mean < self.high:
                rising.append((mean, wealth))
        for mean, before in self._falling:
            expected = (mean * self._weight - self._total) / left
            wealth = _bet(before, expected - weight * (value - mean), 1 - mean - expected)
            if math.fsum(wealth) >= self._needed:
                self.high = min(self.high, mean)
                self.below = self.below or mean == self._limit
            elif mean > self.low:
                falling.append((mean, wealth))
        self._rising, self._falling = rising, falling
        self._steps += 1
        self._weight += weight
        self._total += weight * value
        if self._size is not None:
            whole = self._weight + self._size - self._steps  # were the weight of all that is left the greatest
            self.low = max(self.low, self._total / whole)
            self.high = min(self.high, (self._total + whole - self._weight) / whole)
            self.above = self.above or self.low > self._limit + _ROUNDING
            self.below = self.below or self.high < self._limit - _ROUNDING


def _bet(wealth: list[float], gain: float, worst: float) -> list[float]:
    """Return the wealth after a gain, of which the least possible was -worst."""
    if worst <= _ROUNDING:  # the mean cannot be
        return [math.inf] * len(wealth) if gain > _ROUNDING or worst < -_ROUNDING else wealth
    share = gain / worst
    return [one * (1 + bet * share) for one, bet in zip(wealth, _BETS, strict=True)]


def _scaled(question: Question, value: float) -> float:
    return min(max((value - question.low) / (question.high - question.low), 0.0), 1.0)
