"""Follow one agent on one task over time, for a page that does not wait."""

from collections.abc import Sequence
from functools import partial

from proctor_ci.trends import Trend, TrendGiven, TrendRuns, choose, follow
from proctor_web.comparing.background import Background
from proctor_web.workspace import Found, Workspace


def follow_task(workspace: Workspace, given: TrendGiven, *, seconds: float | None = None) -> Trend:
    """Return the runs of an agent on a task over time, with what moved and what was changed."""
    runs = workspace.runs()[0]
    trend, shown, baseline = choose(runs, given.task, given.agent, given.last, given.baseline, workspace.find_run)
    if not shown:
        return trend
    key = ("trend", trend.baseline, *(run.reference for run in shown))
    runs = [*shown, *([baseline] if baseline else [])]
    return workspace.kept(Background).result(key, runs, partial(_follow, trend), version=trend, seconds=seconds)


def _follow(trend: Trend, runs: Sequence[Found]) -> Trend:
    """Fill a trend with its runs; a baseline comes last, after them."""
    return follow(TrendRuns(trend, runs[:-1], runs[-1]) if trend.baseline else TrendRuns(trend, runs, None))
