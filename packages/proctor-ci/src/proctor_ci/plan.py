"""Plan a run before it is made: how many samples and attempts decide a question, and what they cost.

Variances come from stored runs of the task: between samples and between attempts of one run for a threshold, of the paired
differences of two runs for a difference. What is not stored is assumed, and said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.api import resolve
from proctor.api.baselines import find_against
from proctor.api.prepare import at
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord, Selection
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.engine.selection import choose
from proctor.registry import offered
from proctor.reports.same_task import check_baseline
from proctor.stats.planning import Spread, least_samples, power_to_compare
from proctor_ci.spending import Spending, spending
from proctor_ci.spreads import KnownSpread, is_whole, spread_of_one, spread_of_two
from proctor_ci.stats.passing import power_to_pass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTEMPTS = (1, 2, 3, 4, 5, 8, 10)
ERROR = 0.05
POWER = 0.8
SHARES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # of the curve


class PlannedSize(msgspec.Struct, frozen=True, kw_only=True):
    """A number of samples and attempts, with its power and its cost.

    Attributes:
        trials: of all runs that have to be made.
        low, high: the samples that would have the power, as far as the variances are known; None where that is not said.
        money, tokens, minutes: None where nothing is known of them.
    """

    samples: int
    attempts: int
    power: float
    trials: int
    low: int | None = None
    high: int | None = None
    money: float | None = None
    tokens: float | None = None
    minutes: float | None = None


class SamplePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The samples, attempts and cost that answer a question.

    Attributes:
        difference, threshold: the question: a difference of two runs; or a threshold that is shown to be reached by an agent
            that is better than it by `difference`.
        error: of the test of a difference on both sides, or of the lower bound of a threshold.
        against: the run that is the baseline and is not made again; None where two runs are made.
        total: the samples of the task.
        choices: for each number of attempts the fewest samples with the power, which may be more than the task has.
        best: the one with the fewest trials that the task has the samples for; None where there is none.
        curve: power by the number of samples, with the attempts of the best choice.
        smallest: the difference that all samples of the task would find with that power, with the most attempts.
        measured, assumed: what all this rests on.
        pilot: the samples from which the spread of differences is known; None where it is assumed, or that of one run.
    """

    task: str
    difference: float
    threshold: float | None
    power: float
    error: float
    against: str | None
    total: int
    choices: tuple[PlannedSize, ...]
    best: PlannedSize | None
    curve: tuple[PlannedSize, ...]
    smallest: float | None
    spread: Spread
    spending: Spending
    measured: tuple[Sentence, ...] = ()
    assumed: tuple[Sentence, ...] = ()
    pilot: int | None = None

    def plot(self, *, lang: str | None = None) -> "Figure":
        """Return a figure of matplotlib: power by the number of samples; needs the extra `plots`."""
        beyond = self.choices[:1] if self.best is None else ()  # more samples than the task has
        shown, enough = (*self.curve, *beyond), next(iter(beyond), self.best)
        points = [(size.samples, size.power) for size in shown]
        figure: Figure = offered("views", "draw_power", needed_for="plot")(
            points, self.power, None if enough is None else enough.samples, self.task, lang
        )
        return figure


def plan(
    task: resolve.TaskLike,
    *,
    detect: float | None = None,
    threshold: float | None = None,
    against: str | None = None,
    power: float = POWER,
    error: float = ERROR,
    attempts: int | None = None,
    agent: str | None = None,
    options: Mapping[str, Any] | None = None,
    store: str | Store | None = None,
) -> SamplePlan:
    """Say how many samples and attempts find a difference, or show that a threshold is reached, and what they cost.

    Args:
        task: what is to be run.
        detect: the smallest difference that matters, 0 to 1; with a threshold, how far above it the agent is.
        threshold: a mean of the first scorer, 0 to 1; without `detect` the agent is taken to be as in the newest run.
        against: the baseline, a run of the task or its name; without one, two runs are planned.
        power: the chance that the question is decided.
        error: the chance of a wrong finding.
        attempts: plan with this many only.
        agent: whose runs say what a trial takes; by default, all.
        options: of the task.
        store: where the runs are.

    Raises:
        BadInput: numbers that cannot be, or a baseline of another task.
    """
    _check(detect, threshold, against, power, error)
    loaded, named = resolve.task(task, options or {})
    chosen = choose(loaded, Selection(), 0)
    runs = _runs(opened := at(store), named.name, options or {})
    baseline = None if against is None else _baseline(opened, against, loaded.name)
    if baseline is not None:
        runs = [baseline, *(run for run in runs if run.id != baseline.id)]
    difference, known = _spread(runs, baseline, threshold, detect)
    question = _Question(
        task=named.name,
        difference=difference,
        threshold=threshold,
        power=power,
        error=error,
        known=known,
        cost=spending(loaded, chosen.read(), runs, agent),
        baseline=None if baseline is None else baseline.record,
        total=chosen.strata.total,
    )
    return question.plan((attempts,) if attempts is not None else ATTEMPTS if known.attempts_known else (1,))


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be decided, with what is known of the variances and of the cost of a trial.

    Attributes:
        baseline: the run that is compared with, and is not made again.
        total: the samples of the task.
    """

    task: str
    difference: float
    threshold: float | None
    power: float
    error: float
    known: KnownSpread
    cost: Spending
    baseline: RunRecord | None
    total: int

    def plan(self, tried: Sequence[int]) -> SamplePlan:
        """Return the plan, for these numbers of attempts."""
        choices = tuple(self.choices(tried))
        best = min(
            (size for size in choices if size.samples <= self.total),
            key=lambda size: (size.trials, size.attempts),
            default=None,
        )
        return SamplePlan(
            task=self.task,
            difference=self.difference,
            threshold=self.threshold,
            power=self.power,
            error=self.error,
            against=None if self.baseline is None else self.baseline.id,
            total=self.total,
            choices=choices,
            best=best,
            curve=tuple(self.curve(best, tried[-1])),
            smallest=self.smallest(tried[-1]),
            spread=self.known.spread,
            spending=self.cost,
            measured=(*self.known.measured, *self.cost.measured),
            assumed=(*self.known.assumed, *self.cost.assumed),
            pilot=self.known.pilot,
        )

    def choices(self, tried: Sequence[int]) -> Iterator[PlannedSize]:
        """Yield for each number of attempts the fewest samples with the power."""
        for attempts in tried:
            count = self._least(attempts, self.known.spread)
            if count is not None:
                ends = [
                    self._least(attempts, self.known.spread.scaled(end)) for end in (self.known.low, self.known.high)
                ]
                yield msgspec.structs.replace(self._size(count, attempts), low=ends[0], high=ends[1])

    def curve(self, best: PlannedSize | None, attempts: int) -> Iterator[PlannedSize]:
        """Yield what shares of the task would decide, with the attempts of the best choice."""
        counts = {max(round(self.total * share), 2) for share in SHARES}
        if best is not None:
            counts, attempts = counts | {best.samples}, best.attempts
        yield from (self._size(count, attempts) for count in sorted(counts) if count <= self.total)

    def smallest(self, attempts: int) -> float | None:
        """Return the smallest distance that all samples of the task would find, None where there is none."""

        def power_of(distance: float) -> float:
            return self._power(self.total, attempts, self.known.spread, distance)

        return _smallest(power_of, self.power, self.threshold)

    def _least(self, attempts: int, spread: Spread) -> int | None:
        def power_of(count: int) -> float:
            return self._power(count, attempts, spread, self.difference)

        return least_samples(power_of, self.power)

    def _power(self, count: int, attempts: int, spread: Spread, distance: float) -> float:
        if self.threshold is not None:
            return power_to_pass(count, attempts, spread, self.threshold, self.threshold + distance, error=self.error)
        return power_to_compare(count, attempts, spread, distance, alpha=self.error)

    def _size(self, count: int, attempts: int) -> PlannedSize:
        trials = count * attempts * (2 if self.threshold is None and self.baseline is None else 1)
        if self.baseline is not None and self.threshold is None:
            owned = self.baseline.planned // max(self.baseline.spec.attempts, 1)
            trials += max(count - owned, 0) * self.baseline.spec.attempts
        power = self._power(count, attempts, self.known.spread, self.difference)
        return PlannedSize(
            samples=count, attempts=attempts, power=power, trials=trials, low=None, high=None, **self.cost.of(trials)
        )


def _spread(
    runs: Sequence[Run], baseline: Run | None, threshold: float | None, detect: float | None
) -> tuple[float, KnownSpread]:
    """Return the difference that is to be found, and how far numbers spread as far as stored runs tell."""
    whole_first = sorted(runs, key=lambda run: not is_whole(run))
    if threshold is not None:
        value = _true_value(runs, threshold, detect)
        return value - threshold, spread_of_one(whole_first, value)
    assert detect is not None
    return detect, spread_of_two(whole_first, baseline)


def _baseline(store: Store, against: str, task: str) -> Run:
    baseline = find_against(store, against)
    check_baseline(baseline.record, task)
    return baseline


def _runs(store: Store, task: str, options: Mapping[str, object]) -> list[Run]:
    """Return the runs of a task that ended, the newest first: those with the same options, if there are any."""
    runs = [
        Run(record, store)
        for record in sorted(store.runs(), key=lambda record: record.created, reverse=True)
        if record.spec.task == task and record.state not in ("running", "copying") and record.scorers
    ]
    return [run for run in runs if run.record.spec.task_options == options] or runs


def _check(detect: float | None, threshold: float | None, against: str | None, power: float, error: float) -> None:
    if detect is None and threshold is None:
        raise BadInput("Say what is to be decided: --detect 0.03 for a difference of 3 points, or --threshold 0.85.")
    if detect is not None and not 0 < detect < 1:
        raise BadInput(
            "The difference to find lies between 0 and 1, as 0.03 for 3 points; it is {value}.", value=detect
        )
    if threshold is not None and not 0 < threshold < 1:
        raise BadInput("A threshold lies between 0 and 1, as 0.85; it is {value}.", value=threshold)
    if threshold is not None and detect is not None and threshold + detect > 1:
        raise BadInput("No agent is better than {threshold} by {value}.", threshold=threshold, value=detect)
    if None not in (threshold, against):
        raise BadInput("A threshold needs no baseline: leave out --threshold, or --against.")
    if not 0.5 <= power < 1:
        raise BadInput("The power lies between 0.5 and 1, as 0.8; it is {value}.", value=power)
    if not 0 < error < 0.5:
        raise BadInput("The error lies between 0 and 0.5, as 0.05; it is {value}.", value=error)


def _true_value(runs: Sequence[Run], threshold: float, detect: float | None) -> float:
    if detect is not None:
        return threshold + detect
    headline = next((run.headline for run in runs if run.headline is not None), None)
    if headline is None or headline.value is None or headline.unit != "share":
        raise BadInput(
            "No stored run of the task says how good the agent is: add --detect, how far above the threshold."
        )
    if headline.value <= threshold:
        raise BadInput(
            "The newest run has {value}, which is not above {threshold}: name with --detect how far above it an agent should be to be passed.",
            value=f"{headline.value:.3f}",
            threshold=threshold,
        )
    return headline.value


def _smallest(power_of: Callable[[float], float], power: float, threshold: float | None) -> float | None:
    """Return the smallest distance with this power, None where there is none."""
    low, high = 0.0, 0.999 - (threshold or 0.0)
    if high <= 0 or power_of(high) < power:
        return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high
