"""Follow one agent on one task over time: which runs moved, and what was changed before they did.

With a baseline the question is whether the agent is worse (or better) than it now: the newest run is tested first, at the
full level, and then the one before it, for as long as a difference is found. Without one, each run is tested against the
one before, and Holm corrects all these tests together.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

import msgspec

from proctor.api.baselines import baselines
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.reports.changes import Change, changes_between
from proctor.reports.matching import Earned, earned_by_sample, match_samples, metric_of, untested_row
from proctor.reports.verdicts import Row, Untested, decide_each, decide_in_order
from proctor.web.comparing.background import Background
from proctor.web.comparing.leaderboard import ALPHA, main_estimate
from proctor.web.workspace import Found, Workspace


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
            have no scored sample in common.
        changes: what differs from the run before in what was run.
    """

    run: str
    run_id: str
    created: float
    state: str
    estimate: Estimate | None
    against: str
    row: Row | None
    changes: tuple[Change, ...]


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of an agent on a task, the oldest first; `named` are the baselines among all runs of the task, by name."""

    task: str
    tasks: tuple[str, ...]
    agent: str
    agents: tuple[str, ...]
    named: dict[str, str]
    baseline: str = ""
    baseline_estimate: Estimate | None = None
    scorer: str = ""
    points: tuple[TrendPoint, ...] = ()
    earlier: int = 0


def follow_task(workspace: Workspace, given: TrendGiven) -> Trend:
    """Return the runs of an agent on a task over time, with what moved and what was changed."""
    found = follow_task_soon(workspace, given, seconds=None)
    assert found is not None
    return found


def follow_task_soon(workspace: Workspace, given: TrendGiven, *, seconds: float | None) -> Trend | None:
    """Return the runs of an agent over time; None if that takes longer than `seconds`."""
    runs = [run for run in workspace.runs()[0] if run.record.state not in ("running", "copying")]
    tasks = tuple(dict.fromkeys(run.record.task for run in runs))
    task = given.task or next(iter(tasks), "")
    of_task = [run for run in runs if run.record.task == task]
    agents = tuple(dict.fromkeys(run.record.agent for run in of_task))
    agent = given.agent or next(iter(agents), "")
    of_agent = [run for run in of_task if run.record.agent == agent]
    shown = of_agent[: given.last][::-1]
    named = {name: run.reference for name, run in named_baselines(of_task)}
    baseline = _baseline(workspace, given.baseline, named, task)
    trend = Trend(
        task=task,
        tasks=tasks,
        agent=agent,
        agents=agents,
        named=named,
        baseline=baseline.reference if baseline else "",
        earlier=len(of_agent) - len(shown),
    )
    if not shown:
        return trend
    key = ("trend", baseline.reference if baseline else "", *(run.reference for run in shown))
    runs = [*shown, *([baseline] if baseline else [])]
    return workspace.kept(Background).result(key, runs, partial(_follow, trend=trend), version=trend, seconds=seconds)


def named_baselines(runs: Sequence[Found]) -> Iterator[tuple[str, Found]]:
    """Yield the baselines among these runs, with their names."""
    by_place = {(id(run.store), run.record.id): run for run in runs}
    for store in {id(run.store): run.store for run in runs}.values():
        with suppress(BadInput):  # a store that broke meanwhile; the list of runs says so
            for name, run_id in baselines(store).items():
                if (run := by_place.get((id(store), run_id))) is not None:
                    yield name, run


def _baseline(workspace: Workspace, given: str, named: dict[str, str], task: str) -> Found | None:
    if not given:
        return None
    found = workspace.find_run(named.get(given, given))
    if found.record.task != task:
        raise BadInput("The baseline {run} is of another task: {task}.", run=found.record.id, task=found.record.task)
    return found


def _follow(everything: Sequence[Found], trend: Trend) -> Trend:
    """Fill a trend with its runs; a baseline comes last, after them."""
    runs, baseline = (everything[:-1], everything[-1]) if trend.baseline else (everything, None)
    scorer = next(iter(runs[-1].record.scorers), "")
    drafts = dict(_drafts(runs, baseline, scorer))
    rows: dict[int, Row] = {}
    if baseline is not None:
        rows = dict(zip([*drafts][::-1], decide_in_order([*drafts.values()][::-1], ALPHA), strict=True))
    elif drafts:
        decided = decide_each([[draft] for draft in drafts.values()], ALPHA)
        rows = {at: row for at, (row,) in zip(drafts, decided, strict=True)}
    points = []
    before: Found | None = None
    for at, run in enumerate(runs):
        against = baseline or before
        points.append(
            TrendPoint(
                run=run.reference,
                run_id=run.record.id,
                created=run.record.created,
                state=run.record.state,
                estimate=main_estimate(run, scorer),
                against=against.reference if against and against.reference != run.reference else "",
                row=rows.get(at),
                changes=changes_between(before.record, run.record) if before else (),
            )
        )
        before = run
    return msgspec.structs.replace(
        trend,
        scorer=scorer,
        points=tuple(points),
        baseline_estimate=main_estimate(baseline, scorer) if baseline else None,
    )


def _drafts(runs: Sequence[Found], baseline: Found | None, scorer: str) -> Iterator[tuple[int, Untested]]:
    """Yield the difference of each run from the baseline, or from the run before, where they have a scored sample in common."""
    against, old = baseline, _earned(baseline, scorer) if baseline else {}
    for at, run in enumerate(runs):
        new = old if against and run.reference == against.reference else _earned(run, scorer)
        if against is not None and run.reference != against.reference:
            matches = list(match_samples(against.record, run.record, old, new)[0].values())
            if any(match.pair is not None for match in matches):
                yield at, untested_row(metric_of(matches), "", matches, level=1 - ALPHA)
        if baseline is None:
            against, old = run, new


def _earned(run: Found, scorer: str) -> dict[str, Earned]:
    return earned_by_sample(run.record, run.store, scorer)
