"""Find when a repeated measurement changed: a look after every run, with a bounded rate of false alarms.

While nothing changes, the values of a unit (a sample, or a cluster of them) in the runs since the last change could have come
in any order: given all of them, each is as likely to be the newest. So a bet that the newest are lower is fair, exactly for
right or wrong answers, and a little worse than fair for points (Bennett's bound with their own variance). Given what comes
later, the bets on earlier runs are fair too; so for each run the chance that any product of bets ending with it reaches A is
at most 1 / A (Ville's inequality, backwards in time): a false alarm in A runs, on average. No spread is assumed, and no
baseline is taken for the truth.

Sources: Page 1954 (CUSUM); Vovk et al., arXiv 2102.10439 (exchangeability tests that find a change); Shin, Ramdas and
Rinaldo, arXiv 2203.03532 (e-detectors); Bennett 1962.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from proctor.core.errors import BadInput

Direction = Literal["down", "up"]
SIZES = (
    0.02,
    0.05,
    0.1,
    0.2,
)  # of the changes that bets are made for; each has an equal share of the chance of an alarm


class DriftUnit(NamedTuple):
    """What a unit earned in a run: the mean of its samples, and how many they are."""

    value: float
    samples: float = 1.0


Units = Mapping[str, DriftUnit]


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was found, by positions of runs.

    Attributes:
        begin: the first run of those before the change, back to the last one.
        since: the first run after it, as far as the runs show: where the means before and after lie apart the clearest.
        found: the run that showed it.
        before, after: the means of the units that were measured on both sides.
        chance: of so much evidence at a run if nothing changed, at most.
    """

    direction: Direction
    begin: int
    since: int
    found: int
    before: float
    after: float
    chance: float


class Detector:
    """Takes the runs one by one, and returns the change that each shows, if any."""

    def __init__(self, runs_per_alarm: float) -> None:
        """Begin without a run.

        Args:
            runs_per_alarm: in each direction, the number of runs with one false alarm among them on average, at most.

        Raises:
            BadInput: it is not more than 1.
        """
        if not 1 < runs_per_alarm < math.inf:
            raise BadInput("A false alarm in {count} runs: the number of runs must be above 1.", count=runs_per_alarm)
        self._share = 1 / len(SIZES)
        self._least = math.log(runs_per_alarm / self._share)
        self._runs: list[Units] = []
        self._begin_at(0)

    def add(self, run: Units) -> Shift | None:
        """Take the next run. When it shows a change, the runs since then are those that later ones are compared with."""
        at = len(self._runs)
        self._runs.append(run)
        self._know(run)
        terms = [_Term(unit, self._known[name]) for name, unit in run.items()]
        terms = [term for term in terms if term.spread > 0]
        spread = sum((term.weight * term.spread) ** 2 for term in terms)
        if not spread:
            return None
        weight = sum(unit.samples for unit in run.values())
        for bet in self._bets:
            bet.add(at, terms, bet.size * weight / spread)
        best = max(self._bets, key=lambda bet: bet.log)
        if best.log < self._least:
            return None
        since = max(range(max(best.since, self._begin + 1), at + 1), key=lambda one: self._gap(one, best.direction))
        before, after = self._runs[self._begin : since], self._runs[since:]
        first, second = _means(before, after)
        shift = Shift(
            direction=best.direction,
            begin=self._begin,
            since=since,
            found=at,
            before=first,
            after=second,
            chance=math.exp(-best.log) / self._share,
        )
        self._begin_at(since)
        for each in after:
            self._know(each)
        return shift

    def _gap(self, position: int, direction: Direction) -> float:
        """Return how far the runs from a position on lie beyond those before it, in errors of that difference, up to a factor."""
        before, after = self._runs[self._begin : position], self._runs[position:]
        first, second = _means(before, after)
        gap = first - second if direction == "down" else second - first
        return gap * math.sqrt(len(before) * len(after) / (len(before) + len(after)))

    def _begin_at(self, position: int) -> None:
        self._begin = position
        self._known: dict[str, _Values] = {}
        self._bets = [_Bet(direction, size) for direction in _DIRECTIONS for size in SIZES]

    def _know(self, run: Units) -> None:
        for name, unit in run.items():
            self._known.setdefault(name, _Values()).add(unit.value)


class _Values:
    """Sums of the values of a unit in the runs since the last change."""

    __slots__ = ("count", "least", "most", "squares", "total")

    def __init__(self) -> None:
        self.count, self.total, self.squares, self.least, self.most = 0, 0.0, 0.0, math.inf, -math.inf

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value
        self.least = min(self.least, value)
        self.most = max(self.most, value)


class _Term:
    """The value of a unit among all its values, the newest with them."""

    __slots__ = ("mean", "spread", "value", "values", "weight")

    def __init__(self, unit: DriftUnit, values: _Values) -> None:
        self.weight, self.value, self.values = unit.samples, unit.value, values
        self.mean = values.total / values.count
        same = values.least == values.most
        self.spread = 0.0 if same else math.sqrt(max(values.squares / values.count - self.mean**2, 0.0))


class _Bet:
    """The product of the bets on changes of one size in one direction since it last began, as a logarithm."""

    __slots__ = ("direction", "log", "since", "size")

    def __init__(self, direction: Direction, size: float) -> None:
        self.direction, self.size, self.log, self.since = direction, size, 0.0, 0

    def add(self, at: int, terms: Sequence[_Term], stake: float) -> None:
        """Multiply by what the bet on a run earned; at most the fair amount, by Bennett's bound."""
        if self.log <= 0:
            self.log, self.since = 0.0, at
        is_down = self.direction == "down"
        for term in terms:
            end = term.values.least if is_down else term.values.most
            reach, rate, variance = abs(term.mean - end), stake * term.weight, term.spread**2
            rest = math.exp(-rate * (reach + variance / reach))
            self.log -= rate * abs(term.value - end) + math.log((variance + reach**2 * rest) / (variance + reach**2))


_DIRECTIONS: tuple[Direction, ...] = ("down", "up")


def _means(before: Sequence[Units], after: Sequence[Units]) -> tuple[float, float]:
    means = []
    for runs in (before, after):
        known: dict[str, list[float]] = {}
        weights: dict[str, float] = {}
        for run in runs:
            for name, unit in run.items():
                known.setdefault(name, []).append(unit.value)
                weights[name] = unit.samples
        means.append(({name: math.fsum(values) / len(values) for name, values in known.items()}, weights))
    (first, _), (second, weights) = means
    both = [name for name in second if name in first]
    whole = sum(weights[name] for name in both) or 1.0
    return (
        math.fsum(first[name] * weights[name] for name in both) / whole,
        math.fsum(second[name] * weights[name] for name in both) / whole,
    )
