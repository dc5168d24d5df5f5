"""Compare each two of some runs on the samples that both scored."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from proctor.reports.matching import earned_by_sample, match_samples, metric_of, untested_row
from proctor.reports.verdicts import MetricRow, Untested, decide_each
from proctor_ci.trends import ALPHA
from proctor_web.workspace import Found


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
