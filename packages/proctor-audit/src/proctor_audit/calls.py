"""Read the calls that samples expect, in the forms that tasks use, and compare them with the schemas of the tools."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.trajectory_matching.arguments import ArgumentRules
from proctor.trajectory_matching.expectation import ExpectedCall, expected_of
from proctor.trajectory_matching.options import how_of, options_of

DIALECT = {"dict": "object", "float": "number", "double": "number", "tuple": "array", "list": "array", "str": "string", "int": "integer", "bool": "boolean"}  # fmt: skip
STANDARD = frozenset(("object", "number", "array", "string", "integer", "boolean", "null"))
NAMED_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")


class GoldCall(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call; each argument with the values that are accepted for it.

    Attributes:
        optional: the arguments that may be left out.
        matched: the arguments that a matcher compares, so that no value is known that passes.
        is_complete: True if an agent may give no arguments but these.
        is_needed: False if the call may be left out, or another one does as well.
    """

    name: str
    arguments: Mapping[str, Sequence[Any]]
    optional: frozenset[str] = frozenset()
    matched: frozenset[str] = frozenset()
    is_complete: bool = True
    is_needed: bool = True
    turn: int = 0

    @property
    def first(self) -> Mapping[str, Any]:
        """Return the arguments with the first value of each that is not left out."""
        return {name: values[0] for name, values in self.arguments.items() if values}


class ToolSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with its parameters as a JSON schema of draft 2020-12, and the turn that offers it."""

    name: str
    parameters: Mapping[str, Any]
    turn: int = 0


def tools_of(sample: Sample) -> list[ToolSchema]:
    """Return the tools that a sample offers, as its turns or its `functions` say."""
    offered = [(tool.name, tool.parameters, number) for number, turn in enumerate(sample.turns) for tool in turn.tools]
    functions = sample.meta.get("functions")
    if not offered and isinstance(functions, Sequence) and not isinstance(functions, str):
        named = [each for each in functions if isinstance(each, Mapping) and isinstance(each.get("name"), str)]
        offered = [(each["name"], each.get("parameters", {}), 0) for each in named]
    return [
        ToolSchema(name=name, parameters=standard_schema(parameters), turn=turn) for name, parameters, turn in offered
    ]


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
            known = [DIALECT.get(str(kind).lower(), kind) for kind in kinds]
            if all(kind in STANDARD for kind in known):
                mapped[key] = known if isinstance(value, list | tuple) else known[0]
        elif key in NAMED_SCHEMAS and isinstance(value, Mapping):
            mapped[key] = {name: standard_schema(each) for name, each in value.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            mapped[key] = value
        else:
            mapped[key] = standard_schema(value)
    return _with_null(mapped) if "default" in schema and schema["default"] is None else mapped


def _with_null(schema: dict[str, Any]) -> dict[str, object]:
    """Return a schema that allows null too: the default may be written out."""
    kinds = schema.get("type")
    if isinstance(kinds, str | list):
        schema["type"] = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [*schema["enum"], None]
    return schema


def gold_calls(sample: Sample) -> list[GoldCall]:
    """Return the calls that a sample expects; empty where it expects none, or says so in another form."""
    try:
        rules = how_of(options_of(sample), {}).rules
    except BadInput:  # which the scorer reports
        return []
    references = [(number, turn.reference) for number, turn in enumerate(sample.turns) if turn.reference is not None]
    expected = [call for number, reference in references for call in _calls_in(reference, number, rules)]
    if expected or (isinstance(sample.target, Mapping) and "calls" not in sample.target):
        return expected
    return [*_calls_in(sample.target, 0, rules)]


def _calls_in(reference: object, turn: int, rules: ArgumentRules) -> Iterator[GoldCall]:
    listed = reference.get("calls") if isinstance(reference, Mapping) else reference
    with_alternatives = [*_with_alternatives(listed, turn)]
    if with_alternatives:
        yield from with_alternatives
        return
    try:
        expected = expected_of(reference)
    except BadInput:
        return
    calls = expected.calls or ()
    are_needed = not expected.alternatives and expected.minimum in (None, len(calls))
    for call in calls:
        yield _gold_call(call, turn, rules, is_needed=are_needed and not call.optional and not call.either)


def _gold_call(call: ExpectedCall, turn: int, rules: ArgumentRules, *, is_needed: bool) -> GoldCall:
    policy = rules.policy_for(call)
    by_rule = (key.removeprefix(f"{call.name}.") for key in (*rules.match, *rules.ignore))
    matched = frozenset((*call.match, *by_rule))
    given = {} if policy == "ignore" else call.arguments or {}
    return GoldCall(
        name=call.name,
        arguments={name: [value] for name, value in given.items() if name not in matched},
        matched=matched,
        is_complete=policy == "equal" and call.arguments is not None,
        is_needed=is_needed,
        turn=turn,
    )


def _with_alternatives(listed: object, turn: int) -> Iterator[GoldCall]:
    """Yield calls that are written as objects of their names, each argument with a list of accepted values.

    Among these, "" says that the argument may be left out.
    """
    for each in listed if isinstance(listed, list | tuple) else ():
        if isinstance(each, list | tuple):
            yield from _with_alternatives(each, turn)
        elif isinstance(each, Mapping) and not isinstance(each.get("name"), str):
            for name, accepted in each.items():
                if isinstance(accepted, Mapping) and all(isinstance(values, list) for values in accepted.values()):
                    given = {key: [value for value in values if value != ""] for key, values in accepted.items()}
                    optional = frozenset(key for key, values in accepted.items() if "" in values)
                    yield GoldCall(name=str(name), arguments=given, optional=optional, turn=turn)


def plain_values(value: object) -> Iterator[object]:
    """Yield the values that an accepted value means: in objects the values may be lists of alternatives."""
    yield value
    if isinstance(value, Mapping) and value and all(isinstance(each, list) and each for each in value.values()):
        yield {key: values[0] for key, values in value.items() if values[0] != ""}
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        yield [next(reversed([*plain_values(each)])) for each in value]


def schema_fault(schema: Mapping[str, object], value: object) -> str | None:
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
