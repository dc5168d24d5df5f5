"""What several judges say together: combining rules and disagreement. Pure functions over their points."""

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal

import msgspec

Rule = Literal["mean", "median", "trimmed", "majority"]
Band = Literal["low", "moderate", "severe"]
MODERATE, SEVERE = 0.25, 0.5  # of the width of the scale: more than 1 and more than 2 points on a scale of 1 to 5


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """The points of one judge, and how much it counts."""

    points: float
    weight: float = 1.0


def combined(votes: Sequence[Vote], rule: Rule, *, trim: float = 0.2) -> float:
    """The points of several judges as one number; `majority` stands for the median here, as votes are on passing.

    >>> votes = [Vote(points=1), Vote(points=4), Vote(points=5), Vote(points=5)]
    >>> combined(votes, "mean"), combined(votes, "median"), combined(votes, "trimmed")
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


def majority(votes: Sequence[Vote], threshold: float) -> bool | None:
    """Whether more than half of the weight lies at the threshold or above, or below it; None where neither does.

    >>> majority([Vote(points=5), Vote(points=4), Vote(points=1)], 3.5)
    True
    """
    total = math.fsum(vote.weight for vote in votes)
    above = math.fsum(vote.weight for vote in votes if vote.points >= threshold - 1e-9)
    if math.isclose(above * 2, total):
        return None
    return above * 2 > total


def spread(votes: Sequence[Vote]) -> float | None:
    """How far the highest is from the lowest; None for one vote alone."""
    points = [vote.points for vote in votes]
    return max(points) - min(points) if len(points) > 1 else None


def band(apart: float, width: float) -> Band:
    """How much judges disagree who are so far apart on a scale of that width.

    >>> [band(apart, 4) for apart in (1, 2, 3)]
    ['low', 'moderate', 'severe']
    """
    share = apart / width
    if share <= MODERATE + 1e-9:
        return "low"
    return "moderate" if share <= SEVERE + 1e-9 else "severe"


def _weighted_median(votes: Sequence[Vote]) -> float:
    """The points at which half of the weight is reached; the middle of two where it is reached between them."""
    ordered = sorted((vote for vote in votes if vote.weight), key=lambda vote: vote.points) or list(votes)
    half, passed = math.fsum(vote.weight for vote in ordered) / 2, 0.0
    for place, vote in enumerate(ordered):
        passed += vote.weight
        if math.isclose(passed, half) and place + 1 < len(ordered):
            return (vote.points + ordered[place + 1].points) / 2
        if passed > half:
            return vote.points
    return median(vote.points for vote in votes)
