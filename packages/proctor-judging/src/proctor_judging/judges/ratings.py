"""Ratings of items by people or judges, on one scale."""

import math
from collections.abc import Container, Iterable, Mapping
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


AnswerKey = tuple[str, int | None]


class Rated(msgspec.Struct, frozen=True, kw_only=True):
    """One rating of an item by a person or a judge: points by dimension, and whether the item passes.

    Attributes:
        attempt: at the sample `item`; None where the item holds the answer, or where nobody says which attempt was rated.
    """

    item: str
    rater: str
    points: Mapping[str, float] = {}
    passed: bool | None = None
    attempt: int | None = None

    @property
    def key(self) -> AnswerKey:
        """Return what was rated."""
        return self.item, self.attempt

    def values(self) -> dict[str, float]:
        """Return all that can be compared, by name; passing is 1 or 0."""
        return {**self.points, **({} if self.passed is None else {PASSES: float(self.passed)})}


def of_verdicts(verdicts: Iterable[Verdict], rater: str, scale: Scale, *, answered: Container[str] = ()) -> list[Rated]:
    """Return the ratings of a scorer, from the figures in its verdicts.

    A scorer without figures says whether an item passes, where its values are all 0 or 1, and else its average points.

    Args:
        answered: the samples that hold the answer, which each attempt rates again: those ratings are averaged.
    """
    scores = [
        ((verdict.sample_id, None if verdict.sample_id in answered else verdict.attempt), verdict.result)
        for verdict in verdicts
        if isinstance(verdict.result, Score)
    ]
    plain = PASSES if all(score.value in (0, 1) for _, score in scores) else AVERAGE
    shares: dict[AnswerKey, dict[str, list[float]]] = {}
    for key, score in scores:
        of_answer = shares.setdefault(key, {})
        for name, share in (score.known.figures or {plain: score.value}).items():
            of_answer.setdefault(name, []).append(float(share))
    return [
        Rated(
            item=item,
            attempt=attempt,
            rater=rater,
            points={name: scale.points(fmean(values)) for name, values in of_answer.items() if name not in NO_POINTS},
            passed=fmean(of_answer[PASSES]) >= 0.5 if PASSES in of_answer else None,
        )
        for (item, attempt), of_answer in shares.items()
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
    by_answer: dict[AnswerKey, list[Rated]] = {}
    for rating in rated:
        by_answer.setdefault(rating.key, []).append(rating)
    joint = []
    for (item, attempt), several in by_answer.items():
        names = dict.fromkeys(name for rating in several for name in rating.points)
        passed = [rating.passed for rating in several if rating.passed is not None]
        joint.append(
            Rated(
                item=item,
                attempt=attempt,
                rater=rater,
                points={
                    name: fmean(rating.points[name] for rating in several if name in rating.points) for name in names
                },
                passed=all(passed) if passed else None,
            )
        )
    return joint
