"""The rule for ranges, ratios and uncertainties: two ends, each compared as a number, a quantity or a date."""

import re
from fractions import Fraction

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.dates import dates, read_moments
from proctor_judging.matching.numbers import numeric, read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.units import units
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, differ, refuse

RULE = "ranges"
LONGEST = 160
FORMS = (
    ("range", compile_later(r"between (.+?) and (.+)", re.IGNORECASE)),
    ("range", compile_later(r"(?:from )?(.+?)\s+(?:to|through|until|till)\s+(.+)", re.IGNORECASE)),
    ("range", compile_later(r"(?:从|在|介于)?(.+?)(?:至|到|与|和|~)(.+?)(?:之间|间)")),
    ("range", compile_later(r"(?:从)?(.+?)\s*(?:至|到|~|\.\.+|--)\s*(.+)")),
    ("error", compile_later(r"(.+?)\s*(?:±|\+/-|\\pm)\s*(.+)")),
    (
        "ratio",
        compile_later(
            r"(\d+(?:\.\d+)?)\s*(?::|比|∶)\s*(\d+(?:\.\d+)?)|([一二三四五六七八九十百]+)比([一二三四五六七八九十百]+)"
        ),
    ),
    ("range", compile_later(r"(.*?\d[^-]*?)\s*-\s*(.*\d.*)")),
)
HINT = compile_later(r"[-~±:至到比间\\]|\.\.|\bto\b|\band\b|\bthrough\b|\bun?till?\b|\+/", re.IGNORECASE)
BARE = compile_later(r"[+-]?[\d,.]+")
SUFFIX = compile_later(r"[+-]?[\d,.]+(?:e[+-]?\d+)?\s*(\D.*)")
PREFIX = compile_later(r"([^\d\s.+-]+\s?)[\d,.]+.*")


class RangeSpan(msgspec.Struct, frozen=True):
    """The two ends of a range as texts, and how they are related."""

    kind: str
    first: str
    second: str


def ranges(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Compare two ranges, ratios, or values with an error: both ends have to be equal."""
    expected = read_span(target)
    given = read_span(answer) if expected is not None else None
    if given is None or expected is None:
        return None
    if {given.kind, expected.kind} == {"ratio", "range"} and (" to " in answer or " to " in target):  # 3 to 2
        given, expected = (msgspec.structs.replace(span, kind="ratio") for span in (given, expected))
    if given.kind != expected.kind:
        return differ(RULE, answer, target)
    if expected.kind == "ratio" and _multiple(given, expected):
        return accept(RULE, say("Both are the same ratio."))
    for end, other in ((given.first, expected.first), (given.second, expected.second)):
        verdict = _end(end, other, options)
        if verdict is None:
            return differ(RULE, answer, target)
        if not verdict.right:
            return refuse(RULE, verdict.reason, ambiguous=verdict.ambiguous)
    return accept(RULE, say("Both have the same two ends."))


def _multiple(one: RangeSpan, other: RangeSpan) -> bool:
    """3:2 is 6:4; 3:20 may be a time, and is only itself."""
    if any(re.fullmatch(r"\d\d", span.second) for span in (one, other)):
        return False
    ends = [read_number(text) for span in (one, other) for text in (span.first, span.second)]
    values = [Fraction(end.value) for end in ends if end is not None]
    return len(values) == len(ends) and values[0] * values[3] == values[1] * values[2]


def read_span(text: str) -> RangeSpan | None:
    """Return the two ends of a range; a unit that is written once applies to both.

    >>> read_span("3-5 km"), read_span("between 3 and 5").second, read_span("well-known")
    (RangeSpan(kind='range', first='3 km', second='5 km'), '5', None)
    """
    if len(text) > LONGEST or not HINT.search(text):
        return None
    for kind, form in FORMS:
        if (match := form.fullmatch(text)) is not None:
            ends = [end.strip() for end in match.groups() if end is not None]
            first, second = _shared(ends[0], ends[1])
            if _is_end(first) and _is_end(second):
                return RangeSpan(kind, first, second)
    return None


def _shared(first: str, second: str) -> tuple[str, str]:
    if BARE.fullmatch(first) and (suffix := SUFFIX.fullmatch(second)) is not None:
        return f"{first} {suffix[1]}" if suffix[1] != "%" else f"{first}%", second
    if BARE.fullmatch(second) and (prefix := PREFIX.fullmatch(first)) is not None:
        return first, prefix[1] + second
    return first, second


def _is_end(text: str) -> bool:
    return bool(text) and (read_number(text) is not None or read_quantity(text) is not None or bool(read_moments(text)))


def _end(one: str, other: str, options: AnswerOptions) -> AnswerMatch | None:
    return numeric(one, other, options) or units(one, other, options) or dates(one, other)
