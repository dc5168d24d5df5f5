"""Check a value against a JSON schema of draft 2020-12, by the library `jsonschema`.

A word that the draft does not know is an error when the schema is read, never silently ignored, and so is a reference
that leads out of the schema. `format` is a remark only, as the draft has it. Patterns are searched within a time limit.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, quote, say
from proctor.runtime.pattern_search import TooSlow, checked, search

DEPTH = 100
DIGITS = 300  # of a whole number in the answer; longer ones cost quadratic time
ONE = {
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
SEVERAL = {"anyOf", "oneOf", "allOf", "prefixItems"}
NAMED = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
PLAIN = {
    "type", "enum", "const", "required", "dependentRequired", "uniqueItems", "pattern", "$ref", "$dynamicRef", "$anchor", "$dynamicAnchor",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
    "minContains", "maxContains", "minProperties", "maxProperties",
}  # fmt: skip
REMARKS = {
    "$schema", "$id", "$comment", "title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly",
    "contentEncoding", "contentMediaType", "contentSchema",
}  # fmt: skip


def check(schema: object, path: str = "$") -> None:
    """Refuse a schema that cannot be followed to the letter.

    Raises:
        BadInput: an unknown keyword, an invalid pattern, a part of the wrong kind; names the path.
    """
    _check_words(schema, path, 0)
    from jsonschema.exceptions import SchemaError

    try:
        _validator().check_schema(schema)
    except SchemaError as error:
        raise BadInput(
            "{path} of the schema is wrong: {error}", path=error.json_path.replace("$", path, 1), error=error.message
        ) from None


def fault(schema: object, value: object) -> Sentence | None:
    """Return why a value does not fit a checked schema; None if it does.

    Raises:
        TooSlow: a `pattern` took too long on a text.

    >>> str(fault({"type": "object", "required": ["name"]}, {}))
    "$: 'name' is missing."
    """
    if _holds_long_number(value):
        return say("The JSON holds a number of more than {digits} digits.", digits=DIGITS)
    from referencing.exceptions import Unresolvable

    try:
        error = next(_validator()(schema).iter_errors(value), None)
    except RecursionError:  # a value as deep as the stack, or a reference that leads to itself
        return say("The JSON is nested too deep.")
    except Unresolvable as unresolvable:
        raise BadInput("{path} of the schema leads outside it: {value}.", path="$ref", value=repr(unresolvable.ref)) from None  # fmt: skip
    return None if error is None else _said_of(error)


def fits(schema: object, value: object) -> bool:
    """True if a value fits a schema: the matcher `schema` of the arguments of a call. A pattern that takes too long fits nothing.

    Raises:
        BadInput: the schema cannot be followed to the letter.
    """
    check(schema)
    try:
        return fault(schema, value) is None
    except TooSlow:
        return False


@cache
def _validator() -> Any:
    """Make the validator of the draft, with our search in place of `re.search`."""
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import ValidationError

    def pattern(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
        if isinstance(value, str) and search(pattern, value) is None:
            yield ValidationError("")

    def pattern_properties(
        validator: Any, named: Mapping[str, object], value: object, _: object
    ) -> Iterator[ValidationError]:
        if isinstance(value, dict):
            for pattern, part in named.items():
                for key, entry in value.items():
                    if search(pattern, key) is not None:
                        yield from validator.descend(entry, part, path=key, schema_path=pattern)

    extend: Any = validators.extend  # the library leaves it untyped
    return extend(Draft202012Validator, {"pattern": pattern, "patternProperties": pattern_properties})


def _check_words(schema: object, path: str, depth: int) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping) or depth > DEPTH:
        raise _wrong(path, say("an object"))
    for word, value in schema.items():
        at = f"{path}.{word}"
        if word in ONE:
            _check_words(value, at, depth + 1)
        elif word in SEVERAL:
            for index, part in enumerate(_kind(value, list, at)):
                _check_words(part, f"{at}[{index}]", depth + 1)
        elif word in NAMED:
            for name, part in _kind(value, Mapping, at).items():
                _check_words(part, f"{at}.{name}", depth + 1)
                if word == "patternProperties":
                    checked(name)
        elif word == "pattern":
            checked(_kind(value, str, at))
        elif word in ("$ref", "$dynamicRef") and not _kind(value, str, at).startswith("#"):
            raise BadInput("{path} of the schema leads outside it: {value}.", path=at, value=repr(value))
        elif word not in PLAIN and word not in REMARKS:
            raise BadInput("{path} of the schema is not known here.", path=at)


def _said_of(error: Any) -> Sentence:
    """Return the first fault as a sentence; of choices only that none fits, not why."""
    path, value, word, bound = error.json_path, _show(error.instance), str(error.validator), error.validator_value
    match word:
        case "required":
            return say(
                "{path}: '{key}' is missing.", path=path, key=next(key for key in bound if key not in error.instance)
            )
        case "additionalProperties" if bound is False:
            return say("{path}: '{key}' is not expected.", path=path, key=_unexpected(error))
        case "type":
            types = bound if isinstance(bound, str) else " | ".join(bound)
            return say("{path}: {value} is no {type}.", path=path, value=value, type=types)
        case "enum":
            return say("{path}: {value} is none of {choices}.", path=path, value=value, choices=_show(bound))
        case "const":
            return say("{path}: {value} is not {expected}.", path=path, value=value, expected=_show(bound))
        case "pattern":
            return say("{path}: {value} does not fit the pattern {pattern}.", path=path, value=value, pattern=bound)
        case "uniqueItems":
            return say("{path}: an element is there twice.", path=path)
        case "anyOf":
            return say("{path}: {value} fits none of the choices.", path=path, value=value)
        case "oneOf":
            return say("{path}: {value} does not fit exactly one of the choices.", path=path, value=value)
        case "not":
            return say("{path}: {value} is ruled out.", path=path, value=value)
        case "None":  # the schema false
            return say("{path}: nothing may stand here.", path=path)
    return say(
        "{path}: {value} breaks {word} {bound}.",
        path=path,
        value=value,
        word=word,
        bound=json.dumps(bound, default=str)[:200],
    )


def _unexpected(error: Any) -> str:
    own, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
    return next(
        str(key) for key in error.instance if key not in own and not any(search(pattern, key) for pattern in patterns)
    )


def _holds_long_number(value: object) -> bool:
    rest = [value]
    while rest:
        entry = rest.pop()
        if isinstance(entry, dict):
            rest.extend(entry.values())
        elif isinstance(entry, list):
            rest.extend(entry)
        elif isinstance(entry, int) and abs(entry) >= 10**DIGITS:
            return True
    return False


def _kind(value: Any, kind: Any, at: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(at, say("a list") if kind is list else say("a text") if kind is str else say("an object"))
    return value


def _wrong(at: str, expected: Sentence) -> BadInput:
    return BadInput("{path} of the schema must be {expected}.", path=at, expected=expected)


def _show(value: object) -> str:
    return quote(json.dumps(value, ensure_ascii=False, default=str))
