"""Define the options of the answer matcher, and the verdicts that its rules return."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, clip, say

SHOWN = 120


class AnswerMatch(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an answer is right, the rule that decided, and why; ambiguous is never right.

    `undecided` says that the rule needs an extra that is not installed: neither right nor wrong.
    `readings` are those of an arguable reply, which is right in one of them and wrong in another.
    """

    right: bool
    rule: str
    reason: Sentence
    ambiguous: bool = False
    undecided: bool = False
    readings: tuple[str, ...] = ()


class AnswerMatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the matcher: of one sample in its `meta` (`{"unit": "km"}`), or of all samples in a table.

    Attributes:
        ordered: True if the order of a list counts; None infers it, and in doubt it counts.
        tolerance: how far a number may be off, in the unit of the target (or `unit`).
        relative_tolerance: how far it may be off as a share of the target.
        unit: the unit of numbers without one, such as `km`, `%` or `USD`.
        similarity: the share of words that must agree, in order; numbers and negations must agree anyway.
        semantic_threshold: the similarity of meaning that is enough, where it is asked for.
        sentences: the answer may be part of a sentence; if False, the whole reply, or its marked answer, is compared.
            Only in a table named like the scorer, as is `guesses`.
        guesses: statements with `probably`, `perhaps` or 可能 count as answers.
    """

    ordered: bool | None = None
    tolerance: float = 0.0
    relative_tolerance: float = 0.0
    unit: str = ""
    similarity: float = 1.0
    semantic_threshold: float = 0.9
    sentences: bool = True
    guesses: bool = False

    def __post_init__(self) -> None:
        for name in ("tolerance", "relative_tolerance", "similarity", "semantic_threshold"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise BadInput("The option '{name}' is a number from 0 up, not {value}.", name=name, value=value)

    def of_sample(self, meta: Mapping[str, object], room: str = "answer") -> Self:
        """Return these options updated with those in a sample's `meta`, at its top level or in a table named like the scorer.

        Raises:
            BadInput: an unknown option in the table, or a value of the wrong type.
        """
        table = meta.get(room)
        given = dict(table) if isinstance(table, Mapping) else {}
        given |= {name: meta[name] for name in OPTIONS if meta.get(name) is not None}
        if not given:
            return self
        checked = converted(given, AnswerMatchOptions, room)
        return msgspec.structs.replace(self, **{name: getattr(checked, name) for name in given})


# names of columns, too
OPTIONS = tuple(name for name in AnswerMatchOptions.__struct_fields__ if name not in ("sentences", "guesses"))


class AnswerOptions(AnswerMatchOptions, frozen=True, kw_only=True):
    """`AnswerMatchOptions`, and what to ask when no rule has decided.

    Attributes:
        semantic: gives the similarity of two texts, 0 to 1; not asked when numbers or negations differ.
        judge: asked last, with answer and target; None means it cannot say.
    """

    semantic: Callable[[str, str], float] | None = None
    judge: Callable[[str, str], bool | None] | None = None


def accept(rule: str, reason: Sentence) -> AnswerMatch:
    """Return the answer is right."""
    return AnswerMatch(right=True, rule=rule, reason=reason)


def refuse(rule: str, reason: Sentence, *, ambiguous: bool = False) -> AnswerMatch:
    """Return the answer is not right, or may mean something else."""
    return AnswerMatch(right=False, rule=rule, reason=reason, ambiguous=ambiguous)


def differ(rule: str, answer: str, target: str) -> AnswerMatch:
    """Return the usual refusal: both texts could be read, and differ."""
    return refuse(rule, say("'{answer}' is not '{target}'.", answer=shown(answer), target=shown(target)))


def two_readings(rule: str, text: str, readings: Sequence[str] = ()) -> AnswerMatch:
    """Return the arguable verdict on a text that means the same in one reading and something else in another, `-` if unnamed."""
    reason = say("'{text}' can be read in more than one way.", text=shown(text))
    named = tuple(readings) if len(set(readings)) > 1 else (text, "-")
    return AnswerMatch(right=False, rule=rule, reason=reason, ambiguous=True, readings=named)


def too_large(rule: str, answer: str, target: str) -> AnswerMatch:
    """Return the refusal of what cannot be compared with bounded work."""
    reason = say(
        "'{answer}' and '{target}' are too large to be compared within the limits.",
        answer=shown(answer),
        target=shown(target),
    )
    return refuse(rule, reason, ambiguous=True)


def shown(text: str) -> str:
    """Return a text as a reason shows it, cut when long."""
    return clip(text, SHOWN)
