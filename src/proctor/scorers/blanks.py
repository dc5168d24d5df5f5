"""Fill in the blanks: each right one is a point, with alternatives, groups in any order, and numbers by value.

The target is a text with a line for each blank, or a list; a blank that is a list has alternatives. In a text they are
parted by `或`, unless that is part of a word (`或者`). `meta["blanks"]` may hold options, see `Options`.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers import _replies
from proctor.scorers._rouge import rouge_l

_NUMBERED = re.compile(r"^\s*(?:\((\d{1,2})\)|第(\d{1,2})[空个]:?|(\d{1,2})[.、:)](?!\d)|([①-⑳]))\s*")
_CIRCLED = 0x245F  # ① is one more
_FRACTION = re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?")
_LONGEST_NUMBER = 100
_SIGNS = str.maketrans({"−": "-", "–": "-", "“": '"', "”": '"', "‘": "'", "’": "'", "$": None, "　": " "})
_AROUND = " \t.。,;:!\"'`*"
_PUNCTUATION = re.compile(r"[^\w+\-/=<>√π°%]")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `meta["blanks"]` may hold.

    Attributes:
        any_order: groups of blanks, counted from 0, whose answers may be swapped: `[[0, 1]]`, or true for all.
        separator: what parts alternatives in a text.
        case_sensitive, ignore_punctuation: how texts are compared.
        min_similarity: also right is what is at least so similar, letter by letter (ROUGE-L); 1 means the same.
    """

    any_order: bool | tuple[tuple[int, ...], ...] = ()
    separator: str = "或"
    case_sensitive: bool = False
    ignore_punctuation: bool = False
    min_similarity: float = 1.0


def blanks(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each blank.

    >>> sample = Sample.ask("q", "?", target="1/2\\n北京或京")
    >>> blanks(sample, Trajectory.of("答案：0.5；京")).points
    2
    """
    options = converted(sample.meta.get("blanks") or {}, Options, "blanks")
    expected = _expected(sample.target, options)
    if not any(expected):
        return Unscored(why="not_applicable", reason=say("The sample has no target to compare with."))
    made = _made(trajectory.answer, len(expected))
    right = _right(made, expected, options)
    points = sum(right)
    reason = (
        say("All blanks are right.")
        if points == len(expected)
        else say(
            "Wrong: {blanks}.",
            blanks="; ".join(
                f"({place}) {answer or '-'} / {'|'.join(alternatives)}"
                for place, (good, answer, alternatives) in enumerate(zip(right, made, expected, strict=True), 1)
                if not good
            ),
        )
    )
    return Score(points=points, out_of=len(expected), answer="\n".join(made), reason=reason)


blanks.version = "1"  # type: ignore[attr-defined]  # scorers are functions with a version


def _expected(target: Any, options: Options) -> list[list[str]]:
    """The alternatives of each blank."""
    if isinstance(target, list | tuple):
        return [[str(one) for one in blank] if isinstance(blank, list | tuple) else [str(blank)] for blank in target]
    lines = [line.strip() for line in str(target if target is not None else "").splitlines() if line.strip()]
    return [_alternatives(line, options.separator) for line in lines]


def _alternatives(line: str, separator: str) -> list[str]:
    """The whole line, and its parts; `或` within a word parts nothing."""
    if not separator:
        return [line]
    pattern = re.escape(separator) + ("(?![者许然则缺])" if separator == "或" else "")
    parts = [part.strip() for part in re.split(pattern, line)]
    return [line, *parts] if len(parts) > 1 and all(parts) else [line]


def _made(reply: str, count: int) -> list[str]:
    """The answers of a reply, one for each blank; '' where there is none."""
    text = _replies.said(reply)
    text = _replies.boxed(text) or _replies.announced(text) or text
    parts = [part.strip() for part in re.split(r"[\n;]", text) if part.strip()]
    if count == 1:
        return [_bare(parts[-1], 1) if parts else ""]
    if len(parts) == 1:
        parts = next(
            (found for sign in (",", "、", r"\s+") if len(found := re.split(sign, text.strip())) == count), parts
        )
    if len(parts) > count and all(_number_of(part) for part in parts[-count:]):
        parts = parts[-count:]  # remarks, then a numbered list
    numbered = {_number_of(part): part for part in parts}
    if set(range(1, count + 1)) <= set(numbered):
        parts = [numbered[place] for place in range(1, count + 1)]
    answers = [_bare(part, place) for place, part in enumerate(parts[:count], 1)]
    return answers + [""] * (count - len(answers))


def _number_of(part: str) -> int | None:
    match = _NUMBERED.match(part)
    if match is None:
        return None
    return ord(match[4]) - _CIRCLED if match[4] else int(next(group for group in match.groups() if group))


def _bare(part: str, place: int) -> str:
    """An answer without its own number."""
    rest = part[match.end() :].strip() if (match := _NUMBERED.match(part)) and _number_of(part) == place else ""
    return rest or part


def _right(made: Sequence[str], expected: Sequence[Sequence[str]], options: Options) -> list[bool]:
    groups = (
        options.any_order
        if isinstance(options.any_order, tuple)
        else (tuple(range(len(expected))),) * options.any_order
    )
    right = [_fits(answer, alternatives, options) for answer, alternatives in zip(made, expected, strict=True)]
    for group in groups:
        places = [place for place in dict.fromkeys(group) if 0 <= place < len(expected)]
        partner = _matched([[_fits(made[one], expected[other], options) for other in places] for one in places])
        for here, place in enumerate(places):
            right[place] = here in partner
    return right


def _matched(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """The largest one-to-one matching: expected blank -> answer, so that one answer does not fill two blanks."""
    answer_of: dict[int, int] = {}

    def place(answer: int, tried: set[int]) -> bool:
        for blank, good in enumerate(fits[answer]):
            if good and blank not in tried:
                tried.add(blank)
                if blank not in answer_of or place(answer_of[blank], tried):
                    answer_of[blank] = answer
                    return True
        return False

    for answer in range(len(fits)):
        place(answer, set())
    return answer_of


def _fits(answer: str, alternatives: Sequence[str], options: Options) -> bool:
    made = _plain(answer, options)
    if not made:
        return False
    number = _value(made)
    for alternative in alternatives:
        expected = _plain(alternative, options)
        if made == expected or (number is not None and number == _value(expected)):
            return True
        if options.min_similarity < 1 and number is None and rouge_l(made, expected).f >= options.min_similarity:
            return True
    return False


def _plain(text: str, options: Options) -> str:
    plain = _FRACTION.sub(r"\1/\2", _replies.normal(text).translate(_SIGNS)).strip(_AROUND)
    plain = "".join(plain.split())
    if options.ignore_punctuation and _value(plain) is None:
        plain = _PUNCTUATION.sub("", plain)
    return plain if options.case_sensitive else plain.casefold()


def _value(text: str) -> Fraction | None:
    """A number, fraction or percentage by its value; None for other texts.

    >>> _value("1,000.50") == _value("1000.5"), _value("50%") == _value("1/2"), _value("x")
    (True, True, None)
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    percent = text.endswith("%")
    parts = text.removesuffix("%").split("/")
    if len(parts) > 2 or not all(any(map(str.isdecimal, part)) and _NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [Fraction(part.replace(",", "").removesuffix(".")) for part in parts]
    if len(numbers) == 2 and not numbers[1]:
        return None
    value = numbers[0] / numbers[1] if len(numbers) == 2 else numbers[0]
    return value / 100 if percent else value
