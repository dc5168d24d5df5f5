"""Ratings of items by people or judges, on one scale."""

import math
from collections.abc import Iterable, Mapping
from statistics import fmean

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor.core.trial import Verdict

AVERAGE = "average"
PASSES = "pass_rate"
PEOPLE = "people"
NO_POINTS = (PASSES, "excellent_rate", "unknown_rate", "judge_variance")  # figures that are not points of an item


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """The lowest and the highest points."""

    low: float = 1.0
    high: float = 5.0

    def points(self, share: float) -> float:
        return self.low + share * (self.high - self.low)

    def share(self, points: float) -> float:
        """Return points as a share of the scale.

        Raises:
            BadInput: points off the scale.
        """
        if not self.low <= points <= self.high:
            raise BadInput(
                "A label gives {points} points; the scale goes from {low} to {high}. Name the scale of the labels: --scale LOW,HIGH.",
                points=f"{points:g}",
                low=f"{self.low:g}",
                high=f"{self.high:g}",
            )
        return (points - self.low) / (self.high - self.low)


class Rated(msgspec.Struct, frozen=True, kw_only=True):
    """One rating of an item by a person or a judge: points by dimension, and whether the item passes."""

    item: str
    rater: str
    points: Mapping[str, float] = {}
    passed: bool | None = None

    def values(self) -> dict[str, float]:
        """Return all that can be compared, by name; passing is 1 or 0."""
        return {**self.points, **({} if self.passed is None else {PASSES: float(self.passed)})}


def of_verdicts(verdicts: Iterable[Verdict], rater: str, scale: Scale) -> list[Rated]:
    """Return the ratings of a scorer, from the figures in its verdicts; several attempts at an item are averaged.

    A scorer without figures says whether an item passes, where its values are all 0 or 1, and else its average points.
    """
    scores = [(verdict.sample_id, verdict.result) for verdict in verdicts if isinstance(verdict.result, Score)]
    plain = PASSES if all(score.value in (0, 1) for _, score in scores) else AVERAGE
    shares: dict[str, dict[str, list[float]]] = {}
    for item, score in scores:
        of_item = shares.setdefault(item, {})
        for name, share in (score.known.figures or {plain: score.value}).items():
            of_item.setdefault(name, []).append(float(share))
    return [
        Rated(
            item=item,
            rater=rater,
            points={name: scale.points(fmean(values)) for name, values in of_item.items() if name not in NO_POINTS},
            passed=fmean(of_item[PASSES]) >= 0.5 if PASSES in of_item else None,
        )
        for item, of_item in shares.items()
    ]


def with_average(rated: Rated, weights: Mapping[str, float]) -> Rated:
    """Add the weighted mean of its points; unchanged where a dimension that counts was not rated."""
    counted = {name: weight for name, weight in weights.items() if weight} or dict.fromkeys(rated.points, 1.0)
    if not counted or not counted.keys() <= rated.points.keys():
        return rated
    mean = math.fsum(weight * rated.points[name] for name, weight in counted.items()) / math.fsum(counted.values())
    return replace(rated, points={**rated.points, AVERAGE: mean})


def together(rated: Iterable[Rated], rater: str = PEOPLE) -> list[Rated]:
    """Return one joint rating of each item: the mean points, and whether all raters pass it."""
    by_item: dict[str, list[Rated]] = {}
    for rating in rated:
        by_item.setdefault(rating.item, []).append(rating)
    found = []
    for item, several in by_item.items():
        names = dict.fromkeys(name for rating in several for name in rating.points)
        passed = [rating.passed for rating in several if rating.passed is not None]
        found.append(
            Rated(
                item=item,
                rater=rater,
                points={
                    name: fmean(rating.points[name] for rating in several if name in rating.points) for name in names
                },
                passed=all(passed) if passed else None,
            )
        )
    return found
