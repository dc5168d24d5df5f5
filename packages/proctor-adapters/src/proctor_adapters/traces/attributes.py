"""Read the attributes of spans: typed values of OTLP-JSON as plain ones, and dotted names as a tree."""

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


def plain_value(value: object, depth: int = 0) -> object:
    """Return the value in a typed value of OTLP-JSON (`{"intValue": "5"}`); anything else unchanged.

    >>> plain_value({"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "5"}]}})
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
            return [plain_value(item, depth + 1) for item in _values(inner)]
        case "kvlistValue":
            return {str(item.get("key")): plain_value(item.get("value"), depth + 1) for item in _values(inner)}
    return value


def attributes_by_name(attributes: object) -> dict[str, object]:
    """Return the attributes of a span by name, out of an object or OTLP's list of keys with typed values.

    Raises:
        ValueError: they are neither.
    """
    if attributes is None:
        return {}
    if isinstance(attributes, dict):
        return dict(attributes)
    if isinstance(attributes, list) and all(
        isinstance(attribute, dict) and "key" in attribute for attribute in attributes
    ):
        return {str(attribute["key"]): plain_value(attribute.get("value")) for attribute in attributes}
    raise ValueError


def tree(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return dotted names as a tree; where a name is both a value and a branch, the value is under ''.

    >>> tree({"a.0.b": 1, "a.0.c": 2, "a": 3})
    {'a': {'0': {'b': 1, 'c': 2}, '': 3}}
    """
    root: dict[str, object] = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        if len(path) > DEEPEST:
            raise TooDeep
        node = root
        for step in path:
            branch = node.get(step)
            if not isinstance(branch, dict):
                branch = node[step] = {} if branch is None else {"": branch}
            node = branch
        present = node.get(last)
        if isinstance(present, dict):
            present.update(value if isinstance(value, dict) else {"": value})
        else:
            node[last] = dict(value) if isinstance(value, dict) else value
    return root


def at(branch: object, path: str) -> Any:
    """Return the value at a dotted path, the value itself if it is also a branch; None if there is none."""
    for step in path.split("."):
        if not isinstance(branch, dict):
            return None
        branch = branch.get(step)
    return branch


def leaf(branch: object, path: str) -> object:
    """Return the value at a path, not the branch below it."""
    value = at(branch, path)
    return value.get("") if isinstance(value, dict) and "" in value else value


def first_leaf(branch: object, *paths: str) -> object:
    """Return the value at the first of the paths that has one; None if none has."""
    return next((value for path in paths if (value := leaf(branch, path)) is not None), None)


def text(branch: object, *paths: str) -> str:
    """Return the first text at one of the paths that is not empty."""
    return next((value for path in paths if isinstance(value := leaf(branch, path), str) and value), "")


def identity(branch: object, *paths: str) -> str:
    """Return the first id at one of the paths; `<unknown_user_id>` and the like count as missing."""
    ids = (text(branch, path) for path in paths)
    return next((clean(one) for one in ids if one and not (one.startswith("<") and one.endswith(">"))), "")


def number(branch: object, *paths: str) -> int:
    """Return the first count at one of the paths, as a whole number; else 0."""
    for path in paths:
        value = leaf(branch, path)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
            return int(value)
    return 0


def items(value: object) -> list[Any]:
    """Return a list, however it was written: a list, a branch with numbers for names, or JSON text.

    >>> items({"1": "b", "0": "a"}), items('[1]'), items("x")
    (['a', 'b'], [1], [])
    """
    if isinstance(value, str):
        value = decode_json(value)
    if isinstance(value, dict):
        if "" in value and len(value) == 1:
            return items(value[""])
        numbered = [(int(name), entry) for name, entry in value.items() if name.isdecimal() and len(name) < 10]
        return [entry for _, entry in sorted(numbered, key=lambda pair: pair[0])]
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def decode_json(value: object) -> Any:
    """Return the value of JSON text; anything else unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _values(inner: object) -> list[dict[str, object]]:
    values = inner.get("values") if isinstance(inner, dict) else None
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
