"""Read the calls that samples expect, in the forms that tasks use, and compare them with the schemas of the tools."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import Sample

DIALECT = {"dict": "object", "float": "number", "double": "number", "tuple": "array", "list": "array", "str": "string", "int": "integer", "bool": "boolean"}  # fmt: skip
STANDARD = frozenset(("object", "number", "array", "string", "integer", "boolean", "null"))
NAMED_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")


class GoldCall(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call; each argument with the values that are accepted for it, and the names of those that may be left out."""

    name: str
    arguments: Mapping[str, Sequence[Any]]
    optional: frozenset[str] = frozenset()
    turn: int = 0

    @property
    def first(self) -> Mapping[str, Any]:
        """Return the arguments with the first value of each that is not left out."""
        return {name: values[0] for name, values in self.arguments.items() if values}


class ToolSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with its parameters as a JSON schema of draft 2020-12."""

    name: str
    parameters: Mapping[str, Any]


def tools_of(sample: Sample) -> list[ToolSchema]:
    """Return the tools that a sample offers, as its turns or its `functions` say."""
    offered = [(tool.name, tool.parameters) for turn in sample.turns for tool in turn.tools]
    functions = sample.meta.get("functions")
    if not offered and isinstance(functions, Sequence) and not isinstance(functions, str):
        offered = [(each["name"], each.get("parameters", {})) for each in functions if _names_tool(each)]
    return [ToolSchema(name=name, parameters=standard_schema(parameters)) for name, parameters in offered]


def _names_tool(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("name"), str)


def standard_schema(schema: Any) -> Any:
    """Return a schema with the types of other dialects as those of JSON Schema; a type that is unknown allows anything.

    >>> standard_schema({"type": "dict", "properties": {"x": {"type": "float"}, "type": {"type": "any"}}})
    {'type': 'object', 'properties': {'x': {'type': 'number'}, 'type': {}}}
    """
    if isinstance(schema, list | tuple):
        return [standard_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    mapped: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            kinds = value if isinstance(value, list | tuple) else [value]
            known = [
                DIALECT.get(str(kind).lower() if str(kind).lower() in DIALECT else str(kind), kind) for kind in kinds
            ]
            if all(kind in STANDARD for kind in known):
                mapped[key] = known if isinstance(value, list | tuple) else known[0]
        elif key in NAMED_SCHEMAS and isinstance(value, Mapping):
            mapped[key] = {name: standard_schema(each) for name, each in value.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            mapped[key] = value
        else:
            mapped[key] = standard_schema(value)
    return _with_null(mapped) if "default" in schema and schema["default"] is None else mapped


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that allows null too: the default may be written out."""
    kinds = schema.get("type")
    if isinstance(kinds, str | list):
        schema["type"] = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [*schema["enum"], None]
    return schema


def gold_calls(sample: Sample) -> list[GoldCall]:
    """Return the calls that a sample expects; empty where it expects none, or says so in another form."""
    references = [(number, turn.reference) for number, turn in enumerate(sample.turns) if turn.reference is not None]
    found = [call for number, reference in references for call in _calls_in(reference, number)]
    return found or [*_calls_in(sample.target, 0)]


def _calls_in(reference: object, turn: int) -> Iterator[GoldCall]:
    if isinstance(reference, Mapping):
        reference = reference.get("calls")
    if not isinstance(reference, list | tuple):
        return
    for each in reference:
        if isinstance(each, list | tuple):
            yield from _calls_in(each, turn)
        elif isinstance(each, Mapping) and isinstance(each.get("name"), str):
            arguments = each.get("arguments", each.get("args"))
            values = {name: [value] for name, value in arguments.items()} if isinstance(arguments, Mapping) else {}
            matched = each.get("match") or {}
            yield GoldCall(
                name=each["name"],
                arguments={name: value for name, value in values.items() if name not in matched},
                turn=turn,
            )
        elif isinstance(each, Mapping):
            for name, accepted in each.items():
                if isinstance(accepted, Mapping) and all(isinstance(values, list) for values in accepted.values()):
                    yield _with_alternatives(str(name), accepted, turn)


def _with_alternatives(name: str, accepted: Mapping[str, Sequence[Any]], turn: int) -> GoldCall:
    """Return a call whose arguments are lists of accepted values, in which "" says that the argument may be left out."""
    optional = frozenset(key for key, values in accepted.items() if "" in values)
    return GoldCall(
        name=name,
        arguments={key: [value for value in values if value != ""] for key, values in accepted.items()},
        optional=optional,
        turn=turn,
    )


def plain_values(value: Any) -> Iterator[Any]:
    """Yield the values that an accepted value means: in objects the values may be lists of alternatives."""
    yield value
    if isinstance(value, Mapping) and value and all(isinstance(each, list) and each for each in value.values()):
        yield {key: values[0] for key, values in value.items() if values[0] != ""}
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        yield [next(reversed([*plain_values(each)])) for each in value]


def schema_fault(schema: Mapping[str, Any], value: object) -> str | None:
    """Return what violates a schema, with its JSON path; None if nothing does, or the schema itself cannot be used."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, best_match

    try:
        Draft202012Validator.check_schema(schema)
        error = best_match(Draft202012Validator(schema).iter_errors(value))
    except (SchemaError, RecursionError):
        return None
    except Exception:  # noqa: BLE001 - a reference that leads nowhere, or outside: nothing is fetched
        return None
    return None if error is None else f"{error.json_path}: {error.message}"
