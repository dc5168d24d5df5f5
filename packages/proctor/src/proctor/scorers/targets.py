"""Read the answer and the target as texts, cut to a length that every scorer can afford."""

import json
from collections.abc import Sequence

from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.sentence import quote, say
from proctor.core.trajectory import Trajectory

ANSWER_CHARACTERS = 1_000_000


def answer_of(trajectory: Trajectory, characters: int = ANSWER_CHARACTERS) -> str:
    """Return the answer without surrounding whitespace; only the first part of an extremely long one."""
    return trajectory.answer[: characters * 2].strip()[:characters]


def targets_of(sample: Sample) -> tuple[str, ...]:
    """Return the targets as texts, without empty ones: a list means any of them.

    >>> targets_of(Sample.ask("a", "?", target=["Paris", 7, True, " "]))
    ('Paris', '7', 'true')
    """
    given = sample.target if isinstance(sample.target, list | tuple) else (sample.target,)
    return tuple(text for value in given if value is not None and (text := as_text(value).strip()))


def as_text(value: object) -> str:
    """Return a target as text: a text unchanged, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def no_target() -> Unscored:
    """Return what a scorer says of a sample without a target."""
    return Unscored(why="not_applicable", reason=say("The sample has no target to compare with."))


def arguable(readings: Sequence[str]) -> Unscored:
    """Return the result for a reply that is right in one of its readings and wrong in another; `-` is the reading that it answers nothing."""
    reason = say("The reply can be read in several ways: {readings}.", readings=" / ".join(map(quote, readings)))
    return Unscored(why="not_applicable", reason=reason, details={"readings": list(readings)})
