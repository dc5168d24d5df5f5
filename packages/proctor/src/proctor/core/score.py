"""Define what a scorer returns: a score, or the reason why there is none."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from proctor.core.known import KnownDetails, known
from proctor.core.sentence import Sentence

WhyUnscored = Literal["not_applicable", "no_evidence", "judge_failed", "scorer_failed"]


MOST_REASON_CHARACTERS = 4_000  # of each text in a reason; the answer itself is in the trajectory
FROM_CACHE = "replies_from_cache"  # among the details: how many replies of its judge came from the reply cache


class Score(msgspec.Struct, frozen=True, kw_only=True, tag="score"):
    """Points out of a maximum, with the scored answer and the reason.

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
        """Return the share of the points, 0 to 1."""
        return self.points / self.out_of

    @property
    def passed(self) -> bool:
        """True if it passed: by the scorer's own pass mark (`details["passed"]`), else with full marks."""
        own = self.details.get("passed")
        return own if isinstance(own, bool) else self.value == 1

    @property
    def known(self) -> KnownDetails:
        """Return those of the details that have a meaning for others."""
        return known(KnownDetails, self.details)


class Unscored(msgspec.Struct, frozen=True, kw_only=True, tag="unscored"):
    """The reason why there is no score: a type of its own, so that nobody can average it.

    Attributes:
        why: "not_applicable" is decided by the sample alone, and misses nothing. Where the agent decided it, by what it did
            not do or did not report, it is "no_evidence", which widens floor and ceiling like any other missing score.
        without_calls: the score if the agent made no call here. It counts once any trial of the run reports calls.
    """

    why: WhyUnscored
    reason: str | Sentence = ""
    details: Mapping[str, Any] = {}
    without_calls: Score | None = None

    @property
    def known(self) -> KnownDetails:
        """Return those of the details that have a meaning for others."""
        return known(KnownDetails, self.details)


def short_reason(reason: str | Sentence, characters: int = MOST_REASON_CHARACTERS) -> str | Sentence:
    """Return the reason with its long texts cut, such as an answer of megabytes that it quotes.

    >>> short_reason("abcdef", 4)
    'abcd… 2 more characters'
    """
    if isinstance(reason, str):
        return _cut(reason, characters)
    if all(not isinstance(value, Sentence | str) or len(str(value)) <= characters for value in reason.values.values()):
        return reason
    values = {
        name: short_reason(value, characters) if isinstance(value, str | Sentence) else value
        for name, value in reason.values.items()
    }
    return Sentence(reason.text, values)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}… {len(text) - characters:,} more characters"
