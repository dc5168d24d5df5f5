"""Compare two to six runs of a task: the first one with each of the others."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Annotated

import msgspec

from proctor.core.errors import BadInput
from proctor.core.trajectory import Usage
from proctor.reports.compare import RunComparison, compare_several, scorers_in_common
from proctor.reports.matching import earned_by_sample, match_samples, metric_of, untested_row
from proctor.reports.verdicts import MetricRow, Untested, decide_each, gate
from proctor.stats import power
from proctor.stats.paired import Decision
from proctor_ci.looks.intervals import decision_between
from proctor_ci.trends import ALPHA
from proctor_web.comparing.background import Background
from proctor_web.comparing.columns import Columns, Group, Overlap, group_counts, overlap, read_columns
from proctor_web.workspace import Found, Workspace

MOST_RUNS = 6
LETTERS = "ABCDEF"
DETECT = (2.0, 5.0, 10.0)  # points
Points = Annotated[float, msgspec.Meta(gt=0, le=100)]


class CompareGiven(msgspec.Struct, frozen=True, kw_only=True):
    """The runs to compare, the first one with the others.

    Attributes:
        scorer: whose values are compared first; the first that all runs have by default.
        detect: a difference in points; the answer says how many samples find it.
        margin: points by which another run may be worse; the answer decides whether it is.
    """

    run: tuple[str, ...] = ()
    scorer: str = ""
    detect: Points | None = None
    margin: Points | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Runs by their references, the first one compared with each of the others.

    Attributes:
        comparisons: of the second run, the third, … with the first.
        needed: for each of them, how many samples find differences of some sizes; fewer where these samples cannot say.
        decisions: for each of them, whether it is no worse by more than the margin, where one was given.
        usage: the tokens, requests and money spent on each run.
        groups: samples by what any of the others did to them.
        overlaps: of each two runs.
        pairwise: of more than two runs, the difference of each two that have a scored sample in common.
    """

    runs: tuple[str, ...]
    scorer: str
    comparisons: tuple[RunComparison, ...]
    needed: tuple[tuple[power.Needed, ...], ...]
    decisions: tuple[Decision, ...]
    usage: tuple[Usage, ...]
    groups: Mapping[Group, int]
    overlaps: tuple[Overlap, ...]
    pairwise: tuple["PairRow", ...] = ()


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two runs, by their positions: the second less the first; all tests are corrected by Holm together."""

    first: int
    second: int
    row: MetricRow


class Kept(msgspec.Struct, frozen=True):
    """What takes long to compute of some runs, whatever is asked about it."""

    scorer: str
    comparisons: Sequence[RunComparison]
    columns: Columns
    overlaps: Sequence[Overlap]
    usage: Sequence[Usage]
    pairwise: Sequence[PairRow]


def compare_runs(workspace: Workspace, given: CompareGiven) -> Compared:
    """Compare two to six runs on the same samples."""
    runs = find_runs(workspace, given.run)
    return describe(runs, kept(workspace, runs, given.scorer), given)


def find_runs(workspace: Workspace, references: Sequence[str]) -> list[Found]:
    """Return the runs to compare.

    Raises:
        BadInput: fewer than two, more than six, or one twice.
    """
    runs = [workspace.find_run(reference) for reference in references]
    if not 2 <= len(runs) <= MOST_RUNS:
        raise BadInput("Two to {most} runs can be compared; {count} were given.", most=MOST_RUNS, count=len(runs))
    if len({run.reference for run in runs}) < len(runs):
        raise BadInput("A run cannot be compared with itself.")
    return runs


def kept(workspace: Workspace, runs: Sequence[Found], scorer: str, *, seconds: float | None = None) -> Kept:
    """Return what is computed of these runs.

    Raises:
        StillComputing: that takes longer than `seconds`.
    """
    key = ("compare", scorer, *(run.reference for run in runs))
    return workspace.kept(Background).result(key, runs, partial(_compute, scorer=scorer), seconds=seconds)


def describe(runs: Sequence[Found], found: Kept, given: CompareGiven) -> Compared:
    """Return what was asked about the runs."""
    mains = [comparison.rows[0] for comparison in found.comparisons]
    sizes = sorted({*DETECT, *([given.detect] if given.detect else [])})
    return Compared(
        runs=tuple(run.reference for run in runs),
        scorer=found.scorer,
        comparisons=tuple(found.comparisons),
        needed=tuple(
            tuple(needed for size in sizes if (needed := power.to_detect(main.difference, size / 100)) is not None)
            for main in mains
        ),
        decisions=tuple(gate(main, given.margin / 100) for main in mains) if given.margin else (),
        usage=tuple(found.usage),
        groups=group_counts(found.columns),
        overlaps=tuple(found.overlaps),
        pairwise=tuple(found.pairwise),
    )


def compare_each_two(runs: Sequence[Found], scorer: str) -> Mapping[tuple[int, int], MetricRow]:
    """Return the difference of each two runs, by their positions; all tests are corrected by Holm together.

    Two runs without a scored sample in common are left out.
    """
    earned = [earned_by_sample(run.record, run.store, scorer) for run in runs]
    drafts: dict[tuple[int, int], Untested] = {}
    for first, second in combinations(range(len(runs)), 2):
        planned, _ = match_samples(runs[first].record, runs[second].record, earned[first], earned[second])
        matches = list(planned.values())
        if any(match.pair is not None for match in matches):
            drafts[first, second] = untested_row(metric_of(matches), "", matches, level=1 - ALPHA)
    decided = decide_each([[draft] for draft in drafts.values()], ALPHA)
    return {pair: rows[0] for pair, rows in zip(drafts, decided, strict=True)}


def position(letter: str, runs: Sequence[Found]) -> int:
    """Return the position of the run that a letter names; 0 for none.

    Raises:
        BadInput: it names none of the others.
    """
    if letter and letter not in [*LETTERS[1 : len(runs)]]:
        raise BadInput("'{letter}' names none of the runs that are compared with the first.", letter=letter)
    return LETTERS.index(letter) if letter else 0


def _compute(runs: Sequence[Found], scorer: str) -> Kept:
    known = scorers_in_common([run.record for run in runs])
    if scorer and scorer not in known:
        raise BadInput("No scorer '{scorer}' scored all of these runs.", scorer=scorer)
    scorer = scorer or known[0]
    sides = [(run.record, run.store) for run in runs]
    columns = read_columns(runs, scorer)
    columns.flags(0)
    return Kept(
        scorer,
        compare_several(
            sides[0], sides[1:], scorers=[scorer, *(name for name in known if name != scorer)], decided=decision_between
        ),
        columns,
        [overlap(columns, first, second) for first, second in combinations(range(len(runs)), 2)],
        [run.store.usage(run.record.id) for run in runs],
        [
            PairRow(first=first, second=second, row=row)
            for (first, second), row in (compare_each_two(runs, scorer) if len(runs) > 2 else {}).items()
        ],
    )
