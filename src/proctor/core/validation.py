"""Say in words what msgspec found wrong with a value; its own texts are English with Python's names of types."""

import re
from functools import reduce

from proctor.core.sentence import Sentence, say

KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
MALFORMED = {
    "trailing comma in object": "a comma too many",
    "trailing comma in array": "a comma too many",
    "invalid character": "a character that does not belong there",
    "invalid number": "no valid number",
    "invalid escape character in string": "an invalid escape in a text",
    "expected ':'": "a colon is missing",
    "expected ',' or '}'": "a comma or a closing brace is missing",
    "expected ',' or ']'": "a comma or a closing bracket is missing",
    "object keys must be strings": "a key has to be a text in double quotes",
    "trailing characters": "something after the end",
}
_PLACE = re.compile(r" - at `(?:key in )?\$?\.?(.*)`$")
_KIND = re.compile(r"^Expected `([^`]+)`, got `([^`]+)`$")
_BOUND = re.compile(r"^Expected `(\w+)(?: \| null)?` ?(>=|<=|>|<) ?([\d.e+-]+)$")
_LENGTH = re.compile(r"^Expected `\w+` of length (>=|<=) ?(\d+)$")
_MISSING = re.compile(r"^Object missing required field `(.+)`$")
_UNKNOWN = re.compile(r"^Object contains unknown field `(.+)`$")
_MALFORMED = re.compile(r"^JSON is malformed: (.+) \(byte (\d+)\)$")
_CHOICE = re.compile(r"^Invalid (?:enum )?value (.+)$")


def in_words(error: Exception) -> Sentence | str:
    """Return what is wrong, with the place in the value; a text that is not known stays as msgspec has it.

    >>> import msgspec
    >>> try:
    ...     msgspec.convert({"a": ["x"]}, dict[str, list[int]])
    ... except msgspec.ValidationError as error:
    ...     print(in_words(error))
    '[...][0]': expected a whole number, got a text
    """
    text = str(error)
    place = _PLACE.search(text)
    told = _told(text[: place.start()] if place else text)
    if told is None:
        return text
    return say("'{place}': {problem}", place=place[1], problem=told) if place and place[1] else told


def _told(text: str) -> Sentence | None:
    if found := _MALFORMED.match(text):
        problem = say(MALFORMED[found[1]]) if found[1] in MALFORMED else found[1]
        return say("{problem} (byte {byte})", problem=problem, byte=found[2])
    if text == "Input data was truncated":
        return say("it ends too early")
    if found := _KIND.match(text):
        expected = reduce(
            lambda one, other: say("{one} or {other}", one=one, other=other), map(_kind, found[1].split(" | "))
        )
        return say("expected {expected}, got {found}", expected=expected, found=_kind(found[2]))
    if found := _BOUND.match(text):
        return say("expected {expected} {sign} {bound}", expected=_kind(found[1]), sign=found[2], bound=found[3])
    if found := _LENGTH.match(text):
        return say("expected a length {sign} {bound}", sign=found[1], bound=found[2])
    if found := _MISSING.match(text):
        return say("'{field}' is missing", field=found[1])
    if found := _UNKNOWN.match(text):
        return say("there is no '{field}'", field=found[1])
    if found := _CHOICE.match(text):
        return say("{value} is none of the values it may have", value=found[1])
    return None


def _kind(name: str) -> Sentence | str:
    return say(KINDS[name]) if name in KINDS else name
