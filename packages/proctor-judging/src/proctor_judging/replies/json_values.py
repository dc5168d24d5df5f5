"""Read the JSON values that a reply gives, strictly: nothing is repaired, and no part of a broken value is taken for the whole.

A value is the whole reply, a fenced block, or an object or list within prose; thoughts before the reply are no part of it. What comes after a correction (`Correction: …`,
`更正：…`) or is announced as final replaces what came before.
"""

import json
import re
from collections.abc import Iterator

from proctor.chat.thinking import parted
from proctor_judging.matching.patterns import compile_later

MOST_PLACES = 50
FENCE = "```"
CORRECTED = compile_later(
    r"\b(?:corrections?|corrected|correct (?:version|one|json)|i meant|i made (?:a|an) (?:mistake|error|typo)|my mistake|scratch that|ignore (?:that|the (?:above|first|previous))|wait\b|actually|"
    r"(?:should|ought to) (?:be|have been)|instead|revised|updated|fixed|final (?:answer|version|json|result|output)|sorry)\b|更正|纠正|修正|改为|改成|应为|应该是|不对|说错|写错|弄错|抱歉|最终|以此为准|作废",
    re.IGNORECASE,
)
LOOKS_LIKE_OBJECT = compile_later(r"\{\s*(?:[\"'“‘][^\n{}]{0,200}?[\"'”’]|[A-Za-z_]\w*)\s*[:：]")
CITATION = compile_later(r"\[\d{1,3}\]")


class NotJson(ValueError):
    """A piece of text is no JSON."""


def decode(text: str) -> object:
    """Return the value of a text that is JSON and nothing else; NaN and the infinities are none.

    Raises:
        NotJson: it is not, or it is nested too deep.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise NotJson from None


def read_values(reply: str) -> list[object]:
    """Return the values between which a reply leaves open, without repeats; mostly one, none where it has no JSON.

    >>> read_values('Here: {"a": 1}'), read_values('{"a": 1} Correction: {"a": 2}'), read_values("{a: 1}")
    ([{'a': 1}], [{'a': 2}], [])
    """
    try:
        return [decode(reply)]
    except NotJson:
        _, reply = parted(reply)
    spans = list(_fenced(reply)) or list(_inline(reply))
    if any(isinstance(value, dict) for _, _, value in spans):
        spans = [span for span in spans if not CITATION.fullmatch(reply[span[0] : span[1]])]
    end = 0
    values: list[object] = []
    for start, stop, value in spans:
        if values and CORRECTED.search(reply[end:start]) is not None:
            values = []
        values.append(value)
        end = stop
    written = [json.dumps(value, sort_keys=True) for value in values] if len(values) > 1 else [""]
    return [value for index, value in enumerate(values) if written[index] not in written[:index]]


def _fenced(reply: str) -> Iterator[tuple[int, int, object]]:
    """Yield where the fenced blocks that are JSON begin and end, with their values."""
    position = 0
    for index, block in enumerate(reply.split(FENCE, 2 * MOST_PLACES)):
        start, position = position, position + len(block) + len(FENCE)
        first, _, rest = block.partition("\n")
        if index % 2 == 0:
            continue
        try:
            yield start, position, decode(rest if first.strip().isalnum() else block)
        except NotJson:
            continue


def _inline(reply: str) -> Iterator[tuple[int, int, object]]:
    """Yield the objects and lists within prose; what is inside of a broken object is none."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    end = 0
    for _ in range(MOST_PLACES):
        places = [index for sign in "{[" if (index := reply.find(sign, end)) >= 0]
        if not places:
            return
        start = min(places)
        try:
            value, end = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            end = _end_of_broken(reply, start) if LOOKS_LIKE_OBJECT.match(reply, start) else start + 1
            continue
        yield start, end, value


def _end_of_broken(text: str, start: int) -> int:
    """Return where an object that is no JSON ends, by its brackets; the end of the text when they are never closed."""
    depth = 0
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return start + match.end()
    return len(text)


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


REPAIRS = (
    ("bare keys", compile_later(r"[{,，]\s*[A-Za-z_]\w*\s*[:：]")),
    ("Python's True, False or None", compile_later(r"\b(?:True|False|None)\b")),
    ("single quotes", compile_later(r"'")),
    ("typographic quotes", compile_later(r"[“”‘’]")),
    ("full-width punctuation", compile_later(r"[，：]")),
    ("a comma at the end", compile_later(r"[,，]\s*[}\]]")),
    ("comments", compile_later(r"//|/\*")),
)
TEXT = compile_later(r'"(?:[^"\\\n]|\\.)*"')
TYPOGRAPHIC = compile_later(r"“[^”\n]*”|‘[^’\n]*’|'[^'\n]*'")


def name_repairs(reply: str) -> list[str]:
    """Return what is wrong with the JSON of a reply that only a tolerant reader can read.

    >>> name_repairs("{name: 'Ann', ok: True,}")
    ['bare keys', "Python's True, False or None", 'single quotes', 'a comma at the end']
    """
    start = min((index for sign in "{[" if (index := reply.find(sign)) >= 0), default=0)
    plain = TEXT.sub('""', reply[start:])
    code = TYPOGRAPHIC.sub(lambda quoted: quoted[0][0] + quoted[0][-1], plain)
    named = [name for name, sign in REPAIRS if sign.search(code) is not None]
    opened, closed = (sum(code.count(sign) for sign in signs) for signs in ("{[", "}]"))
    return [*named, *(["missing brackets"] if opened > closed else [])] or ["another slip"]
