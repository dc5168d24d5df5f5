"""Turn errors of msgspec and json into sentences; their own texts are English with Python's names of types."""

import json
import re
from functools import reduce

from proctor.core.sentence import Sentence, say

KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
JSON_KINDS: dict[type, str] = {  # a bool is an int too, so it comes first
    dict: "object",
    list: "array",
    str: "str",
    bool: "bool",
    int: "int",
    float: "float",
    type(None): "null",
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
MALFORMED_BY_JSON = {  # the same as the json module of Python has it
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a key has to be a text in double quotes",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Illegal trailing comma before end of object": "a comma too many",
    "Illegal trailing comma before end of array": "a comma too many",
    "Extra data": "something after the end",
    "Unterminated string starting at": "a text has no end",
    "Invalid control character at": "a line break or control character within a text",
    "Invalid \\escape": "an invalid escape in a text",
    "Invalid \\uXXXX escape": "an invalid escape in a text",
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
    """Return the error of a validation in words, with the path in the value; an unknown message stays unchanged.

    >>> import msgspec
    >>> try:
    ...     msgspec.convert({"a": ["x"]}, dict[str, list[int]])
    ... except msgspec.ValidationError as error:
    ...     print(in_words(error))
    '[...][0]': expected a whole number, got a text
    """
    if isinstance(error, json.JSONDecodeError):
        return say(
            "{problem} (line {line}, column {column})",
            problem=describe_malformed(error),
            line=error.lineno,
            column=error.colno,
        )
    if isinstance(error, UnicodeDecodeError):
        return say("byte {byte} is no UTF-8", byte=error.start)
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, RecursionError):
        return say("it is nested too deep")
    text = str(error)
    match = _PLACE.search(text)
    told = _describe(text[: match.start()] if match else text)
    if told is None:
        return text
    return say("'{place}': {problem}", place=match[1], problem=told) if match and match[1] else told


def describe_malformed(error: json.JSONDecodeError) -> Sentence | str:
    """Return why a text is not JSON, without line and column."""
    return say(MALFORMED_BY_JSON[error.msg]) if error.msg in MALFORMED_BY_JSON else error.msg


def mismatch(expected: str, value: object) -> Sentence:
    """Return "expected …, got …" for JSON data of the wrong kind: object, array, str, int, float, bool or null.

    >>> str(mismatch("object", [1]))
    'expected an object, got a list'
    """
    actual = next((name for kind, name in JSON_KINDS.items() if isinstance(value, kind)), type(value).__name__)
    return say("expected {expected}, got {found}", expected=_kind(expected), found=_kind(actual))


def _describe(text: str) -> Sentence | None:
    if match := _MALFORMED.match(text):
        problem = say(MALFORMED[match[1]]) if match[1] in MALFORMED else match[1]
        return say("{problem} (byte {byte})", problem=problem, byte=match[2])
    if text == "Input data was truncated":
        return say("it ends too early")
    if match := _KIND.match(text):
        expected = reduce(
            lambda one, other: say("{one} or {other}", one=one, other=other), map(_kind, match[1].split(" | "))
        )
        return say("expected {expected}, got {found}", expected=expected, found=_kind(match[2]))
    if match := _BOUND.match(text):
        return say("expected {expected} {sign} {bound}", expected=_kind(match[1]), sign=match[2], bound=match[3])
    if match := _LENGTH.match(text):
        return say("expected a length {sign} {bound}", sign=match[1], bound=match[2])
    if match := _MISSING.match(text):
        return say("'{field}' is missing", field=match[1])
    if match := _UNKNOWN.match(text):
        return say("there is no '{field}'", field=match[1])
    if match := _CHOICE.match(text):
        return say("{value} is none of the values it may have", value=match[1])
    return None


def _kind(name: str) -> Sentence | str:
    return say(KINDS[name]) if name in KINDS else name
