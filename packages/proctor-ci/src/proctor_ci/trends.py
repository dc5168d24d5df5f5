"""Follow one agent on one task over time: when its number changed, which runs moved, and what was changed before they did.

A change is looked for after every run, on the samples that it shares with the runs since the last change (`proctor_ci.stats.drift`); a
run that measures otherwise, as its task, data, scorers or judge are others, begins again. Besides, runs are compared one by
one. With a baseline the question is whether the agent is worse (or better) than it now: the newest run is tested first, at
the full level, and then the one before it, for as long as a difference is found. Without one, each run is tested against the
one before, and Holm corrects all these tests together.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from proctor.api import numbers
from proctor.api.baselines import baselines, find_against
from proctor.api.prepare import open_existing
from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.registry import offered, unknown
from proctor.reports.matching import Earned, earned_by_sample, match_samples, metric_of, untested_row
from proctor.reports.same_task import check_baseline
from proctor.reports.verdicts import MetricRow, Untested, decide_each, decide_in_order
from proctor_ci.changes import Change, changes_between
from proctor_ci.gate import blocking_changes
from proctor_ci.stats.drift import Detector, Direction, DriftUnit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHA = 0.05
TESTED = 50  # newest runs; of others only the numbers are shown
RUNS_PER_ALARM = 100.0


class TrendGiven(msgspec.Struct, frozen=True, kw_only=True):
    """The agent and the task to follow; by default those of the newest run.

    `baseline` is a run, or the name of one, that all others are compared with; without it each is compared with the one
    before.
    """

    task: str = ""
    agent: str = ""
    baseline: str = ""
    last: Annotated[int, msgspec.Meta(ge=2, le=200)] = 50


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A run of the trend.

    Attributes:
        against: the run that it is compared with, '' for none; `row` is then the paired difference, None where the two
            have no scored sample in common, or measure differently.
        changes: what differs from the run before in what was run.
        begins: True if it measures otherwise than the run before, so that no change is looked for between them.
    """

    run: str
    run_id: str
    created: float
    state: str
    estimate: Estimate | None
    against: str
    row: MetricRow | None
    changes: tuple[Change, ...]
    begins: bool = False


class TrendShift(msgspec.Struct, frozen=True, kw_only=True):
    """A detected change of the number, with its position and size.

    Attributes:
        since: the first run after it, as far as the runs show; `found` is the run that showed it.
        runs: those before the change that the mean `before` is of; `after` is that of the runs since then.
        chance: of so much evidence at a run if nothing had changed, at most.
        changes: what was changed between the last run before and the first one after.
    """

    direction: Direction
    since: str
    found: str
    runs: int
    before: float
    after: float
    chance: float
    changes: tuple[Change, ...] = ()


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of an agent on a task, the oldest first; `named` are the baselines among all runs of the task, by name.

    Attributes:
        shifts: the changes found among the newest `tested` runs, the oldest first.
        runs_per_alarm: in that number of runs a false change is found once at most, in each direction.
    """

    task: str
    tasks: tuple[str, ...]
    agent: str
    agents: tuple[str, ...]
    named: dict[str, str]
    baseline: str = ""
    baseline_estimate: Estimate | None = None
    scorer: str = ""
    points: tuple[TrendPoint, ...] = ()
    shifts: tuple[TrendShift, ...] = ()
    earlier: int = 0
    tested: int = 0
    runs_per_alarm: float = RUNS_PER_ALARM

    @property
    def marks(self) -> Mapping[str, str]:
        """Return which runs, by name, are shown to be `better` or `worse`, or began a rise or a fall."""
        moved = {point.run: point.row.outcome for point in self.points if point.row is not None}
        begun = {shift.since: "worse" if shift.direction == "down" else "better" for shift in self.shifts}
        return {run: outcome for run, outcome in moved.items() if outcome != "inconclusive"} | begun

    def plot(self, *, lang: str | None = None) -> "Figure":
        """Return a figure of matplotlib: the runs over time with their intervals; needs the extra `plots`."""
        points = [
            (point.estimate, point.created, self.marks.get(point.run, ""))
            for point in self.points
            if point.estimate is not None
        ]
        figure: Figure = offered("views", "draw_trend", needed_for="plot")(
            points, self.baseline_estimate, f"{self.task} · {self.agent}", lang
        )
        return figure


class Followed(Protocol):
    """A run in a store; `reference` is how it is named here."""

    @property
    def record(self) -> RunRecord: ...

    @property
    def store(self) -> Store: ...

    @property
    def reference(self) -> str: ...


R = TypeVar("R", bound=Followed)


class TrendRuns(NamedTuple, Generic[R]):
    """The runs of a trend, the oldest first, with what is known before they are read."""

    trend: Trend
    shown: Sequence[R]
    baseline: R | None


class TrendRun(NamedTuple):
    """A run of a store, by its id."""

    store: Store
    record: RunRecord

    @property
    def reference(self) -> str:
        return self.record.id


def trends(
    task: str = "",
    *,
    agent: str = "",
    baseline: str = "",
    last: int = 50,
    store: str | Store | None = None,
) -> Trend:
    """Follow an agent on a task over time, by default the agent and the task of the newest run.

    Args:
        task: its name, or what was typed to run it.
        baseline: a run, or the name of one, that all others are compared with; by default each is with the one before.
        last: how many runs are shown, at most; the newest fifty are tested.

    Raises:
        BadInput: no run of this task, or of this agent, has ended; the nearest name is suggested.
    """
    opened = open_existing(store)
    runs = sorted((TrendRun(opened, record) for record in opened.runs()), key=lambda run: -run.record.created)
    chosen = choose(runs, task, agent, last, baseline, lambda name: TrendRun(opened, find_against(opened, name).record))
    if not chosen.shown:
        if task and chosen.trend.task not in chosen.trend.tasks:
            raise unknown("task with a run that ended", task, chosen.trend.tasks, paths=False)
        if agent:
            raise unknown("agent with a run of this task", agent, chosen.trend.agents, paths=False)
        raise BadInput("No run has ended yet. A trend shows the runs of one agent on one task over time.")
    return follow(chosen)


def choose(
    runs: Sequence[R], task: str, agent: str, last: int, baseline: str, find: Callable[[str], R]
) -> TrendRuns[R]:
    """Choose the runs of a trend among all, the newest first.

    Args:
        find: returns the run of a reference.

    Raises:
        BadInput: the baseline is of another task.
    """
    runs = [run for run in runs if run.record.state not in ("running", "copying")]
    tasks = tuple(dict.fromkeys(run.record.task for run in runs))
    if task not in tasks:  # it may be what was typed to run it: a path, a file
        task = next((run.record.task for run in runs if not task or task == run.record.spec.task), task)
    of_task = [run for run in runs if run.record.task == task]
    agents = tuple(dict.fromkeys(run.record.agent for run in of_task))
    agent = agent or next(iter(agents), "")
    of_agent = [run for run in of_task if run.record.agent == agent]
    shown = of_agent[:last][::-1]
    named = {name: run.reference for name, run in named_baselines(of_task)}
    against = find(named.get(baseline, baseline)) if baseline else None
    if against is not None:
        check_baseline(against.record, task)
    trend = Trend(
        task=task,
        tasks=tasks,
        agent=agent,
        agents=agents,
        named=named,
        baseline=against.reference if against else "",
        earlier=len(of_agent) - len(shown),
        tested=min(len(shown), TESTED),
    )
    return TrendRuns(trend, shown, against)


def named_baselines(runs: Sequence[R]) -> Iterator[tuple[str, R]]:
    """Yield the baselines among these runs, with their names."""
    by_place = {(id(run.store), run.record.id): run for run in runs}
    for store in {id(run.store): run.store for run in runs}.values():
        with suppress(BadInput):  # a store that broke meanwhile; the list of runs says so
            for name, run_id in baselines(store).items():
                if (run := by_place.get((id(store), run_id))) is not None:
                    yield name, run


def follow(chosen: TrendRuns[R]) -> Trend:
    """Fill a trend with its runs: their numbers, what moved, and what was changed."""
    trend, runs, baseline = chosen
    scorer = runs[-1].record.main_scorer
    first = len(runs) - trend.tested  # that is tested
    earned = {at: earned_by_sample(runs[at].record, runs[at].store, scorer) for at in range(first, len(runs))}
    rows = _rows(runs, baseline, earned, scorer)
    begins = {at for at in range(max(first, 1), len(runs)) if blocking_changes(runs[at], runs[at - 1])}
    points = []
    before: R | None = None
    for at, run in enumerate(runs):
        against = baseline or before
        is_compared = at >= first and against is not None and against.reference != run.reference
        points.append(
            TrendPoint(
                run=run.reference,
                run_id=run.record.id,
                created=run.record.created,
                state=run.record.state,
                estimate=main_estimate(run, scorer),
                against=against.reference if against is not None and is_compared else "",
                row=rows.get(at),
                changes=changes_between(before.record, run.record) if before is not None else (),
                begins=at in begins,
            )
        )
        before = run
    return msgspec.structs.replace(
        trend,
        scorer=scorer,
        points=tuple(points),
        shifts=tuple(_shifts(runs, earned, begins, trend.runs_per_alarm)),
        baseline_estimate=main_estimate(baseline, scorer) if baseline is not None else None,
    )


def main_estimate(run: Followed, scorer: str) -> Estimate | None:
    """Return the number of a scorer over the whole run; None where nothing was scored."""
    if scorer not in run.record.scorers:
        return None
    estimate = numbers.headline(run.record, run.store, scorer)
    return estimate if estimate is not None and not estimate.slice and estimate.value is not None else None


def find_shifts(runs: Sequence[R], runs_per_alarm: float) -> list[TrendShift]:
    """Find the changes in runs of one agent on one task, the oldest first, by their first scorer.

    Args:
        runs_per_alarm: a false one is found once in that number of runs at most, in each direction.
    """
    scorer = runs[-1].record.main_scorer if runs else ""
    earned = {at: earned_by_sample(run.record, run.store, scorer) for at, run in enumerate(runs)}
    begins = {at for at in range(1, len(runs)) if blocking_changes(runs[at], runs[at - 1])}
    return [*_shifts(runs, earned, begins, runs_per_alarm)]


def _rows(
    runs: Sequence[R], baseline: R | None, earned: Mapping[int, Mapping[str, Earned]], scorer: str
) -> Mapping[int, MetricRow]:
    """Return the paired differences of the runs that are tested, by position; two that measure differently have none."""
    drafts: dict[int, Untested] = {}
    fixed = None if baseline is None else earned_by_sample(baseline.record, baseline.store, scorer)
    for at, new in earned.items():
        against, old = (baseline, fixed) if baseline is not None else (runs[at - 1], earned.get(at - 1))
        if old is None or against is None or against.reference == runs[at].reference:
            continue
        if blocking_changes(runs[at], against):
            continue
        matches = list(match_samples(against.record, runs[at].record, old, new)[0].values())
        if any(match.pair is not None for match in matches):
            drafts[at] = untested_row(metric_of(matches), "", matches, level=1 - ALPHA)
    if not drafts:
        return {}
    if baseline is not None:
        return dict(zip([*drafts][::-1], decide_in_order([*drafts.values()][::-1], ALPHA), strict=True))
    decided = decide_each([[draft] for draft in drafts.values()], ALPHA)
    return {at: row for at, (row,) in zip(drafts, decided, strict=True)}


def _shifts(
    runs: Sequence[R], earned: Mapping[int, Mapping[str, Earned]], begins: set[int], runs_per_alarm: float
) -> Iterator[TrendShift]:
    detector = Detector(runs_per_alarm)
    seen: list[int] = []
    for at, samples in earned.items():
        if at in begins:
            detector, seen = Detector(runs_per_alarm), []
        record = runs[at].record
        units = {} if record.state == "inconclusive" or record.taken_over else units_of(samples)
        if not units:
            continue  # an outage is no change of the agent, and the trials of other runs are no new ones
        seen.append(at)
        shift = detector.add(units)
        if shift is not None:
            since, last = seen[shift.since], seen[shift.since - 1]
            yield TrendShift(
                direction=shift.direction,
                since=runs[since].reference,
                found=runs[at].reference,
                runs=shift.since - shift.begin,
                before=shift.before,
                after=shift.after,
                chance=shift.chance,
                changes=changes_between(runs[last].record, runs[since].record),
            )


def units_of(samples: Mapping[str, Earned]) -> dict[str, DriftUnit]:
    """Return what each cluster earned that has a scored sample."""
    means: dict[str, list[float]] = {}
    for sample in samples.values():
        if sample.attempts:
            means.setdefault(sample.cluster, []).append(sample.mean)
    return {name: DriftUnit(math.fsum(values) / len(values), len(values)) for name, values in means.items()}
