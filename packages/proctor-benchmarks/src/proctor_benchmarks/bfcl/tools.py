"""Function documents as a model is shown them: language hints, and tools in the OpenAI chat style.

The wording of the hints and the type map are data of the official code, carried here because they stand inside
functions there: bfcl-eval 2026.3.23 (Apache-2.0), `bfcl_eval/utils.py` (`_get_language_specific_hint`,
`_func_doc_language_specific_pre_processing`), `bfcl_eval/model_handler/utils.py` (`convert_to_tool`),
`bfcl_eval/constants/type_mappings.py`. The evaluator reads the documents without any of this.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.core.sample import Tool
from proctor_benchmarks.bfcl.declared_types import language_of
from proctor_benchmarks.bfcl.formats import FORMAT_SENSITIVITY

Document = dict[str, Any]

_SYNTAX = " Note that the provided function is in {} syntax."
_HINT_BY_LANGUAGE = {
    "java": _SYNTAX.format("Java 8 SDK"),
    "javascript": _SYNTAX.format("JavaScript"),
    "python": _SYNTAX.format("Python 3"),
}
_ANY = " This parameter can be of any type of {} object in string representation."
_TYPED = " This is {} {} type parameter in string representation."
_ELEMENTS = " The list elements are of type {}; they are not in string representation."
_ENTRIES = " The dictionary entries have the following schema; they are not in string representation. {}"
_FLOAT = " This is a float type value."

_TYPES = {
    "integer": ("integer", "byte", "short", "long", "Bigint"),
    "number": ("number", "float", "double"),
    "string": ("string", "String", "char", "any", "Any"),
    "boolean": ("boolean", "bool"),
    "array": ("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"),
    "object": ("dict", "object", "HashMap", "Hashtable"),
}
_JSON_TYPE = {theirs: json_type for json_type, names in _TYPES.items() for theirs in names}


def add_hints(functions: Sequence[Document], category: str) -> list[Document]:
    """Copies of the documents with the language named; Java and JavaScript parameters all become strings."""
    copies: list[Document] = msgspec.json.decode(msgspec.json.encode(functions))
    language = language_of(category)
    times = 2 if category == FORMAT_SENSITIVITY else 1  # upstream adds it to those again that have it already
    for function in copies:
        function["description"] += _HINT_BY_LANGUAGE[language] * times
        if language != "python":
            for schema in function["parameters"]["properties"].values():
                _as_string(schema, language)
    return copies


def native_tools(functions: Sequence[Document], *, dotted: bool = False) -> tuple[Tool, ...]:
    """Hinted documents as tools; dots in names become underscores unless `dotted`. The documents are changed."""
    return tuple(
        Tool(
            name=function["name"] if dotted else function["name"].replace(".", "_"),
            description=function["description"],
            parameters=_as_json_schema(function["parameters"]),
            extra={"response": function["response"]} if "response" in function else {},
        )
        for function in functions
    )


def _as_string(schema: dict[str, Any], language: str) -> None:
    name = "Java" if language == "java" else "JavaScript"
    declared = schema.get("type", "any")
    said = schema.get("description", "") + (_ANY.format(name) if declared == "any" else _TYPED.format(name, declared))
    if declared in (("ArrayList", "Array") if language == "java" else ("array",)) and "items" in schema:
        said += _ELEMENTS.format(schema.pop("items").get("type", "any"))
    if language == "javascript" and declared == "dict" and "properties" in schema:
        said += _ENTRIES.format(json.dumps(schema.pop("properties")))
    schema["description"] = said
    schema["type"] = "string"


def _as_json_schema(parameters: dict[str, Any]) -> dict[str, object]:
    parameters["type"] = "object"
    _convert_all(parameters["properties"])
    return parameters


def _convert_all(properties: dict[str, Any]) -> None:
    for schema in properties.values():
        declared = schema.get("type", "string")
        if declared == "float":
            schema["format"] = "float"
            schema["description"] = schema.get("description", "") + _FLOAT
        schema["type"] = _json_type(declared)
        if schema["type"] in ("array", "object"):
            _convert_inside(schema)


def _convert_inside(schema: dict[str, Any]) -> None:
    """One level of `properties`, or two of `items`; what is deeper stays as it is, as upstream."""
    if "properties" in schema:
        _convert_all(schema["properties"])
    elif "items" in schema:
        items = schema["items"]
        items["type"] = _json_type(items.get("type", "string"))
        if items["type"] == "array" and "items" in items:
            items["items"]["type"] = _json_type(items["items"].get("type", "string"))
        elif items["type"] == "object" and "properties" in items:
            _convert_all(items["properties"])


def _json_type(declared: object) -> str:
    return _JSON_TYPE.get(declared, "string") if isinstance(declared, str) else "string"
