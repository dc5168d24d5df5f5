"""Describe what programs can ask for, in OpenAPI 3.1, from the types of the functions that answer."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
from starlette.responses import Response

from proctor.core.version import __version__
from proctor_web.failures import API, Failure
from proctor_web.operations import IN_QUERY, Operation, path_fields

REFERENCE = "#/components/schemas/{name}"


def describe(operations: Sequence[Operation]) -> Mapping[str, object]:
    """Return the description of these operations, ready for JSON."""
    given = [operation.given for operation in operations if operation.given is not None]
    returned = [operation.returns for operation in operations if _is_data(operation.returns)]
    types = [*dict.fromkeys([Failure, *given, *returned])]
    schemas, components = msgspec.json.schema_components(types, schema_hook=json_of, ref_template=REFERENCE)
    schema_by_type = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = API + re.sub(r"\{(\w+)(:\w+)?\}", r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, schema_by_type, components)
    named = _named_in(paths, components)
    used = {name: schema for name, schema in components.items() if name in named}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Proctor",
            "version": __version__,
            "description": "Runs, samples, comparisons and eval sets, over the same functions as the pages of `proctor web`.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": used,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Printed by `proctor web --json`."}
            },
        },
    }


def json_of(kind: type) -> dict[str, object]:
    """Return the schema of types that are not msgspec's: any JSON, and paths."""
    if kind is object:
        return {"description": "any JSON"}  # an empty schema is taken for none
    if issubclass(kind, PurePath):
        return {"type": "string"}
    raise NotImplementedError(f"{kind} has no form in JSON")


def _operation(
    operation: Operation, schema_by_type: Mapping[Any, Any], components: Mapping[str, Any]
) -> Mapping[str, Any]:
    summary, _, text = inspect.cleandoc(operation.call.__doc__ or operation.name).partition("\n")
    text = re.split(r"^(?:Args|Raises|Returns|Attributes):", text, maxsplit=1, flags=re.MULTILINE)[0].strip()
    fields: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.room],
        "summary": summary,
        **({"description": text} if text else {}),
        "responses": {
            **_answers(operation, schema_by_type),
            "4XX": _json("What was wrong with the request", schema_by_type[Failure]),
            "503": _json("The store cannot be read", schema_by_type[Failure]),
        },
    }
    if operation.given is None:
        return fields
    schema = schema_by_type[operation.given]
    schema = components.get(schema.get("$ref", "").rpartition("/")[2], schema)
    in_path = path_fields(operation.path)
    required = schema.get("required", ())
    for name, value in schema["properties"].items():
        if name in in_path or operation.method in IN_QUERY:
            where = "path" if name in in_path else "query"
            is_required = name in in_path or name in required
            more = {"explode": True} if value.get("type") == "array" else {}
            parameter = {"name": name, "in": where, "required": is_required, "schema": value, **more}
            fields.setdefault("parameters", []).append(parameter)
    if operation.method not in IN_QUERY:
        properties = {name: value for name, value in schema["properties"].items() if name not in in_path}
        body = {
            "type": "object",
            "properties": properties,
            "required": [name for name in required if name not in in_path],
            "additionalProperties": False,
        }
        fields["requestBody"] = {"required": bool(body["required"]), "content": {"application/json": {"schema": body}}}
    return fields


def _answers(operation: Operation, schema_by_type: Mapping[object, object]) -> Mapping[str, Any]:
    if operation.returns in (None, type(None)):
        return {"204": {"description": "Done"}}
    if _is_data(operation.returns):
        return {"200": _json("Done", schema_by_type[operation.returns])}
    return {"200": {"description": "Done", "content": {operation.media_type: {"schema": {"type": "string"}}}}}


def _json(description: str, schema: object) -> Mapping[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _is_data(returns: object) -> bool:
    """True for what becomes JSON: neither nothing, nor a response made by the function."""
    return returns not in (None, type(None)) and not (isinstance(returns, type) and issubclass(returns, Response))


def _named_in(part: object, components: Mapping[str, object]) -> set[str]:
    """Return the schemas that a part of the description needs, with those that they need."""
    names: set[str] = set()
    waiting = [part]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in names:
                names.add(name)
                waiting.append(components[name])
    return names


def _references(part: object) -> Iterator[str]:
    match part:
        case {"$ref": str(reference), **rest}:
            yield reference.rpartition("/")[2]
            yield from _references(rest)
        case dict():
            for value in part.values():
                yield from _references(value)
        case list():
            for value in part:
                yield from _references(value)
