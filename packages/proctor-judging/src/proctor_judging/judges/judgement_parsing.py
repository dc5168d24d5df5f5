"""Read judgements from the JSON of a reply. What is missing, ambiguous or off the scale is refused, never repaired."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from proctor.core.sentence import say
from proctor_judging.judges.asker import Judgement, UnreadReply, quoted
from proctor_judging.judges.rubric_file import JudgeRubric, RubricDimension

Winner = Literal["A", "B", "tie", "unknown"]
LABELS = ("A", "B")  # what the text shown first is called, and the second one
KINDS = ("problem", "answer", "response", "option", "text", "item", "candidate", "题目", "答案", "回答", "选项", "文本")
TIE = ("tie", "draw", "equal", "neither", "both", "平局", "平手", "平", "不分高下")
UNKNOWN = ("unknown", "未知", "不确定", "无法判断")
COMMENT = ("comment", "comments", "reason", "reasoning", "explanation", "评语", "理由")
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*(\d+(?:\.\d+)?)|\s*分)?")


class RubricJudgement(Judgement, frozen=True, kw_only=True):
    """The points of an item from a judge, over its repeats, or from a jury.

    Attributes:
        points: the mean of each dimension on the scale; None where no repeat could tell.
        mean: the weighted mean on the scale; None where a dimension that counts is unknown.
        means: those of the repeats that have one; `variance` is theirs, None for fewer than two.
        failed: repeats without a usable reply.
    """

    points: Mapping[str, float | None]
    comment: str = ""
    mean: float | None = None
    means: tuple[float, ...] = ()
    variance: float | None = None
    failed: int = 0

    @property
    def unknown(self) -> list[str]:
        """The dimensions that the judge could not decide."""
        return [name for name, points in self.points.items() if points is None]


class PairJudgement(Judgement, frozen=True, kw_only=True):
    """Which of two texts a judge prefers; `A` is the one shown first."""

    winner: Winner


def schema(rubric: JudgeRubric, dimensions: Sequence[RubricDimension]) -> dict[str, Any]:
    """Return the JSON schema of a judgement: the comment first, so that the points follow from it."""
    whole = rubric.whole_points
    number: dict[str, Any] = {"type": "integer", "enum": whole} if whole else {"type": "number"}
    one = {"anyOf": [number, {"type": "string", "enum": ["unknown"]}]}
    properties = {"comment": {"type": "string"}, **{dimension.name: one for dimension in dimensions}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def read_judgement(value: object, rubric: JudgeRubric, dimensions: Sequence[RubricDimension]) -> RubricJudgement:
    """Read a judgement from the JSON value of a reply, flat or under `scores`.

    Raises:
        Unread: no object, a dimension is missing or there twice, or its points are no number on the scale.
    """
    if not isinstance(value, Mapping):
        raise UnreadReply("unreadable", say("The reply is no JSON object."))
    scores = value.get("scores", value)
    if not isinstance(scores, Mapping):
        raise UnreadReply("unreadable", say("The reply is no JSON object."))
    values_by_name = {dimension.name: _values_of(dimension.name, scores) for dimension in dimensions}
    missing = [name for name, given in values_by_name.items() if not given]
    if missing:
        raise UnreadReply("missing_dimension", say("The reply lacks {names}.", names=", ".join(missing)))
    points = {}
    for name, given in values_by_name.items():
        values = {read_points(value, rubric, name) for value in given}
        if len(values) > 1:
            raise UnreadReply("ambiguous", say("The reply gives '{name}' twice, with different points.", name=name))
        points[name] = values.pop()
    return RubricJudgement(points=points, comment=_comment(value))


def read_points(given: object, rubric: JudgeRubric, name: str) -> float | None:
    """Read the points of one dimension; None for `unknown`. A text is accepted if it can mean one number only.

    Raises:
        Unread: no number, or none on the scale.

    >>> from proctor_judging.judges.rubric_file import rubric
    >>> [read_points(one, rubric("code"), "x") for one in (4, "4", "4/5", "unknown")]
    [4.0, 4.0, 4.0, None]
    """
    value = given.get("score", given.get("points")) if isinstance(given, Mapping) else given
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).strip()
        if text.casefold() in UNKNOWN:
            return None
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise _no_number(name, value, rubric)
        if match[2] is not None and (float(match[2]) != rubric.high or rubric.low < 0):
            raise _off_scale(name, value, rubric)
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no_number(name, given, rubric)
    if not (math.isfinite(value) and rubric.low <= value <= rubric.high):
        raise _off_scale(name, value, rubric)
    return float(value)


def pair_schema(labels: tuple[str, str]) -> dict[str, object]:
    """Return the JSON schema of a verdict: the reason first, so that the winner follows from it."""
    winner = {"type": "string", "enum": [*labels, "tie", "unknown"]}
    properties = {"reason": {"type": "string"}, "winner": winner}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def read_winner(value: object, labels: tuple[str, str] = LABELS) -> PairJudgement:
    """Read which text a reply names, from its JSON value: `A` is the text shown first, whatever it was called.

    Raises:
        Unread: it names nobody, or more than one.

    >>> read_winner({"winner": "Problem B"}).winner, read_winner({"winner": "平局"}).winner
    ('B', 'tie')
    """
    if not isinstance(value, Mapping):
        raise UnreadReply("unreadable", say("The reply is no JSON object."))
    given = _values_of("winner", value)
    if not given:
        raise UnreadReply("missing_winner", say("The reply lacks {names}.", names="winner"))
    winners = {_winner(name, labels) for name in given}
    if len(winners) > 1:
        raise UnreadReply("ambiguous", say("The reply names two winners."))
    return PairJudgement(winner=winners.pop())


def _comment(value: Mapping[str, object]) -> str:
    return next((text for key in COMMENT if isinstance(text := value.get(key), str)), "")


def plain(name: str) -> str:
    """Return a key in the form in which keys are compared.

    >>> plain("Difficulty Match") == plain("difficulty_match")
    True
    """
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _values_of(name: str, scores: Mapping[str, object]) -> list[object]:
    return [value for key, value in scores.items() if plain(str(key)) == plain(name)]


def _no_number(name: str, value: object, rubric: JudgeRubric) -> UnreadReply:
    return UnreadReply(
        "no_number",
        say(
            "'{name}' is {value}; it has to be a number from {low} to {high}, or \"unknown\".",
            name=name,
            value=quoted(value),
            **_ends(rubric),
        ),
    )


def _off_scale(name: str, value: object, rubric: JudgeRubric) -> UnreadReply:
    return UnreadReply(
        "out_of_range",
        say(
            "'{name}' is {value}; the scale goes from {low} to {high}.", name=name, value=quoted(value), **_ends(rubric)
        ),
    )


def _ends(rubric: JudgeRubric) -> dict[str, str]:
    return {"low": f"{rubric.low:g}", "high": f"{rubric.high:g}"}


def _winner(given: object, labels: tuple[str, str]) -> Winner:
    if not isinstance(given, str):
        raise _nobody(given, labels)
    text = plain(given.strip().strip(".。\"'*[]()（）【】"))
    if text in TIE:
        return "tie"
    if text in UNKNOWN:
        return "unknown"
    for kind in KINDS:
        text = text.removeprefix(kind).strip("_ ")
    if text not in map(plain, labels):
        raise _nobody(given, labels)
    return "A" if text == plain(labels[0]) else "B"


def _nobody(given: object, labels: tuple[str, str]) -> UnreadReply:
    return UnreadReply(
        "no_winner",
        say(
            '\'winner\' is {value}; it has to be "{first}", "{second}", "tie" or "unknown".',
            value=quoted(given),
            first=labels[0],
            second=labels[1],
        ),
    )
