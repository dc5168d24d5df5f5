"""Figures of GAIA beside the rate: how much the accuracy drops from level to level."""

from collections.abc import Sequence
from itertools import pairwise

from proctor.core.run import Estimate


def summarise(estimates: Sequence[Estimate]) -> Sequence[Estimate]:
    """The relative drop from each level to the next: (a_l - a_{l+1}) / a_l, undefined where a_l is 0."""
    levels = sorted(
        (int(one.slice.removeprefix("level=")), one)
        for one in estimates
        if one.name == "accuracy" and one.slice.startswith("level=")
    )
    return [_drop(low, lower, high, higher) for (low, lower), (high, higher) in pairwise(levels)]


def _drop(low: int, lower: Estimate, high: int, higher: Estimate) -> Estimate:
    value = None
    if lower.value and higher.value is not None:
        value = (lower.value - higher.value) / lower.value
    return Estimate(
        name="drop",
        value=value,
        slice=f"level={low}-{high}",
        method="relative drop of accuracy",
        scored=lower.scored + higher.scored,
        planned=lower.planned + higher.planned,
        note="" if value is not None else "undefined",
    )
