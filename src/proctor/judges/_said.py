"""What each judge of a jury said of one item, and what is recorded of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor.judges._opinion import Opinion
from proctor.judges._panel import Rule, Vote, combined
from proctor.judges._rubric_file import Rubric

COMMENT_CHARACTERS = 600


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge of a jury says of one item: an opinion, or why there is none."""

    name: str
    weight: float
    opinion: Opinion | None = None
    failed: str = ""

    @property
    def vote(self) -> Vote | None:
        """Its vote on the whole; None where it abstains or failed."""
        if self.opinion is None or self.opinion.mean is None:
            return None
        return Vote(points=self.opinion.mean, weight=self.weight)


def votes_of(said: Sequence[Said]) -> list[Vote]:
    return [vote for one in said if (vote := one.vote) is not None]


def as_text(opinion: Opinion) -> str:
    points = ", ".join(f"{name} {'unknown' if one is None else f'{one:g}'}" for name, one in opinion.points.items())
    return f"{points}\n{opinion.comment[:COMMENT_CHARACTERS]}"


def joint(said: Sequence[Said], rubric: Rubric, rule: Rule, trim: float) -> Opinion:
    """What the judges say together, of each dimension and of the whole; some of them have to have voted."""
    points: dict[str, float | None] = {}
    for dimension in rubric.dimensions:
        told = [
            Vote(points=value, weight=one.weight)
            for one in said
            if one.opinion is not None and (value := one.opinion.points[dimension.name]) is not None
        ]
        points[dimension.name] = combined(told, rule, trim=trim) if told else None
    comments = [f"{one.name}: {one.opinion.comment}" for one in said if one.opinion and one.opinion.comment]
    return Opinion(points=points, mean=combined(votes_of(said), rule, trim=trim), comment="\n".join(comments))


def with_usage(new: Said, old: Said) -> Said:
    if new is old or new.opinion is None or old.opinion is None:
        return new
    return replace(new, opinion=replace(new.opinion, usage=new.opinion.usage + old.opinion.usage))


def record(one: Said, before: Usage) -> dict[str, Any]:
    if one.opinion is None:
        return {"failed": one.failed, "tokens": before.input_tokens + before.output_tokens, "cost": before.cost}
    usage = one.opinion.usage + before
    return {
        "mean": one.opinion.mean,
        "points": dict(one.opinion.points),
        "comment": one.opinion.comment[:COMMENT_CHARACTERS],
        "replies": list(one.opinion.replies),
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost": usage.cost,
    }


def no_quorum(said: Sequence[Said], details: dict[str, Any]) -> Unscored:
    """Half of the judges or more gave no points: failed where one of them failed or was left out, else they could not tell."""
    failed = {one.name: one.failed for one in said if one.failed}
    if failed or details.get("excluded"):
        reason = say(
            "Too few judges of the jury gave a judgement. Failed: {failed}; left out after the controls: {excluded}.",
            failed=", ".join(f"{name} ({kind})" for name, kind in failed.items()) or "-",
            excluded=", ".join(details.get("excluded", ())) or "-",
        )
        return Unscored(why="judge_failed", reason=reason, details={"kind": "no_quorum", **details})
    return Unscored(why="not_applicable", reason=say("Half of the judges or more could not tell."), details=details)


def by_vote(result: Score | Unscored, vote: bool | None) -> Score | Unscored:
    """The score of a vote: passed is everything, failed nothing."""
    if isinstance(result, Unscored) or vote is None:
        return result
    details = {**result.details, "passed": vote}
    details["figures"] = {**details["figures"], "pass_rate": float(vote)}
    if vote:
        details.pop("error_class", None)
    else:
        details["error_class"] = "below_pass"
    return replace(result, points=float(vote), out_of=1.0, details=details)


def with_figures(result: Score | Unscored, details: Mapping[str, Any]) -> Score | Unscored:
    found = dict(result.details.get("figures", {}))
    if details["confidence"] is not None:
        found["confidence"] = details["confidence"]
        for name in ("moderate", "severe"):
            found[f"{name}_disagreement_rate"] = float(details["disagreement"] == name)
    found["arbitrated_rate"] = float(details.get("arbitrated", False))
    return replace(result, details={**result.details, "figures": found})
