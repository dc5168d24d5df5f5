"""Compute the mean of each dimension on its own scale, with an interval over scenarios.

Samples of one scenario share its goals, and the episode of one seat resembles that of the other, so that the unit is the
scenario. The official margin, which takes episodes of a scenario as independent, is in the note.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.task import Judged
from proctor.stats.estimate import estimate
from proctor_benchmarks.sotopia.averages import EpisodeResult, averages
from proctor_benchmarks.sotopia.ratings import OVERALL, RANGES

PUBLISHED = ("social_rules", "secret", "financial_and_material_benefits", "relationship", "knowledge", "goal", "believability")  # fmt: skip
SCALES: Mapping[str, tuple[float, float]] = {name: RANGES[name] for name in PUBLISHED} | {
    OVERALL: (
        sum(low for low, _ in RANGES.values()) / len(RANGES),
        sum(high for _, high in RANGES.values()) / len(RANGES),
    )
}


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:
    """Return the mean of each dimension, and of the official overall score, over all attempts."""
    ratings: dict[tuple[str, str], list[Mapping[str, float]]] = defaultdict(list)
    results: list[EpisodeResult] = []
    for sample, verdict in judged():
        if isinstance(verdict.result, Score) and "ratings" in verdict.result.details:
            points = verdict.result.details["ratings"]
            cluster = sample.cluster or sample.id
            ratings[cluster, sample.id].append(points)
            seat = int(sample.meta["seat"] != 0)
            results.append(EpisodeResult(cluster, ("", "" if seat else "agent"), (points, points)))
    if not ratings:
        return []
    planned = next((figure.planned for figure in estimates if not figure.slice), 0)
    missing = max(0, planned - len(results))
    margins = averages(results, "agent")[1] if len(results) > 1 else {}
    return [_dimension(name, ratings, missing, margins.get(name)) for name in SCALES]


def _dimension(
    name: str, ratings: Mapping[tuple[str, str], Sequence[Mapping[str, float]]], missing: int, margin: float | None
) -> Estimate:
    low, high = SCALES[name]
    width = high - low
    cases = [
        Case(cluster=cluster, values=tuple((points[name] - low) / width for points in several), planned=len(several))
        for (cluster, _), several in ratings.items()
    ]
    figure = estimate(name, tally([*cases, Case(cluster="", values=(), planned=missing)]))

    def on_scale(value: float | None) -> float | None:
        return None if value is None else low + value * width

    return replace(
        figure,
        value=on_scale(figure.value),
        low=on_scale(figure.low),
        high=on_scale(figure.high),
        floor=on_scale(figure.floor),
        ceiling=on_scale(figure.ceiling),
        standard_error=None if figure.standard_error is None else figure.standard_error * width,
        unit="number",
        note=say("{low} to {high}; official margin {margin}", low=f"{low:.3g}", high=f"{high:.3g}", margin="-" if margin is None else f"{margin:.3g}"),
    )  # fmt: skip
