"""Hold a value against a JSON schema: the words of draft 2020-12 that describe plain data.

A word that is not known is an error when the schema is read, never silently ignored. `format` is a remark only.
"""

import json
from collections.abc import Mapping
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.scorers._matcher import checked, search
from proctor.scorers._texts import shown

DEPTH = 100
REMARKS = {
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
}
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": (int, float),
}
ONE = {"not", "items", "additionalProperties"}
SEVERAL = {"anyOf", "oneOf", "allOf"}
NAMED = {"properties", "$defs", "definitions"}
NUMBERS = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip
PLAIN = {"type", "enum", "const", "required", "uniqueItems", "pattern", "$ref"} | NUMBERS


def check(schema: Any, path: str = "$", depth: int = 0) -> None:
    """Refuse a schema that cannot be followed to the letter.

    Raises:
        BadInput: an unknown word, a pattern that is none, a part of the wrong kind; names the path.
    """
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping) or depth > DEPTH:
        raise _wrong(path, say("an object"))
    for word, value in schema.items():
        at = f"{path}.{word}"
        if word in ONE:
            check(value, at, depth + 1)
        elif word in SEVERAL:
            for place, part in enumerate(_kind(value, list, at)):
                check(part, f"{at}[{place}]", depth + 1)
        elif word in NAMED:
            for name, part in _kind(value, Mapping, at).items():
                check(part, f"{at}.{name}", depth + 1)
        elif word in PLAIN:
            _check_plain(word, value, at)
        elif word not in REMARKS:
            raise BadInput("{path} of the schema is not known here.", path=at)


def fault(schema: Any, value: Any) -> Sentence | None:
    """Why a value does not fit a checked schema; None where it does.

    Raises:
        TooSlow: a `pattern` took too long on a text.

    >>> str(fault({"type": "object", "required": ["name"]}, {}))
    "$: 'name' is missing."
    """
    return _fault(schema, value, "$", schema, 0)


def _fault(schema: Any, value: Any, path: str, root: Any, depth: int) -> Sentence | None:
    if schema is True:
        return None
    if schema is False or depth > DEPTH:
        return say("{path}: nothing may stand here.", path=path)
    found = _own_fault(schema, value, path) or _inner_fault(schema, value, path, root, depth)
    if found is not None:
        return found
    if "$ref" in schema:
        return _fault(_referred(root, schema["$ref"]), value, path, root, depth + 1)
    for part in schema.get("allOf", ()):
        if (found := _fault(part, value, path, root, depth + 1)) is not None:
            return found
    return _choice_fault(schema, value, path, root, depth)


def _choice_fault(schema: Mapping[str, Any], value: Any, path: str, root: Any, depth: int) -> Sentence | None:
    def fits(part: Any) -> bool:
        return _fault(part, value, path, root, depth + 1) is None

    if "anyOf" in schema and not any(map(fits, schema["anyOf"])):
        return say("{path}: {value} fits none of the choices.", path=path, value=_said(value))
    if "oneOf" in schema and sum(map(fits, schema["oneOf"])) != 1:
        return say("{path}: {value} does not fit exactly one of the choices.", path=path, value=_said(value))
    if "not" in schema and fits(schema["not"]):
        return say("{path}: {value} is ruled out.", path=path, value=_said(value))
    return None


def _own_fault(schema: Mapping[str, Any], value: Any, path: str) -> Sentence | None:
    """What the value itself breaks: type, choices, bounds."""
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, name) for name in types):
        return say("{path}: {value} is no {type}.", path=path, value=_said(value), type=" | ".join(types))
    if "enum" in schema and not any(_equal(value, one) for one in schema["enum"]):
        return say(
            "{path}: {value} is none of {choices}.", path=path, value=_said(value), choices=_said(schema["enum"])
        )
    if "const" in schema and not _equal(value, schema["const"]):
        return say("{path}: {value} is not {expected}.", path=path, value=_said(value), expected=_said(schema["const"]))
    for word in NUMBERS & schema.keys():
        if not _within(word, value, schema[word]):
            return say(
                "{path}: {value} breaks {word} {bound}.", path=path, value=_said(value), word=word, bound=schema[word]
            )
    if "pattern" in schema and isinstance(value, str) and search(schema["pattern"], value) is None:
        return say(
            "{path}: {value} does not fit the pattern {pattern}.",
            path=path,
            value=_said(value),
            pattern=schema["pattern"],
        )
    if schema.get("uniqueItems") and isinstance(value, list):
        seen = {json.dumps(one, sort_keys=True) for one in value}
        if len(seen) < len(value):
            return say("{path}: an element is there twice.", path=path)
    return None


def _inner_fault(schema: Mapping[str, Any], value: Any, path: str, root: Any, depth: int) -> Sentence | None:
    """What a part of the value breaks."""
    if isinstance(value, list) and "items" in schema:
        for place, one in enumerate(value):
            if (found := _fault(schema["items"], one, f"{path}[{place}]", root, depth + 1)) is not None:
                return found
    if not isinstance(value, dict):
        return None
    for name in schema.get("required", ()):
        if name not in value:
            return say("{path}: '{key}' is missing.", path=path, key=name)
    own = schema.get("properties", {})
    for name, one in value.items():
        part = own.get(name, schema.get("additionalProperties", True))
        if part is False:
            return say("{path}: '{key}' is not expected.", path=path, key=name)
        if (found := _fault(part, one, f"{path}.{name}", root, depth + 1)) is not None:
            return found
    return None


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def _equal(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _within(word: str, value: Any, bound: float) -> bool:
    size = _size(word, value)
    if size is None:
        return True
    match word:
        case "exclusiveMinimum":
            return size > bound
        case "exclusiveMaximum":
            return size < bound
        case "multipleOf":
            return (size / bound).is_integer()
    return size >= bound if word.startswith("min") else size <= bound


def _size(word: str, value: Any) -> float | None:
    """What a bound is held against; None where the word says nothing of such a value."""
    kinds = {"Length": str, "Items": list, "Properties": dict}
    kind = next((kind for end, kind in kinds.items() if word.endswith(end)), None)
    if kind is not None:
        return len(value) if isinstance(value, kind) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _referred(root: Any, reference: str) -> Any:
    part = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if name:
            key = name.replace("~1", "/").replace("~0", "~")
            part = part.get(key, False) if isinstance(part, Mapping) else False
    return part


def _check_plain(word: str, value: Any, at: str) -> None:
    if word == "type":
        for name in [value] if isinstance(value, str) else _kind(value, list, at):
            if name not in TYPES:
                raise BadInput("{path} of the schema is no type: {value}.", path=at, value=repr(name))
    elif word in NUMBERS:
        if not isinstance(value, int | float) or (word == "multipleOf" and value <= 0):
            raise _wrong(at, say("a number"))
    elif word in ("enum", "required"):
        _kind(value, list, at)
    elif word == "pattern":
        checked(_kind(value, str, at))
    elif word == "$ref" and not _kind(value, str, at).startswith("#"):
        raise BadInput("{path} of the schema leads outside it: {value}.", path=at, value=repr(value))


def _kind(value: Any, kind: Any, at: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(at, say("a list") if kind is list else say("a text") if kind is str else say("an object"))
    return value


def _wrong(at: str, expected: Sentence) -> BadInput:
    return BadInput("{path} of the schema must be {expected}.", path=at, expected=expected)


def _said(value: Any) -> str:
    return shown(json.dumps(value, ensure_ascii=False, default=str))
