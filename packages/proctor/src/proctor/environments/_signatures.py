"""Describe a function as a tool, from its signature and docstring, and read the arguments of calls by its types."""

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Tool
from proctor.transport.redact import quoted

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Examples?|Notes?|Attributes|See Also|Warnings?|References):[ \t]*(.*)"
)
_FIELD = re.compile(r":(\w+)(?:[ \t]+([^:\n]*))?:[ \t]*(.*)")
_PARAMETER = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^\n]*?\))?[ \t]*:[ \t]*(.*)")
_OF_PARAMETERS = ("Args", "Arguments", "Parameters", "Params")
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class DescribedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A docstring, read: what the function does, and what each parameter is."""

    text: str = ""
    parameters: Mapping[str, str] = {}


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """A function as a tool, and how its arguments are read.

    Attributes:
        arguments: the type that they are converted to, one field for each parameter.
        positional: those that can only be given by position, with their defaults.
    """

    tool: Tool
    arguments: type[msgspec.Struct]
    positional: tuple[tuple[str, Any], ...] = ()

    def read(self, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments by position and by name.

        Raises:
            msgspec.ValidationError: one is missing, unknown or of another type.
        """
        struct = msgspec.convert(given, self.arguments, dec_hook=_decode)
        values = {name: value for name in given if (value := getattr(struct, name, msgspec.UNSET)) is not msgspec.UNSET}
        if not self.arguments.__struct_config__.forbid_unknown_fields:  # **others
            values = {**given, **values}
        placed = [values.pop(name, default) for name, default in self.positional]
        return placed, values


def signature_of(function: Callable[..., Any], name: str, *, is_method: bool = True) -> Signature:
    """Describe a function as a tool; the first parameter of a method is the object's own.

    Raises:
        BadInput: the type of a parameter is not known, or no JSON value can be one.
    """
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = [*inspect.signature(function).parameters.values()][is_method:]
    except Exception as error:
        raise BadInput(
            "The types of '{name}' cannot be read: {type}: {error}.",
            name=name,
            type=type(error).__name__,
            error=quoted(error),
        ) from error
    described = read_docstring(inspect.getdoc(function) or "")
    named = [parameter for parameter in parameters if parameter.kind not in _REST]
    fields = [_field(parameter, hints.get(parameter.name, Any)) for parameter in named]
    takes_more = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    arguments = msgspec.defstruct("_Arguments", fields, kw_only=True, forbid_unknown_fields=not takes_more)
    try:
        schema = _schema(arguments)
    except TypeError as error:
        raise BadInput(
            "A parameter of '{name}' has a type that no JSON value can be: {error}", name=name, error=quoted(error)
        ) from None
    for parameter in named:
        _complete(
            schema["properties"][parameter.name],
            parameter,
            hints.get(parameter.name),
            described.parameters.get(parameter.name),
        )
    if takes_more:
        schema["additionalProperties"] = True
    return Signature(
        tool=Tool(name=name, description=described.text, parameters=schema),
        arguments=arguments,
        positional=tuple((parameter.name, parameter.default) for parameter in named if parameter.kind is _POSITIONAL),
    )


def read_docstring(text: str) -> DescribedFunction:
    """Read a docstring in the style of Google or Sphinx, or one that is plain text.

    >>> read_docstring("Buy an item.\\n\\nArgs:\\n    item: its name,\\n        as listed\\n    count (int): how many")
    DescribedFunction(text='Buy an item.', parameters={'item': 'its name, as listed', 'count': 'how many'})
    >>> read_docstring("Buy.\\n\\n:param str item: its name\\n:returns: the bill")
    DescribedFunction(text='Buy.\\n\\nReturns: the bill', parameters={'item': 'its name'})
    """
    text_lines: list[str] = []
    parameters: dict[str, list[str]] = {}
    into, section, depth = text_lines, "", 0
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if not indent and (heading := _SECTION.fullmatch(line.rstrip())) is not None:
            section, depth, into = heading[1], 0, []
            if section.startswith("Return"):
                into = text_lines
                into.append(f"Returns: {heading[2]}".strip())
        elif not indent and (field := _FIELD.fullmatch(line)) is not None:
            section, into = field[1], []
            if section in ("param", "parameter", "arg", "argument") and field[2]:
                into = parameters.setdefault(field[2].split()[-1], [])
                into.append(field[3])
            elif section.startswith("return"):
                into = text_lines
                into.append(f"Returns: {field[3]}")
        elif section in _OF_PARAMETERS:
            depth = depth or indent
            if indent == depth and (parameter := _PARAMETER.fullmatch(line.strip())) is not None:
                into = parameters.setdefault(parameter[1], [])
                into.append(parameter[2])
            elif indent:
                into.append(line.strip())
            elif line.strip():  # text after the section
                section, into = "", text_lines
                into.append(line)
        else:
            into.append(line.strip() if section else line)
    return DescribedFunction(
        text=re.sub(r"Returns:\n+", "Returns: ", "\n".join(text_lines)).strip(),
        parameters={name: " ".join(filter(None, lines)) for name, lines in parameters.items()},
    )


def _field(parameter: inspect.Parameter, hint: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    if parameter.default is parameter.empty:
        return parameter.name, hint
    if parameter.default is None:
        hint = hint | None if hint is not Any else hint
    return parameter.name, (hint | msgspec.UnsetType if hint is not Any else hint), msgspec.UNSET


def _schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of the arguments, with those of the types that it names in `$defs`."""
    _, components = msgspec.json.schema_components([arguments], schema_hook=_schema_of, ref_template="#/$defs/{name}")
    schema: dict[str, Any] = components.pop("_Arguments")
    schema.pop("title", None)
    lifted: dict[str, Any] = {}
    _lift(schema, lifted)
    _lift(components, lifted)
    definitions = {**components, **lifted}
    return {**schema, "$defs": definitions} if definitions else schema


def _lift(schema: object, found: dict[str, object]) -> None:
    """Move the `$defs` of schemas within a schema to where their references lead."""
    if isinstance(schema, list):
        for value in schema:
            _lift(value, found)
    elif isinstance(schema, dict):
        found.update(schema.pop("$defs", {}) if isinstance(schema.get("$defs"), dict) else {})
        for value in schema.values():
            _lift(value, found)


def _complete(schema: dict[str, object], parameter: inspect.Parameter, hint: object, text: str | None) -> None:
    """Add what only the signature and the docstring say: the description and the default."""
    remarks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    for remark in remarks:
        text = text or (remark if isinstance(remark, str) else getattr(remark, "description", None))
    if text:
        schema.setdefault("description", text)
    if parameter.default is not parameter.empty and parameter.default is not None:
        with suppress(TypeError, ValueError):  # it has no JSON form; that it can be left out is what counts
            schema.setdefault("default", msgspec.json.decode(msgspec.json.encode(parameter.default)))


def _schema_of(kind: type) -> dict[str, object]:
    make = getattr(kind, "model_json_schema", None)
    if make is None:
        raise TypeError(f"{kind.__module__}.{kind.__qualname__}")
    schema: dict[str, Any] = make()
    return schema


def _decode(kind: type, value: Any) -> Any:
    read = getattr(kind, "model_validate", None)
    if read is None:
        raise TypeError(f"{kind.__module__}.{kind.__qualname__}")
    return read(value)
