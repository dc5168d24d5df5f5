"""Turn the JavaScript text of a value into a Python value of the declared type.

Text that does not fit its type stays text. Splitting is naive: commas inside quotes break elements, an object ends at
its first `}`. Patterns are anchored at the start and do not cross lines.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/ast_eval/type_convertor/js_type_converter.py`. The patterns are
written so that hostile text cannot make them slow.
"""

import re
from bisect import bisect_right

LONGEST = 10_000  # a longer collection stays text

_WHOLE = re.compile(r"^-?\d+$")
_BIG = re.compile(r"^-?\d+n$")
_NUMBER = re.compile(r"^-?\d+(\.\d+)?$")
_ARRAY = re.compile(r"\[([^\]\n]*+)\]|\bnew\s+Array\(([^)\n]*+)\)")
_ROWS = re.compile(r"(?:\[|(new\s+Array\())\s*\[")
_ROW = re.compile(r"\[([^\]\n]*+)\]")
_OBJECT = re.compile(r"\{([^}\n]*+)\}")
_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,(?:\s*+(?=[^,][^,:]*+:)|\s*(?=\s:))|$)")
_BLANKS = re.compile(r"\s*")


def convert(text: str, declared: str, element: str | None = None) -> object:
    """Return the value of a text declared as a JavaScript type; `element` is the declared type of an array's elements.

    Raises:
        ValueError: another type, or a number with more digits than Python converts.

    >>> convert("42n", "Bigint"), convert("[1, 2]", "array", "integer"), convert("{a: 'x'}", "dict")
    (42, [1, 2], {'a': 'x'})
    """
    match declared:
        case "any":
            return text
        case "String":
            return text[1:-1] if _quoted(text) else text
        case "integer":
            return int(text) if _WHOLE.match(text) else text
        case "float":
            return float(text) if _NUMBER.match(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIG.match(text) else text
        case "Boolean":
            return text == "true" if text in ("true", "false") else text
        case "array":
            return _array(text.strip(), element)
        case "dict":
            return _object(text.strip())
    raise ValueError(declared)


def _array(text: str, element: str | None) -> object:
    if len(text) > LONGEST:
        return text
    if (rows := _rows(text)) is not None:
        return rows
    match = _ARRAY.match(text)
    if match is None:
        return text
    inside = (match[1] if match[1] is not None else match[2]).strip()
    parts = [part.strip() for part in inside.split(",")] if inside else []
    if element is None:
        return [_untyped(part) for part in parts]
    try:
        return [convert(part, element) for part in parts]
    except ValueError:  # upstream keeps the text then
        return text


def _rows(text: str) -> list[list[object]] | None:
    """Return the rows of `[[1, 2], [3]]` or `new Array([1], [2])`; None when it is no such thing."""
    start = _ROWS.match(text)
    if start is None:
        return None
    end = _rows_end(text, start.end(), ")" if start[1] else "]")
    if end is None:
        return None
    rows = _ROW.findall(text, 0, end)
    if rows and rows[0].strip().startswith("["):
        rows[0] = rows[0].strip()[1:]  # the first match began at the outer bracket
    return [[_untyped(part) for part in row.strip().split(",")] for row in rows]


def _rows_end(text: str, start: int, closing: str) -> int | None:
    r"""Return where the match of `.*?\]\s*(,\s*\[.*?\]\s*)*` and the closing bracket ends, if it matches from `start`.

    A row may swallow `], [` when the rest would not match otherwise, which makes the regular expression exponential.
    Whether the text after a `]` can be finished depends on its position only, so it is decided once for each, from the
    right.
    """
    places: list[int] = []  # the `]` that can end a row, from right to left, negated to be in order
    ends: dict[int, int] = {}
    index = text.rfind("]")
    while index >= start:
        end = _end_behind(text, index + 1, closing, places, ends)
        if end is not None:
            places.append(-index)
            ends[index] = end
        index = text.rfind("]", 0, index)
    first = _first_place(text, start, places)
    return None if first is None else ends[first]


def _end_behind(text: str, at: int, closing: str, places: list[int], ends: dict[int, int]) -> int | None:
    at = _skip_blanks(text, at)
    if text.startswith(",", at):
        at = _skip_blanks(text, at + 1)
        row = _first_place(text, at + 1, places) if text.startswith("[", at) else None
        return None if row is None else ends[row]
    return at + 1 if text.startswith(closing, at) else None


def _first_place(text: str, start: int, places: list[int]) -> int | None:
    """Return the first of the places from `start` on, if no line ends before it."""
    index = bisect_right(places, -start) - 1  # negated: the last one that is <= -start
    if index < 0:
        return None
    position = -places[index]
    return None if text.find("\n", start, position) >= 0 else position


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _object(text: str) -> object:
    match = _OBJECT.match(text)
    if match is None or len(text) > LONGEST:
        return text
    inside, at, values = match[1], 0, {}
    while inside.find(":", at + 1) >= 0:
        pair = _PAIR.search(inside, at)
        if pair is None:
            break
        at = pair.end()
        values[pair[1].strip().strip("'\"")] = _member(pair[2].strip())
    return values


def _member(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    return _untyped(text.strip("'\""))  # before it is parsed, so that "5" becomes 5


def _untyped(text: str) -> object:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if _quoted(text):
        return text[1:-1]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _quoted(text: str) -> bool:
    return text[:1] in ("'", '"') and text.endswith(text[0])
