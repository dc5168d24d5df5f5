r"""Read the JSON in a model's reply: with LaTeX in its strings, fences and prose around it, and the usual slips.

Accepted: commas at the end, comments (`//`, `/* */`), single and typographic quotes, full-width colons and commas,
names as keys without quotes, True, False and None, line breaks inside strings, and objects whose last brackets are
missing though their last value is complete. Refused, so that a model can be asked again: whatever could be read in two
ways, an unfinished value or list, a repeated key, NaN, and anything larger or deeper than an honest reply.

Of several values the last is taken; an object (or a list of objects) in a fence takes precedence over one in prose. A plain list, a
string or a number counts only where nothing else is in the reply.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from proctor.core.sentence import Sentence, say
from proctor_judging.replies.backslashes import Body, TwoWays, decode_all

MOST_CHARACTERS = 1_000_000
MOST_DEPTH = 60
MOST_DIGITS = 300

WHITESPACE = re.compile(r"(?:[\s\ufeff\u00a0]+|//[^\n]*|/\*.{0,500}?\*/)*", re.DOTALL)
STRINGS = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    "“": re.compile(r"“([^”\\]*(?:\\.[^”\\]*)*)”", re.DOTALL),
    "”": re.compile(r"”([^”\\]*(?:\\.[^”\\]*)*)”", re.DOTALL),
    "‘": re.compile(r"‘([^’\\]*(?:\\.[^’\\]*)*)’", re.DOTALL),
}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![\w.])")
LITERALS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
OPENING = re.compile(r"[{\[]")
FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*(?:\r?\n)?\s*\Z")
FENCED = re.compile(r"\s*```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
FENCE_AHEAD = 40


class Unreadable(ValueError):
    """There is no JSON, or it cannot be read without guessing; `reason` can be sent to the model."""

    def __init__(self, reason: Sentence) -> None:
        self.reason = reason
        super().__init__(str(reason))


def read(text: str) -> Any:
    r"""Return the JSON value in a reply, exactly as the model meant it.

    Raises:
        Unreadable: there is none, or it could be meant in two ways.

    >>> read('Here:\n```JSON\n{"problem": "Find $\\frac{1}{2}$", "answer": 5,}\n```')
    {'problem': 'Find $\\frac{1}{2}$', 'answer': 5}
    """
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(say("The reply is longer than {limit} characters.", limit=MOST_CHARACTERS))
    try:
        return _built(_chosen(text))
    except TwoWays as error:
        raise Unreadable(error.reason) from None


def read_all(text: str) -> list[object]:
    """Return every object, or list of objects, in a reply that `read` can read: it takes one, and the others may say otherwise.

    >>> read_all('{"a": 1} and not {"a": 5}')
    [{'a': 1}, {'a': 5}]

    Raises:
        Unreadable: one of them could be meant in two ways, or is unfinished.
    """
    try:
        return [_built(one.value) for one in _objects(text)]
    except TwoWays as error:
        raise Unreadable(error.reason) from None


class _Broken(Exception):
    """Where the text stops being JSON; `unfinished` when that is its end."""

    def __init__(self, position: int, *, unfinished: bool = False) -> None:
        self.position = position
        self.unfinished = unfinished


class _Object(NamedTuple):
    """An object before its strings are decoded."""

    members: list[tuple[Body, Any]]


class _Found(NamedTuple):
    value: Any
    fenced: bool


def _chosen(text: str) -> Any:
    """Return the value to take, with its strings not yet decoded."""
    objects = list(_objects(text))
    if objects:
        return next((value for value in reversed(objects) if value.fenced), objects[-1]).value
    whole = FENCED.fullmatch(text)
    return _Parser(whole[1] if whole is not None else text).alone()


def _objects(text: str) -> Iterator[_Found]:
    """Yield the objects and the lists with objects, in order."""
    position = 0
    while (opening := OPENING.search(text, position)) is not None:
        start = opening.start()
        if text[start - 1 : start] == "\\":
            position = start + 1
            continue
        parser = _Parser(text)
        try:
            value, end = parser.value(start, 0)
        except _Broken as broken:
            if parser.has_begun:
                raise _complaint(text, broken) from None
            position = max(broken.position, start + 1)
            continue
        if parser.has_begun:
            yield _Found(value, FENCE.search(text, max(start - FENCE_AHEAD, 0), start) is not None)
        position = end


def _complaint(text: str, broken: _Broken) -> Unreadable:
    if broken.unfinished:
        return Unreadable(say("The JSON is unfinished."))
    place = text[max(broken.position - 20, 0) : broken.position + 20]
    return Unreadable(say("The JSON breaks at character {position}: '{place}'.", position=broken.position, place=place))


class _Parser:
    """Parses one value; `has_begun` once an object with a key was seen, so that what follows is no prose."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.has_begun = False

    def alone(self) -> object:
        """Return the value that is the whole text."""
        try:
            value, end = self.value(self._skip_whitespace(0), 0)
        except _Broken:
            raise Unreadable(say("The reply holds no JSON.")) from None
        if self._skip_whitespace(end) != len(self._text):
            raise Unreadable(say("The reply holds no JSON."))
        return value

    def value(self, start: int, depth: int) -> tuple[Any, int]:
        if depth > MOST_DEPTH:
            raise Unreadable(say("The JSON is nested deeper than {limit}.", limit=MOST_DEPTH))
        sign = self._text[start : start + 1]
        if sign == "{":
            return self._object(start, depth)
        if sign == "[":
            return self._list(start, depth)
        if sign in STRINGS:
            return self._string(start)
        if (number := NUMBER.match(self._text, start)) is not None:
            return _number(number), number.end()
        name = NAME.match(self._text, start)
        if name is not None and name[0] in LITERALS:
            return LITERALS[name[0]], name.end()
        raise self._broken(start)

    def _object(self, start: int, depth: int) -> tuple[_Object, int]:
        members: list[tuple[Body, Any]] = []
        position = self._skip_whitespace(start + 1)
        while not self._is(position, "}"):
            if members and self._is_over(position):
                return _Object(members), len(self._text)
            key, position = self._key(position)
            position = self._skip_whitespace(position)
            if not self._is(position, ":："):
                raise self._broken(position)
            position = self._skip_whitespace(position + 1)
            self.has_begun = self.has_begun or self._is(position, '"{[')
            value, end = self.value(position, depth + 1)
            members.append((key, value))
            position = self._skip_whitespace(end)
            if self._is(position, ",，"):
                position = self._skip_whitespace(position + 1)
            elif self._is_over(position):
                if end == len(self._text) and isinstance(value, int | float) and not isinstance(value, bool):
                    raise _Broken(end, unfinished=True)  # more digits may have been to come
                return _Object(members), len(self._text)
            elif not self._is(position, "}"):
                raise self._broken(position)
        return _Object(members), position + 1

    def _list(self, start: int, depth: int) -> tuple[list[object], int]:
        items: list[object] = []
        position = self._skip_whitespace(start + 1)
        while not self._is(position, "]"):
            item, position = self.value(position, depth + 1)
            items.append(item)
            position = self._skip_whitespace(position)
            if self._is(position, ",，"):
                position = self._skip_whitespace(position + 1)
            elif not self._is(position, "]"):
                raise self._broken(position)
        return items, position + 1

    def _key(self, start: int) -> tuple[Body, int]:
        if self._text[start : start + 1] in STRINGS:
            self.has_begun = True
            return self._string(start)
        name = NAME.match(self._text, start)
        if name is None:
            raise self._broken(start)
        return Body(name[0]), name.end()

    def _string(self, start: int) -> tuple[Body, int]:
        quote = self._text[start]
        match = STRINGS[quote].match(self._text, start)
        if match is None:
            raise _Broken(len(self._text), unfinished=True)
        return Body(match[1], single=quote in "'‘"), match.end()

    def _skip_whitespace(self, start: int) -> int:
        match = WHITESPACE.match(self._text, start)
        assert match is not None
        return match.end()

    def _is(self, position: int, signs: str) -> bool:
        sign = self._text[position : position + 1]
        return bool(sign) and sign in signs

    def _is_over(self, position: int) -> bool:
        """Return True if nothing but the end of a fence is left."""
        rest = self._text[position : position + FENCE_AHEAD]
        return not rest or (rest.strip() == "```" and position + len(rest) == len(self._text))

    def _broken(self, position: int) -> _Broken:
        return _Broken(position, unfinished=position >= len(self._text))


def _number(found: re.Match[str]) -> int | float:
    digits, is_whole = found[0], found[1] is None and found[2] is None
    if len(digits) > MOST_DIGITS:
        raise Unreadable(say("A number has more than {limit} digits.", limit=MOST_DIGITS))
    number = int(digits) if is_whole else float(digits)
    if number in (float("inf"), float("-inf")):
        raise Unreadable(say("The number {number} is too large.", number=digits))
    return number


def _built(value: object) -> object:
    """Return the value with its strings decoded, all with the habits of the whole reply."""
    bodies: list[Body] = []
    _collect(value, bodies)
    return _filled(value, iter(decode_all(bodies)))


def _collect(value: object, bodies: list[Body]) -> None:
    match value:
        case Body():
            bodies.append(value)
        case _Object(members=members):
            for key, entry in members:
                bodies.append(key)
                _collect(entry, bodies)
        case list():
            for entry in value:
                _collect(entry, bodies)


def _filled(value: object, texts: Iterator[str]) -> object:
    match value:
        case Body():
            return next(texts)
        case _Object(members=members):
            fields: dict[str, object] = {}
            for _, entry in members:
                key = next(texts)
                if key in fields:
                    raise Unreadable(say("The key '{key}' stands twice.", key=key))
                fields[key] = _filled(entry, texts)
            return fields
        case list():
            return [_filled(item, texts) for item in value]
    return value
