"""Look at results while they come in, after every step, and decide as soon as the evidence does.

A step is a cluster of samples with all its attempts, and has one value within known bounds. Steps come in random order
(also one balanced over strata). What is decided is on which side of a limit the mean over samples lies:

    samples like these, at most 500 steps    bounds of a gate at twenty looks, each at the error left for it
    samples like these, more steps           betting, and bounds of a gate at twenty looks
    this very suite                          betting without replacement, whose interval ends as the value itself

**Twenty looks.** Of the error, a share of t^2 is spent when a share t of the steps is done. The error of each look follows from
what the looks before it have spent: for single 0/1 values from the exact distribution of paths at the limit, else from that
of a normal sum. The bounds are those of `proctor_ci/stats/bounds.py`.

**Betting** (`stats/betting.py`) refutes means at all steps together. With wins and losses and no margin it is the mixture over
the share of wins. Three fifths of the error are for betting, the rest for the looks, which find weak effects far more often.

**Known steps.** Where it is known what to expect of the difference of every step, the mean at a look is adjusted by it
(`proctor_ci/stats/known_steps.py`; the plain mean stays within the bounds), and the error is spent by the share t of the information that there is then: that of more steps.
Where nothing is gained this is what it is without.

**Futile** is what will hardly be decided by the last step: as the steps so far are, the chance of it (flat prior) is below 0.5 %,
and power suffers by a point at most.
It ends a run, and so can only make errors rarer.

Sources: Kim and DeMets 1987 (spending by a power of the share of steps); Jennison and Turnbull 2000 (repeated
intervals); Spiegelhalter, Freedman and Blackburn 1986 (predictive power).
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, Protocol

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.distributions import normal_cdf, normal_quantile
from proctor.stats.paired import PairedSample
from proctor.stats.rate import Interval
from proctor_ci.stats.betting import ConfidenceSequence
from proctor_ci.stats.bounds import effective, exact, moved
from proctor_ci.stats.known_steps import NO_GAIN, KnownSteps, StepsGain
from proctor_ci.stats.spending import NormalSpending, of_count, of_normal_sum

Target = Literal["samples", "suite"]
Decision = Literal["go", "no_go", "futile"]

TWENTY_LOOKS = "bounds at twenty looks"
BETTING = "betting"
BETTING_WITHOUT_REPLACEMENT = "betting without replacement"

_FEW = 500  # steps, up to which bounds find more than betting
_LOOKS = 20
_SPENT_LATE = 2  # the power of the share of steps
_FOR_BETS = 0.6  # of the error, where the looks have the rest
_FOR_MEANS = 0.92  # of the error of the looks: bounds of means near 0 and 1 err by 5.4 % where they say 5 %
_HARDLY = 0.005
_LEAST_STEPS = 10  # before anything is called futile
_ROUNDING = 1e-9
_LEAST_PROGRESS = 0.25  # of what a share of steps adds to the information, however the gain of known steps changes


class LooksQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be decided about the mean of the values of steps.

    Attributes:
        limit: where good ends; good is at or above it if `higher`, else at or below.
        low, high: the least and the greatest value of a step: 0 and 1 of a share, -1 and 1 of a difference of shares.
        error: the greatest chance of a wrong GO, and of a wrong NO-GO.
        most: the number of steps there can be at most, known before the first one.
        target: samples like these, or the suite itself, whose steps are `size` (by default `most`).
        binary: every step is one sample, and its value a single 0 or 1, or a difference of them.
        heaviest: the greatest weight of a step. A weight is the number of samples of a cluster.
        expected: the mean, over the samples of all `most` steps, of what is expected of them; None where nothing is. Of
            differences of samples like these.
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
    expected: float | None = None

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
        if self.expected is not None and (self.low >= 0 or self.target == "suite"):
            raise BadInput("What is expected of steps adjusts differences of samples like these.")
        if self.most < 1 or (self.size is not None and self.size < self.most):
            raise BadInput("There is at least one step, and a suite has at least as many as are run.")


class StepsLook(msgspec.Struct, frozen=True, kw_only=True):
    """What is known after some steps.

    Attributes:
        decision: None while nothing is decided; it stays as it was made first. "futile": not decided after the last step,
            or not to be expected to be.
        value: the mean over samples so far.
        low, high: the true mean lies above `low`, and below `high`, at all looks together, each with a chance of 1 - error.
        gain: how the mean was adjusted, if this was a look.
    """

    steps: int
    decision: Decision | None
    value: float
    low: float
    high: float
    gain: StepsGain = NO_GAIN


class Looks(Protocol):
    """Takes steps one by one, and says what they show."""

    method: str

    def add(self, value: float, weight: float = 1.0, expected: float | None = None) -> StepsLook:
        """Take the next step."""

    def end(self) -> StepsLook:
        """Look as after the last step: fewer came than there could be, as where a scorer does not apply to the others."""


def looks(question: LooksQuestion) -> Looks:
    """Choose the method for a question.

    >>> looking = looks(LooksQuestion(limit=0.5, most=400, binary=True))
    >>> next(look.steps for look in (looking.add(1.0) for _ in range(400)) if look.decision)
    20
    """
    return _Looks(question)


class _Errors(msgspec.Struct, frozen=True):
    """The error of the lower bound, and that of the upper one."""

    low: float
    high: float


class _KnownLooks:
    """The errors of looks at steps of which it is known what to expect."""

    def __init__(self, centre: float, most: int) -> None:
        self.steps = KnownSteps(centre, most)
        self._spending = NormalSpending()
        self._information = self._share = 0.0

    def error(self, share: float, gain: StepsGain, error: float) -> float:
        """Return the error of a look after a share of the steps."""
        least = self._information + _LEAST_PROGRESS * (share - self._share)
        self._information, self._share = max(share / gain.share, least), share
        return self._spending.error(self._information, error * self._information**_SPENT_LATE)


class _Looks:
    def __init__(self, question: LooksQuestion) -> None:
        self._question = question
        limit = _scaled(question, question.limit)
        self._sequence: ConfidenceSequence | None = None
        self._stages: Mapping[int, _Errors] = {}
        self._is_count = question.binary and (question.low, question.high) == (0, 1)
        if question.target == "suite":
            self.method = BETTING_WITHOUT_REPLACEMENT
            self._sequence = ConfidenceSequence(limit, question.error, size=question.size or question.most)
        elif question.most <= _FEW:
            self.method = TWENTY_LOOKS
            self._stages = self._spend()
        else:
            self.method = BETTING
            self._sequence = ConfidenceSequence(limit, _FOR_BETS * question.error, size=None)
            self._stages = self._spend()
        self._values: list[float] = []
        self._weights: list[float] = []
        self._total = self._weight = 0.0
        self._squares = [0.0, 0.0, 0.0]  # of weights, times the value to the power of 0, 1, 2
        self._low, self._high = question.low, question.high
        self._decision: Decision | None = None
        self._expected: list[float | None] = []
        self._known = None if question.expected is None else _KnownLooks(question.expected, question.most)
        self._gain = NO_GAIN

    def add(self, value: float, weight: float = 1.0, expected: float | None = None) -> StepsLook:
        """Take the next step.

        Args:
            expected: what was expected of it; from a step on of which it is not known, nothing is adjusted.

        Raises:
            BadInput: its value or weight is outside of what the question says, or it is one too many.
        """
        asked = self._question
        self._check(value, weight)
        self._values.append(value)
        self._weights.append(weight)
        self._expected.append(expected)
        if self._is_count and value not in (0, 1):
            self._is_count = False
            if asked.target == "samples":
                self._stages = self._spend()
        self._weight += weight
        self._total += weight * value
        self._squares = [square + weight**2 * value**power for power, square in enumerate(self._squares)]
        if self._sequence is not None:
            self._sequence.add(_scaled(asked, value), weight / asked.heaviest)
            span = asked.high - asked.low
            self._narrow(asked.low + span * self._sequence.low, asked.low + span * self._sequence.high)
        return self._looked(self._stages.get(len(self._values)), is_last=len(self._values) == asked.most)

    def end(self) -> StepsLook:
        """Look as after the last step, where fewer came than there could be."""
        if self._question.target == "suite":
            self._narrow(self._total / self._weight, self._total / self._weight)
        return self._looked(self._stages.get(self._question.most), is_last=True)

    def _looked(self, errors: _Errors | None, *, is_last: bool) -> StepsLook:
        self._gain = NO_GAIN
        bounds = None if errors is None else self._bounds(self._of_known(errors, is_last=is_last))
        if bounds is not None:
            self._narrow(bounds.low, bounds.high)
        if self._decision is None:
            self._decision = self._decide(bounds, is_last=is_last)
        return StepsLook(
            steps=len(self._values),
            decision=self._decision,
            value=self._total / self._weight,
            low=self._low,
            high=self._high,
            gain=self._gain,
        )

    def _of_known(self, errors: _Errors, *, is_last: bool) -> _Errors:
        """Return the errors of this look; where it is known what to expect of steps, those of the information there is."""
        if self._known is None:
            return errors
        expected = [value for value in self._expected if value is not None]
        is_plain = is_last or len(expected) < len(self._values)
        if not is_plain:
            self._gain = self._known.steps.look(self._values, expected, self._weights)
        share = 1.0 if is_last else len(self._values) / self._question.most
        error = self._known.error(share, self._gain, self._error())
        return _Errors(error, error)

    def _check(self, value: float, weight: float) -> None:
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
        if len(self._values) >= asked.most:
            raise BadInput("All {count} steps were taken.", count=asked.most)

    def _error(self) -> float:
        """Return how much of the error the looks may spend."""
        return self._question.error * (1 if self._question.most <= _FEW else 1 - _FOR_BETS)

    def _spend(self) -> Mapping[int, _Errors]:
        asked, error = self._question, self._error()
        if self._is_count:
            return _stages(asked.most, error, asked.limit)
        return _stages(asked.most, error * (1 if asked.low < 0 else _FOR_MEANS), None)

    def _bounds(self, errors: _Errors) -> Interval | None:
        low = self._around(errors.low)
        high = low if errors.low == errors.high else self._around(errors.high)
        if low is None or high is None:
            return None
        value, narrowed = self._total / self._weight, math.sqrt(self._gain.share)
        middle = value + self._gain.shift
        return Interval(
            low=min(middle - narrowed * (value - low.low), value),
            high=max(middle + narrowed * (high.high - value), value),
        )

    def _around(self, error: float) -> Interval | None:
        if self._is_count:
            return exact(sum(self._values), len(self._values), error)
        return _around(self._question, self._values, self._weights, error)

    def _narrow(self, low: float, high: float) -> None:
        self._low = max(self._low, low)
        self._high = max(min(self._high, high), self._low)

    def _decide(self, bounds: Interval | None, *, is_last: bool) -> Decision | None:
        asked, sequence = self._question, self._sequence
        if asked.target == "suite" and is_last and asked.most == (asked.size or asked.most):
            beyond = self._total / self._weight - asked.limit
            return "go" if (beyond if asked.higher else -beyond) >= -_ROUNDING else "no_go"
        if (sequence is not None and sequence.above) or (bounds is not None and bounds.low > asked.limit):
            return "go" if asked.higher else "no_go"
        if (sequence is not None and sequence.below) or (bounds is not None and bounds.high < asked.limit):
            return "no_go" if asked.higher else "go"
        if is_last or (asked.target == "samples" and self._chance() < _HARDLY):
            return "futile"
        return None

    def _chance(self) -> float:
        """Return the chance that the bounds after the last step decide, if the rest is like the steps so far."""
        asked, done = self._question, len(self._values)
        if done < _LEAST_STEPS:
            return 1.0
        value, typical = self._total / self._weight, self._weight / done
        none, single, both = self._squares
        squares = max(both - 2 * value * single + value**2 * none, 0.0)
        # two steps more, at either end: a few alike ones do not show that there is no spread
        spread = math.sqrt((squares / typical**2 + (asked.high - asked.low) ** 2 / 2) / done)
        errors = self._stages[asked.most]
        beyond, rest = value - asked.limit, spread * math.sqrt(1 / done - 1 / asked.most)
        needed = [spread / math.sqrt(asked.most) * normal_quantile(1 - error) for error in (errors.low, errors.high)]
        return normal_cdf((beyond - needed[0]) / rest) + normal_cdf((-beyond - needed[1]) / rest)


def _around(
    question: LooksQuestion, values: Sequence[float], weights: Sequence[float], error: float
) -> Interval | None:
    count, size = len(values), math.fsum(weights)
    if question.low == -question.high:
        span = question.high
        pairs = [
            PairedSample(
                cluster=str(at),
                first=max(each, 0.0) / span,
                second=max(-each, 0.0) / span,
                weight=weight * count / size,
            )
            for at, (each, weight) in enumerate(zip(values, weights, strict=True))
        ]
        interval = moved(pairs, single=question.binary).bounds(error)
        return None if interval is None else Interval(low=interval.low * span, high=interval.high * span)
    if count < 2:
        return None
    shares = [_scaled(question, each) for each in values]
    value = math.fsum(weight * share for share, weight in zip(shares, weights, strict=True)) / size
    squares = math.fsum((weight * (share - value)) ** 2 for share, weight in zip(shares, weights, strict=True))
    degrees = max(size**2 / math.fsum(weight * weight for weight in weights) - 1, 0.5)
    squared, spread = math.fsum(weight * weight for weight in weights), math.sqrt(squares * count / (count - 1)) / size
    sizes = [
        math.fsum(weight**2 * abs(share - end) for share, weight in zip(shares, weights, strict=True))
        * size
        / (squared * math.fsum(weight * abs(share - end) for share, weight in zip(shares, weights, strict=True)))
        if abs(value - end) > _ROUNDING
        else 1.0
        for end in (1, 0)
    ]
    interval = effective(value, spread, degrees, count, error, sizes=(sizes[0], sizes[1]))
    span = question.high - question.low
    return Interval(low=question.low + span * interval.low, high=question.low + span * interval.high)


@lru_cache(maxsize=64)
def _stages(most: int, error: float, rate: float | None) -> Mapping[int, _Errors]:
    """Return the steps at which bounds are computed, and their errors."""
    at = sorted({math.ceil(most * number / _LOOKS) for number in range(1, _LOOKS + 1)})
    spent = [error * (step / most) ** _SPENT_LATE for step in at]
    if rate is None:
        errors = [_Errors(one, one) for one in of_normal_sum([one / most for one in at], spent)]
    else:
        both = (of_count(at, spent, value) for value in (rate, 1 - rate))
        errors = [_Errors(low, high) for low, high in zip(*both, strict=True)]
    return dict(zip(at, errors, strict=True))


def _scaled(question: LooksQuestion, value: float) -> float:
    return min(max((value - question.low) / (question.high - question.low), 0.0), 1.0)
