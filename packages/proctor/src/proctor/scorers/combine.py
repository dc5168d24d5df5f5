"""One score out of several: the weighted mean of the parts, and 0 when one of them is below its minimum.

[scorers.translation]
kind = "combine"
parts = [
    { scorer = "chrf", weight = 2 },
    { scorer = "keywords", weight = 1, minimum = 0.5 },
]
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import Find, ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, listed, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.composite import Composite, Result, together
from proctor.scorers.lookup import find_scorer


class CombinedPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One part: a name, or from Python a function too.

    minimum: a share below which the whole is 0. types: the kinds of question (`meta["type"]`) it counts for;
    all when empty.
    """

    scorer: Any
    weight: float = 1.0
    minimum: float | None = None
    types: tuple[str, ...] = ()


class CombineOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parts. If one of them gives no score, there is none (`unscored`), or the others decide (`left_out`)."""

    parts: tuple[CombinedPart, ...]
    missing: Literal["unscored", "left_out"] = "unscored"


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    scorer: Scorer
    part: CombinedPart


def make(options: Mapping[str, Any], find: Find = find_scorer) -> Scorer:
    """Make a scorer with `CombineOptions`.

    Raises:
        BadInput: no parts, an unknown scorer, weights that add up to nothing.
    """
    if not options.get("parts"):
        raise BadInput('combine: give the parts, for example parts = [{ scorer = "exact", weight = 1 }].')
    chosen = converted(options, CombineOptions, "combine")
    if any(part.weight < 0 for part in chosen.parts) or not sum(part.weight for part in chosen.parts) > 0:
        raise BadInput("combine: weights are 0 or more, and one of them more than 0.")
    parts = [_found(part, find) for part in chosen.parts]

    def score(sample: Sample, trajectory: Trajectory) -> Result | Awaitable[Result]:
        counted = [one for one in parts if not one.part.types or sample.known.type in one.part.types]
        results = [one.scorer(sample, trajectory) for one in counted]
        return together(results, lambda found: _combined(counted, found, trajectory, chosen))

    return Composite(score, [one.scorer for one in parts])


def _found(part: CombinedPart, find: Find) -> _Found:
    scorer = find(part.scorer) if isinstance(part.scorer, str) else part.scorer
    if not callable(scorer):
        raise BadInput(
            "'{name}' is no scorer: expected a function (sample, trajectory) -> Score.", name=repr(part.scorer)
        )
    name = part.scorer if isinstance(part.scorer, str) else getattr(scorer, "__name__", type(scorer).__name__)
    return _Found(name=name, scorer=scorer, part=part)


def _combined(
    parts: Sequence[_Found], results: Sequence[Result], trajectory: Trajectory, options: CombineOptions
) -> Result:
    details: dict[str, object] = {}
    told: list[Sentence] = []
    low: list[str] = []
    points = weights = 0.0
    for part, result in zip(parts, results, strict=True):
        if isinstance(result, Unscored):
            if options.missing == "unscored":
                reason = say("The part {name} gave no score: {reason}", name=part.name, reason=result.reason)
                return Unscored(why=result.why, reason=reason, details=details)
            continue
        details[part.name] = {"value": result.value, "weight": part.part.weight, "reason": str(result.reason)}
        told.append(_told(part, result))
        points += result.value * part.part.weight
        weights += part.part.weight
        if part.part.minimum is not None and result.value < part.part.minimum:
            low.append(f"{part.name} {result.value:.2f} < {part.part.minimum:g}")
    if not weights:
        return Unscored(why="not_applicable", reason=say("No part gave a score that counts here."), details=details)
    if low:
        reason = say("Below the minimum: {low}. Parts: {parts}", low=", ".join(low), parts=listed(told))
        return Score(points=0, answer=trajectory.answer, reason=reason, details={"parts": details})
    reason = say("Weighted mean of the parts: {parts}", parts=listed(told))
    value = min(round(points / weights, 12), 1.0)
    return Score(points=value, answer=trajectory.answer, reason=reason, details={"parts": details})


def _told(one: _Found, score: Score) -> Sentence:
    return say(
        "{name} {value} × {weight} ({reason})",
        name=one.name,
        value=f"{score.value:.2f}",
        weight=f"{one.part.weight:g}",
        reason=score.reason or "-",
    )


PART = ScorerPart(combine=make, options=CombineOptions)
