"""Figures of GAIA in addition to the rate: how much the accuracy drops from level to level, and how long the right ones were."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, stdev

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Judged
from proctor.stats.distributions import t_quantile
from proctor.stats.estimate import PART_WITHOUT_INTERVAL
from proctor_benchmarks.gaia.ratio import ratio

SCORER = "gaia"
RATES = ("accuracy", f"{SCORER}.accuracy")  # the second where other scorers run as well


def summarise(estimates: Sequence[Estimate], judged: Judged) -> Sequence[Estimate]:
    """Return the relative drop from each level to the next, and the mean annotated steps of what was answered right."""
    levels = sorted(
        (int(estimate.slice.removeprefix("level=")), estimate)
        for estimate in estimates
        if estimate.name in RATES and estimate.slice.startswith("level=")
    )
    drops = [_drop(low, lower, high, higher) for (low, lower), (high, higher) in pairwise(levels)]
    return [*drops, steps_of_correct(judged)]


def steps_of_correct(judged: Judged, *, level: float = 0.95) -> Estimate:
    """Return the mean of the annotators' number of steps over the questions answered right, in at least one attempt.

    `planned` counts these questions, `scored` those of them that have a number of steps. The interval is Student's.
    """
    steps_by_id: dict[str, int | None] = {}
    for sample, verdict in judged():
        if verdict.scorer == SCORER and isinstance(verdict.result, Score) and verdict.result.value == 1:
            steps_by_id[sample.id] = sample.meta.get("steps")
    steps = [count for count in steps_by_id.values() if count is not None]
    value = fmean(steps) if steps else None
    error = stdev(steps) / math.sqrt(len(steps)) if len(steps) > 1 else None
    half = None if error is None else error * t_quantile((1 + level) / 2, len(steps) - 1)
    return Estimate(
        name="steps_of_correct",
        value=value,
        low=None if value is None or half is None else max(value - half, 0.0),
        high=None if value is None or half is None else value + half,
        level=level,
        method="t over samples" if half is not None else "no interval: fewer than two questions",
        scored=len(steps),
        planned=len(steps_by_id),
        clusters=len(steps),
        standard_error=error,
        note=say("annotated steps of the questions answered right"),
        unit="number",
    )


def _drop(low: int, lower: Estimate, high: int, higher: Estimate) -> Estimate:
    """(a_l - a_{l+1}) / a_l, undefined where a_l is 0; its interval is 1 less that of the ratio a_{l+1} / a_l."""
    value = None
    if lower.value and higher.value is not None:
        value = (lower.value - higher.value) / lower.value
    kept = None if value is None else ratio(higher, lower)
    without = (
        "no interval: the first rate may be 0" if lower.low is not None and lower.low <= 0 else PART_WITHOUT_INTERVAL
    )
    return Estimate(
        name="drop",
        value=value,
        low=None if kept is None else 1 - kept.high,
        high=None if kept is None else 1 - kept.low,
        slice=f"level={low}-{high}",
        level=lower.level,
        method="ratio of two rates" if kept is not None else without,
        scored=lower.scored + higher.scored,
        planned=lower.planned + higher.planned,
        note="" if value is not None else "undefined",
    )
