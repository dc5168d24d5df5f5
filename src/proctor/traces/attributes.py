"""Attributes of spans: typed values of OTLP-JSON made plain, and dotted names made a tree."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.chat.agent_replies import clean

DEEPEST = 100
Tree = Mapping[str, object]


class TooDeep(ValueError):
    """A value is nested deeper than anything an agent records."""


_WHOLE = re.compile(r"-?[0-9]{1,300}")  # Python refuses to read a few thousand digits


def plain(value: object, depth: int = 0) -> Any:
    """A typed value of OTLP-JSON (`{"intValue": "5"}`) as the value itself; anything else stays what it is.

    >>> plain({"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "5"}]}})
    ['a', 5]
    """
    if depth > DEEPEST:
        raise TooDeep
    if not isinstance(value, dict) or len(value) != 1:
        return value if value != {} else None
    kind, inner = next(iter(value.items()))
    match kind.replace("_v", "V"):
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case "intValue":
            return int(inner) if isinstance(inner, str) and _WHOLE.fullmatch(inner) else inner
        case "arrayValue":
            return [plain(one, depth + 1) for one in _values(inner)]
        case "kvlistValue":
            return {str(one.get("key")): plain(one.get("value"), depth + 1) for one in _values(inner)}
    return value


def named(attributes: object) -> dict[str, object]:
    """The attributes of a span: an object, or OTLP's list of keys with typed values.

    Raises:
        ValueError: they are neither.
    """
    if attributes is None:
        return {}
    if isinstance(attributes, dict):
        return dict(attributes)
    if isinstance(attributes, list) and all(isinstance(one, dict) and "key" in one for one in attributes):
        return {str(one["key"]): plain(one.get("value")) for one in attributes}
    raise ValueError


def tree(attributes: Mapping[str, Any]) -> dict[str, object]:
    """Dotted names as a tree; where a name is both a value and a branch, the value stands under ''.

    >>> tree({"a.0.b": 1, "a.0.c": 2, "a": 3})
    {'a': {'0': {'b': 1, 'c': 2}, '': 3}}
    """
    made: dict[str, object] = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        if len(path) > DEEPEST:
            raise TooDeep
        place = made
        for step in path:
            branch = place.get(step)
            if not isinstance(branch, dict):
                branch = place[step] = {} if branch is None else {"": branch}
            place = branch
        there = place.get(last)
        if isinstance(there, dict) and not isinstance(value, dict):
            there[""] = value
        elif isinstance(there, dict):
            there.update(value)
        else:
            place[last] = dict(value) if isinstance(value, dict) else value
    return made


def at(branch: object, path: str) -> Any:
    """What stands at a dotted path; the value itself where it is also a branch; None where there is nothing."""
    for step in path.split("."):
        if not isinstance(branch, dict):
            return None
        branch = branch.get(step)
    return branch


def leaf(branch: object, path: str) -> Any:
    """The value at a path, not the branch below it."""
    found = at(branch, path)
    return found.get("") if isinstance(found, dict) and "" in found else found


def text(branch: object, *paths: str) -> str:
    """The first of these paths that holds a text that is not empty."""
    for path in paths:
        found = leaf(branch, path)
        if isinstance(found, str) and found:
            return found
    return ""


def identity(branch: object, *paths: str) -> str:
    """The first of these paths that holds an id; `<unknown_user_id>` and the like are none."""
    for path in paths:
        found = text(branch, path)
        if found and not (found.startswith("<") and found.endswith(">")):
            return clean(found)
    return ""


def number(branch: object, *paths: str) -> int:
    """The first of these paths that holds a number, as a whole one; else 0."""
    for path in paths:
        found = leaf(branch, path)
        if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e15:
            return int(found)
    return 0


def items(value: object) -> list[Any]:
    """A list, however it was written: a list, a branch with numbers for names, or JSON text.

    >>> items({"1": "b", "0": "a"}), items('[1]'), items("x")
    (['a', 'b'], [1], [])
    """
    if isinstance(value, str):
        value = decoded(value)
    if isinstance(value, dict):
        if "" in value and len(value) == 1:
            return items(value[""])
        places = sorted((int(name), one) for name, one in value.items() if name.isdecimal() and len(name) < 10)
        return [one for _, one in sorted(places, key=lambda place: place[0])]
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def decoded(value: Any) -> Any:
    """JSON text as what it says; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _values(inner: Any) -> list[Any]:
    values = inner.get("values") if isinstance(inner, dict) else None
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
