"""What a scorer says of one attempt."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from proctor.core.sentence import Sentence

WhyUnscored = Literal["not_applicable", "judge_failed", "scorer_failed"]


class Score(msgspec.Struct, frozen=True, kw_only=True, tag="score"):
    """Points out of a maximum, with the answer that was judged and the reason.

    `details` holds what a report can count or show: a rule, an error class, parameters.

    >>> Score(points=3, out_of=4).value
    0.75
    """

    points: float
    out_of: float = 1
    answer: str | None = None
    reason: str | Sentence = ""
    details: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        if not (self.out_of > 0 and 0 <= self.points <= self.out_of):
            raise ValueError(f"points must lie in 0 to out_of, and out_of above 0: got {self.points} of {self.out_of}")
        if isinstance(self.points, bool):
            msgspec.structs.force_setattr(self, "points", int(self.points))

    @property
    def value(self) -> float:
        """The share of the points, 0 to 1."""
        return self.points / self.out_of

    @property
    def passed(self) -> bool:
        """What a scorer with a pass mark of its own says (`details["passed"]`), else whether it has full marks."""
        own = self.details.get("passed")
        return own if isinstance(own, bool) else self.value == 1


class Unscored(msgspec.Struct, frozen=True, kw_only=True, tag="unscored"):
    """No score, and why: a type of its own, so that nobody can average it."""

    why: WhyUnscored
    reason: str | Sentence = ""
    details: Mapping[str, Any] = {}
