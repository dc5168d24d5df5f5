"""Bound the JSON schema of a tool's parameters, for what makes arguments by it: every string, array, number and object gets a limit."""

from collections.abc import Mapping
from typing import Any

CHARACTERS = 200
ITEMS = 16
KEYS = 8
LARGEST = 10**12
DEPTH = 6
PARTS = 2_000  # of one schema

_JSON_TYPE = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "int": "integer",
    "long": "integer",
    "bool": "boolean",
    "str": "string",
    "list": "array",
    "tuple": "array",
}
_SCALARS = ("string", "number", "boolean")


def bounded(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Return a schema of type object that allows what `parameters` allows, within limits.

    >>> bounded({"type": "dict", "properties": {"x": {"type": "string"}}})["properties"]
    {'x': {'type': 'string', 'maxLength': 200}}
    """
    schema = {"type": "object", "properties": {}, **parameters}
    definitions = {**_mapping(schema.get("definitions")), **_mapping(schema.get("$defs"))}
    return _bounded_object(schema, _Around(definitions), DEPTH)


class _Around:
    """The definitions of a schema, and how many of its parts were followed: references may multiply them without end."""

    def __init__(self, definitions: Mapping[str, object]) -> None:
        self.definitions = definitions
        self.parts = 0


def _bounded(schema: object, around: _Around, depth: int) -> dict[str, object]:
    around.parts += 1
    if not isinstance(schema, Mapping) or depth <= 0 or around.parts > PARTS:
        return any_of([_scalar(kind, {}) for kind in _SCALARS])
    if isinstance(reference := schema.get("$ref"), str):
        return _bounded(around.definitions.get(reference.rpartition("/")[2]), around, depth - 1)
    if "const" in schema:
        return {"const": schema["const"]}
    if isinstance(choices := schema.get("enum"), list) and choices:
        return {"enum": choices}
    for word in ("anyOf", "oneOf"):
        if isinstance(ways := schema.get(word), list) and ways:
            return any_of([_bounded(way, around, depth - 1) for way in ways])
    if isinstance(parts := schema.get("allOf"), list) and parts:
        merged = {key: value for part in parts for key, value in _mapping(part).items()}
        return _bounded(merged, around, depth - 1)
    if isinstance(kinds := schema.get("type"), list) and kinds:
        return any_of([_bounded({**schema, "type": kind}, around, depth - 1) for kind in kinds])
    kind = _kind(schema)
    if kind == "object":
        return _bounded_object(schema, around, depth)
    if kind == "array":
        most = _limit(schema.get("maxItems"), ITEMS)
        items = _bounded(schema.get("items"), around, depth - 1)
        least = min(_limit(schema.get("minItems"), ITEMS), most) if "minItems" in schema else 0
        return {"type": "array", "items": items, "minItems": least, "maxItems": most}
    if kind in ("string", "integer", "number", "boolean", "null"):
        return _scalar(kind, schema)
    return any_of([_scalar(kind, {}) for kind in _SCALARS])


def _bounded_object(schema: Mapping[str, object], around: _Around, depth: int) -> dict[str, object]:
    properties = _mapping(schema.get("properties"))
    if not properties and depth < DEPTH:  # any keys; only the parameters themselves may be none at all
        values = _bounded(schema.get("additionalProperties"), around, min(depth - 1, 1))
        return {"type": "object", "additionalProperties": values, "maxProperties": KEYS}
    required = schema.get("required")
    return closed_object(
        {str(name): _bounded(value, around, depth - 1) for name, value in properties.items()},
        [name for name in required if name in properties] if isinstance(required, list | tuple) else [],
    )


def _scalar(kind: str, schema: Mapping[str, object]) -> dict[str, object]:
    if kind == "string":
        return {"type": "string", "maxLength": _limit(schema.get("maxLength"), CHARACTERS)}
    if kind in ("integer", "number"):
        least, most = _number(schema.get("minimum"), -LARGEST), _number(schema.get("maximum"), LARGEST)
        return {"type": kind, "minimum": least, "maximum": max(least, most)}
    return {"type": kind}


def _kind(schema: Mapping[str, object]) -> str:
    kind = schema.get("type")
    if isinstance(kind, str):
        return _JSON_TYPE.get(kind.lower(), kind.lower())
    return "object" if "properties" in schema else "array" if "items" in schema else "any"


def closed_object(properties: dict[str, object], required: list[str] | None = None) -> dict[str, object]:
    """Return the schema of an object with these properties and no others; all are required unless `required` names them."""
    needed = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def any_of(ways: list[dict[str, object]]) -> dict[str, object]:
    """Return the schema of what fits one of several."""
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _limit(asked: object, most: int) -> int:
    return min(asked, most) if isinstance(asked, int) and asked >= 0 else most


def _number(asked: object, default: float) -> float:
    if not isinstance(asked, int | float) or isinstance(asked, bool):
        return default
    return min(max(asked, -LARGEST), LARGEST) if asked <= 0 or asked > 0 else default  # NaN is neither
