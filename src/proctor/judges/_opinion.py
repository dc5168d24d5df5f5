"""What a judge says of an item by a rubric, over its repeats, and the score and figures that come of it."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance
from typing import Any

import msgspec

from proctor.core.judge import Figure
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor.judges._ask import Answer
from proctor.judges._reading import Judgement
from proctor.judges._rubric_file import Rubric
from proctor.judges._showing import Shown

ROUNDING = 1e-9


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge says of one item, over its repeats.

    Attributes:
        points: the mean of each dimension on the scale; None where no repeat could tell.
        mean: the weighted mean on the scale; None where a dimension that counts is unknown.
        variance: of the means of the repeats; None where fewer than two of them have one.
        failed: repeats without a usable reply.
    """

    points: Mapping[str, float | None]
    mean: float | None
    means: tuple[float, ...] = ()
    variance: float | None = None
    comment: str = ""
    replies: tuple[str, ...] = ()
    usage: Usage = Usage()
    failed: int = 0

    @property
    def unknown(self) -> list[str]:
        """The dimensions that it could not tell."""
        return [name for name, points in self.points.items() if points is None]


def unjudged(shown: Shown, rubric: Rubric, characters: int) -> Score | Unscored | None:
    """What becomes of an item that no judge needs to see: an empty answer earns the least, one too long nothing."""
    if shown.is_empty:
        low = Opinion(points={one.name: rubric.low for one in rubric.dimensions}, mean=rubric.low)
        score = scored(low, rubric, "")
        return msgspec.structs.replace(score, reason=say("There is no answer to judge."))
    if shown.characters > characters:
        reason = say(
            "The item has {size} characters; more than {limit} are not given to a judge.",
            size=shown.characters,
            limit=characters,
        )
        return Unscored(why="not_applicable", reason=reason)
    return None


def scored(opinion: Opinion, rubric: Rubric, judge: str, **more: Any) -> Score | Unscored:
    """An opinion as a score; no score where a dimension that counts is unknown, unless the rubric leaves it out."""
    details = {
        "judge": judge,
        "rubric": rubric.name,
        "scale": list(rubric.scale),
        "mean": opinion.mean,
        "dimensions": dict(opinion.points),
        "means": list(opinion.means),
        "replies": list(opinion.replies),
        "failed_repeats": opinion.failed,
        "figures": _values(opinion, rubric),
        **more,
    }
    if opinion.mean is None:
        reason = say("The judge could not tell: {names}.", names=", ".join(opinion.unknown))
        return Unscored(why="not_applicable", reason=reason, details=details)
    passes = rubric.passing is None or opinion.mean >= rubric.passing - ROUNDING
    details |= {"passed": passes} if passes else {"passed": False, "error_class": "below_pass"}
    reason = say(
        "{mean} on a scale of {low} to {high} ({dimensions}). {comment}",
        mean=f"{opinion.mean:.4g}",
        low=f"{rubric.low:g}",
        high=f"{rubric.high:g}",
        dimensions=", ".join(f"{name} {'?' if one is None else f'{one:.3g}'}" for name, one in opinion.points.items()),
        comment=opinion.comment[:1_000],
    )
    width = rubric.high - rubric.low
    return Score(points=min(max(opinion.mean - rubric.low, 0.0), width), out_of=width, reason=reason, details=details)


def figures(rubric: Rubric, *, repeats: int = 1) -> tuple[Figure, ...]:
    """The numbers that come out of a run judged by a rubric, beside its score."""
    low, high = rubric.scale
    found = [Figure(name="average", low=low, high=high)]
    if rubric.passing is not None:
        found.append(Figure(name="pass_rate"))
    if rubric.excellent is not None:
        found.append(Figure(name="excellent_rate"))
    found.extend(Figure(name=one.name, low=low, high=high) for one in rubric.dimensions)
    found.append(Figure(name="unknown_rate"))
    if repeats > 1:
        found.append(Figure(name="judge_variance", high=(high - low) ** 2, failed=None))
    return tuple(found)


def weighted(points: Mapping[str, float | None], rubric: Rubric) -> float | None:
    """The mean of an item on the scale; None where what counts is unknown."""
    counted = {name: weight for name, weight in rubric.weights.items() if weight}
    told = {name: one for name in counted if (one := points.get(name)) is not None}
    if not told or (len(told) < len(counted) and rubric.unknown == "unscored"):
        return None
    total = math.fsum(counted[name] for name in told)
    mean = math.fsum(counted[name] * one for name, one in told.items()) / total
    return min(max(mean, rubric.low), rubric.high)


def together(answers: Sequence[Answer[Judgement]], failed: int, rubric: Rubric) -> Opinion:
    told = {
        one.name: [given for answer in answers if (given := answer.value.points[one.name]) is not None]
        for one in rubric.dimensions
    }
    points = {name: fmean(values) if values else None for name, values in told.items()}
    means = [mean for answer in answers if (mean := weighted(answer.value.points, rubric)) is not None]
    return Opinion(
        points=points,
        mean=weighted(points, rubric),
        means=tuple(means),
        variance=variance(means) if len(means) > 1 else None,
        comment=next((answer.value.comment for answer in answers if answer.value.comment), ""),
        replies=tuple(answer.reply for answer in answers),
        usage=sum((answer.usage for answer in answers), Usage()),
        failed=failed,
    )


def _values(opinion: Opinion, rubric: Rubric) -> dict[str, float]:
    """The figures of one item as shares: 0 is the lowest of each, 1 the highest."""
    width = rubric.high - rubric.low
    found = {name: (points - rubric.low) / width for name, points in opinion.points.items() if points is not None}
    found["unknown_rate"] = float(bool(opinion.unknown))
    if opinion.mean is not None:
        found["average"] = (opinion.mean - rubric.low) / width
        for name, threshold in (("pass_rate", rubric.passing), ("excellent_rate", rubric.excellent)):
            if threshold is not None:
                found[name] = float(opinion.mean >= threshold - ROUNDING)
    if opinion.variance is not None:
        found["judge_variance"] = opinion.variance / width**2
    return found
