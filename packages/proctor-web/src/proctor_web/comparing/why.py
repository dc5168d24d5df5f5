"""Say why the number of one run is another one than that of a run before, without scoring anything again."""

from functools import partial

import msgspec

from proctor.api.run import Run
from proctor_ci.delta import Delta, explain_delta
from proctor_web.comparing.background import Background
from proctor_web.comparing.comparison import find_runs
from proctor_web.workspace import Found, Workspace


class WhyGiven(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, the earlier first; `by` is the tag that names slices, the one of the draw by default."""

    run: tuple[str, ...] = ()
    scorer: str = ""
    by: str = ""


def explain_difference(workspace: Workspace, given: WhyGiven, *, seconds: float | None = None) -> Delta:
    """Say why the number of the second run differs from that of the first: parts that sum to the difference.

    Where the version of the scorer differs, only verdicts that the store has are used.
    """
    runs = find_runs(workspace, given.run[:2])
    key = ("why", given.scorer, given.by, *(run.reference for run in runs))
    make = partial(_explain, scorer=given.scorer, by=given.by)
    return workspace.kept(Background).result(key, runs, make, seconds=seconds)


def _explain(runs: list[Found], *, scorer: str, by: str) -> Delta:
    first, second = (Run(run.record, run.store) for run in runs)
    return explain_delta(first, second, scorer=scorer, by=by or None, rescore=False)
