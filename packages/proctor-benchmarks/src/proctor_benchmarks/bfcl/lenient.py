"""A second opinion that overlooks form: would the calls be right with values written a little differently?

Overlooked are 2.0 for the integer 2, integers in a list of floats, a tuple for a list, 'true' for True, None for a
parameter that may be left out, dots or underscores in names, a Java long without its L, and native values of Java and
JavaScript that are no text. In parallel calls the best assignment counts, not the first. It is shown beside the
official verdict and never changes it.
"""

import re
from collections.abc import Sequence

from proctor.core.sample import JsonObject
from proctor_benchmarks.bfcl.calls import Arguments, Call, first
from proctor_benchmarks.bfcl.checker import BREAKS, Answer, CheckerRules, Document
from proctor_benchmarks.bfcl.metrics import fits, matching

_WHOLE = re.compile(r"-?\d+")


def lenient(
    functions: Sequence[Document], calls: Sequence[Call], answers: Sequence[Answer], rules: CheckerRules
) -> bool:
    """True if the calls are the expected ones when form is overlooked.

    >>> document = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}
    >>> lenient([document], [{"f": {"x": 2.0}}], [{"f": {"x": [2]}}], CheckerRules("python", False))
    True
    """
    if len(calls) != len(answers):
        return False
    try:
        relaxed = [_call(call, functions, answers, rules) for call in calls]
        return len(matching(fits(functions, relaxed, answers, rules))) == len(answers)
    except BREAKS:
        return False


def _call(call: Call, functions: Sequence[Document], answers: Sequence[Answer], rules: CheckerRules) -> Call:
    name, given = first(call)
    plain = name.replace(".", "_")
    for document in functions:
        if document["name"].replace(".", "_") == plain:
            official = plain if rules.underscores else document["name"]
            return {official: _arguments(given, document, answers, rules)}
    return call


def _arguments(given: Arguments, document: Document, answers: Sequence[Answer], rules: CheckerRules) -> Arguments:
    schemas = document["parameters"]["properties"]
    optional = {
        parameter
        for answer in answers
        for parameter, options in answer.get(document["name"], {}).items()
        if "" in options
    }
    return {
        parameter: _value(value, schemas.get(parameter, {}), rules)
        for parameter, value in given.items()
        if value is not None or parameter not in optional
    }


def _value(value: object, schema: JsonObject, rules: CheckerRules) -> object:
    if rules.language != "python":
        return _text(value, schema.get("type"))
    match schema.get("type"), value:
        case "integer", float() if value.is_integer():
            return int(value)
        case "float", int() if not isinstance(value, bool):
            return float(value)
        case "boolean", str() if value.lower() in ("true", "false"):
            return value.lower() == "true"
        case "array" | "tuple", list() | tuple():
            return [_value(item, schema.get("items", {}), rules) for item in value]
    return value


def _text(value: object, declared: object) -> object:
    match value:
        case bool():
            value = str(value).lower()
        case int() | float():
            value = str(value)
    return f"{value}L" if declared == "long" and isinstance(value, str) and _WHOLE.fullmatch(value) else value
