"""Combine the votes of a jury on one item, and measure how far they are apart."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor_judging.judges.judgement_parsing import RubricJudgement
from proctor_judging.judges.rubric_file import JudgeRubric

Rule = Literal["mean", "median", "trimmed", "majority"]
Band = Literal["low", "moderate", "severe"]
MODERATE, SEVERE = 0.25, 0.5  # of the width of the scale: more than 1 and more than 2 points on a scale of 1 to 5
COMMENT_CHARACTERS = 600


class JuryVote(msgspec.Struct, frozen=True, kw_only=True):
    """The points of one judge, and how much it counts."""

    points: float
    weight: float = 1.0


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """The vote of one judge of a jury on one item: a judgement, or why there is none."""

    name: str
    weight: float
    judgement: RubricJudgement | None = None
    failed: str = ""

    @property
    def vote(self) -> JuryVote | None:
        """Return its vote on the whole item; None if it abstained or failed."""
        if self.judgement is None or self.judgement.mean is None:
            return None
        return JuryVote(points=self.judgement.mean, weight=self.weight)


def combine(votes: Sequence[JuryVote], rule: Rule, *, trim: float = 0.2) -> float:
    """Combine the points of several judges; `majority` takes their median, as it votes on passing only.

    >>> votes = [JuryVote(points=1), JuryVote(points=4), JuryVote(points=5), JuryVote(points=5)]
    >>> combine(votes, "mean"), combine(votes, "median"), combine(votes, "trimmed")
    (3.75, 4.5, 4.5)
    """
    if rule in ("median", "majority"):
        return _weighted_median(votes)
    if rule == "trimmed" and len(votes) > 2:
        out = min(max(1, int(trim * len(votes))), (len(votes) - 1) // 2)
        votes = sorted(votes, key=lambda vote: vote.points)[out:-out]
    total = math.fsum(vote.weight for vote in votes)
    if not total:  # those that count were trimmed away
        return median(vote.points for vote in votes)
    return math.fsum(vote.weight * vote.points for vote in votes) / total


def majority(votes: Sequence[JuryVote], threshold: float) -> bool | None:
    """True if more than half of the weight reaches the threshold, False if more than half does not, None for a tie.

    >>> majority([JuryVote(points=5), JuryVote(points=4), JuryVote(points=1)], 3.5)
    True
    """
    total = math.fsum(vote.weight for vote in votes)
    above = math.fsum(vote.weight for vote in votes if vote.points >= threshold - 1e-9)
    if math.isclose(above * 2, total):
        return None
    return above * 2 > total


def spread(votes: Sequence[JuryVote]) -> float | None:
    """Return the difference between the highest and the lowest vote; None for a single vote."""
    points = [vote.points for vote in votes]
    return max(points) - min(points) if len(points) > 1 else None


def band(apart: float, width: float) -> Band:
    """Return the degree of disagreement of judges that far apart on a scale of that width.

    >>> [band(apart, 4) for apart in (1, 2, 3)]
    ['low', 'moderate', 'severe']
    """
    share = apart / width
    if share <= MODERATE + 1e-9:
        return "low"
    return "moderate" if share <= SEVERE + 1e-9 else "severe"


def votes_of(said: Sequence[Ballot]) -> list[JuryVote]:
    return [vote for ballot in said if (vote := ballot.vote) is not None]


def to_text(judgement: RubricJudgement) -> str:
    points = ", ".join(
        f"{name} {'unknown' if point is None else f'{point:g}'}" for name, point in judgement.points.items()
    )
    return f"{points}\n{judgement.comment[:COMMENT_CHARACTERS]}"


def join(said: Sequence[Ballot], rubric: JudgeRubric, rule: Rule, trim: float) -> RubricJudgement:
    """Return the joint judgement, by dimension and in total; at least one judge has voted."""
    points: dict[str, float | None] = {}
    for dimension in rubric.dimensions:
        told = [
            JuryVote(points=value, weight=ballot.weight)
            for ballot in said
            if ballot.judgement is not None and (value := ballot.judgement.points[dimension.name]) is not None
        ]
        points[dimension.name] = combine(told, rule, trim=trim) if told else None
    comments = [
        f"{ballot.name}: {ballot.judgement.comment}" for ballot in said if ballot.judgement and ballot.judgement.comment
    ]
    return RubricJudgement(points=points, mean=combine(votes_of(said), rule, trim=trim), comment="\n".join(comments))


def add_usage(new: Ballot, old: Ballot) -> Ballot:
    if new is old or new.judgement is None or old.judgement is None:
        return new
    return replace(new, judgement=replace(new.judgement, usage=new.judgement.usage + old.judgement.usage))


def to_record(one: Ballot, before: Usage) -> dict[str, object]:
    if one.judgement is None:
        return {"failed": one.failed, "tokens": before.input_tokens + before.output_tokens, "cost": before.cost}
    usage = one.judgement.usage + before
    return {
        "mean": one.judgement.mean,
        "points": dict(one.judgement.points),
        "comment": one.judgement.comment[:COMMENT_CHARACTERS],
        "replies": list(one.judgement.replies),
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost": usage.cost,
    }


def no_quorum(said: Sequence[Ballot], details: dict[str, Any]) -> Unscored:
    """Return the verdict when half of the judges or more gave no points: failed, if any of them failed or was left out."""
    failed = {ballot.name: ballot.failed for ballot in said if ballot.failed}
    if failed or details.get("excluded"):
        reason = say(
            "Too few judges of the jury gave a judgement. Failed: {failed}; left out after the controls: {excluded}.",
            failed=", ".join(f"{name} ({kind})" for name, kind in failed.items()) or "-",
            excluded=", ".join(details.get("excluded", ())) or "-",
        )
        return Unscored(why="judge_failed", reason=reason, details={"kind": "no_quorum", **details})
    return Unscored(why="no_evidence", reason=say("Half of the judges or more could not tell."), details=details)


def decide_by_vote(result: Score | Unscored, vote: bool | None) -> Score | Unscored:
    """Return the score of a vote: full points for a pass, none for a fail."""
    if isinstance(result, Unscored) or vote is None:
        return result
    details = {**result.details, "passed": vote}
    details["figures"] = {**details["figures"], "pass_rate": float(vote)}
    if vote:
        details.pop("error_class", None)
    else:
        details["error_class"] = "below_pass"
    return replace(result, points=float(vote), out_of=1.0, details=details)


def add_figures(result: Score | Unscored, details: Mapping[str, Any]) -> Score | Unscored:
    figures = dict(result.details.get("figures", {}))
    if details["confidence"] is not None:
        figures["confidence"] = details["confidence"]
        for name in ("moderate", "severe"):
            figures[f"{name}_disagreement_rate"] = float(details["disagreement"] == name)
    figures["arbitrated_rate"] = float(details.get("arbitrated", False))
    return replace(result, details={**result.details, "figures": figures})


def _weighted_median(votes: Sequence[JuryVote]) -> float:
    """Return the points at which half of the weight is reached; the middle of two where it is reached between them."""
    ordered = sorted((vote for vote in votes if vote.weight), key=lambda vote: vote.points) or list(votes)
    half, passed = math.fsum(vote.weight for vote in ordered) / 2, 0.0
    for index, vote in enumerate(ordered):
        passed += vote.weight
        if math.isclose(passed, half) and index + 1 < len(ordered):
            return (vote.points + ordered[index + 1].points) / 2
        if passed > half:
            return vote.points
    return median(vote.points for vote in votes)
