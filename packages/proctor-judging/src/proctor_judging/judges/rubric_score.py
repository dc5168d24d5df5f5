"""Compute the score and the numbers of an item from a judgement by a rubric."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance

from msgspec.structs import replace

from proctor.core.judge import JudgedFigure
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor_judging.judges.judge_prompt import ShownTexts
from proctor_judging.judges.judgement_parsing import RubricJudgement
from proctor_judging.judges.rubric_file import JudgeRubric

ROUNDING = 1e-9


def unjudged(shown: ShownTexts, rubric: JudgeRubric, characters: int) -> Score | Unscored | None:
    """Return the verdict without a judge: the lowest score for an empty item, unscored for one that it cannot see or is too long; else None."""
    if shown.is_unseen:
        reason = say("The answer is nothing but files, which the judge is not shown.")
        return Unscored(why="no_evidence", reason=reason, details=shown.details)
    if shown.is_empty:
        low = RubricJudgement(points={dimension.name: rubric.low for dimension in rubric.dimensions}, mean=rubric.low)
        score = to_score(low, rubric, "")
        return replace(score, reason=say("There is no answer to judge."))
    if shown.characters > characters:
        reason = say(
            "The item has {size} characters; more than {limit} are not given to a judge.",
            size=shown.characters,
            limit=characters,
        )
        return Unscored(why="no_evidence", reason=reason)
    return None


def to_score(judgement: RubricJudgement, rubric: JudgeRubric, judge: str, **more: object) -> Score | Unscored:
    """Return the score of a judgement; unscored if a counted dimension is unknown, unless the rubric allows that."""
    details = {
        "judge": judge,
        "rubric": rubric.name,
        "scale": list(rubric.scale),
        "mean": judgement.mean,
        "dimensions": dict(judgement.points),
        "means": list(judgement.means),
        "replies": list(judgement.replies),
        "failed_repeats": judgement.failed,
        "figures": _values(judgement, rubric),
        **more,
    }
    if judgement.mean is None:
        reason = say("The judge could not tell: {names}.", names=", ".join(judgement.unknown))
        return Unscored(why="no_evidence", reason=reason, details=details)
    passes = rubric.passing is None or judgement.mean >= rubric.passing - ROUNDING
    details |= {"passed": passes} if passes else {"passed": False, "error_class": "below_pass"}
    reason = say(
        "{mean} on a scale of {low} to {high} ({dimensions}). {comment}",
        mean=f"{judgement.mean:.4g}",
        low=f"{rubric.low:g}",
        high=f"{rubric.high:g}",
        dimensions=", ".join(
            f"{name} {'?' if point is None else f'{point:.3g}'}" for name, point in judgement.points.items()
        ),
        comment=judgement.comment[:1_000],
    )
    width = rubric.high - rubric.low
    return Score(points=min(max(judgement.mean - rubric.low, 0.0), width), out_of=width, reason=reason, details=details)


def figures(rubric: JudgeRubric, *, repeats: int = 1) -> tuple[JudgedFigure, ...]:
    """Return the numbers of a run that was judged by a rubric, in addition to its score."""
    low, high = rubric.scale
    judged_figures = [JudgedFigure(name="average", low=low, high=high)]
    if rubric.passing is not None:
        judged_figures.append(JudgedFigure(name="pass_rate"))
    if rubric.excellent is not None:
        judged_figures.append(JudgedFigure(name="excellent_rate"))
    judged_figures.extend(JudgedFigure(name=dimension.name, low=low, high=high) for dimension in rubric.dimensions)
    judged_figures.append(JudgedFigure(name="unknown_rate"))
    if repeats > 1:
        judged_figures.append(JudgedFigure(name="judge_variance", high=(high - low) ** 2, failed=None))
    return tuple(judged_figures)


def weighted(points: Mapping[str, float | None], rubric: JudgeRubric) -> float | None:
    """Return the mean of an item on the scale; None where a dimension that counts is unknown."""
    counted = {name: weight for name, weight in rubric.weights.items() if weight}
    known = {name: point for name in counted if (point := points.get(name)) is not None}
    if not known or (len(known) < len(counted) and rubric.unknown == "unscored"):
        return None
    total = math.fsum(counted[name] for name in known)
    mean = math.fsum(counted[name] * point for name, point in known.items()) / total
    return min(max(mean, rubric.low), rubric.high)


def average(repeats: Sequence[RubricJudgement], failed: int, rubric: JudgeRubric) -> RubricJudgement:
    """Return the mean over the repeats of one judge; `failed` is the number of repeats without a usable reply."""
    known = {
        dimension.name: [given for repeat in repeats if (given := repeat.points[dimension.name]) is not None]
        for dimension in rubric.dimensions
    }
    points = {name: fmean(values) if values else None for name, values in known.items()}
    means = [mean for repeat in repeats if (mean := weighted(repeat.points, rubric)) is not None]
    return RubricJudgement(
        points=points,
        mean=weighted(points, rubric),
        means=tuple(means),
        variance=variance(means) if len(means) > 1 else None,
        comment=next((repeat.comment for repeat in repeats if repeat.comment), ""),
        replies=tuple(reply for repeat in repeats for reply in repeat.replies),
        usage=sum((repeat.usage for repeat in repeats), Usage()),
        failed=failed,
    )


def _values(judgement: RubricJudgement, rubric: JudgeRubric) -> dict[str, float]:
    """Return the figures of one item as shares: 0 is the lowest of each, 1 the highest."""
    width = rubric.high - rubric.low
    values = {name: (points - rubric.low) / width for name, points in judgement.points.items() if points is not None}
    values["unknown_rate"] = float(bool(judgement.unknown))
    if judgement.mean is not None:
        values["average"] = (judgement.mean - rubric.low) / width
        for name, threshold in (("pass_rate", rubric.passing), ("excellent_rate", rubric.excellent)):
            if threshold is not None:
                values[name] = float(judgement.mean >= threshold - ROUNDING)
    if judgement.variance is not None:
        values["judge_variance"] = judgement.variance / width**2
    return values
