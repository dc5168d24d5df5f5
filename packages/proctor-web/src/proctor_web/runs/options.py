"""Describe the options of tasks and agents as fields of a form, from the types and texts by which they declare them."""

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import msgspec

from proctor import registry
from proctor.api import resolve

Kind = Literal["text", "integer", "number", "yes_no", "choice", "json"]
_KINDS: Mapping[object, Kind] = {str: "text", bool: "yes_no", int: "integer", float: "number"}
_UNIONS = (typing.Union, UnionType)
_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.+)$")
_SECTIONS = ("Args:", "Attributes:")

OUTSIDE = frozenset(
    {
        *("data", "cassette", "search", "config", "client_certificate", "knowledge", "captions", "subset", "reference"),
        *("cache", "descriptions", "logins", "screenshots", "programs", "image", "upstream", "key"),
        *("python", "browser", "mind2web", "alfworld", "level3", "dialogues"),
        *("allow_code", "network"),
    }
)
"""Options that name files anywhere, let code run, or let a box reach other machines: they are set in the terminal or in proctor.toml."""


class OptionField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form; `default` is what the option is where the field stays empty, as text."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    default: str = ""
    help: str = ""


def agent_fields(agent: str) -> Sequence[OptionField]:
    """Return the options of an agent by its name, as `KIND:ARGUMENT`; none for what declares none."""
    kind = agent.partition(":")[0].replace("-", "_")
    if not kind or not registry.AGENTS.knows(kind):
        return ()
    options = registry.AGENTS.find(kind).options
    return () if options is None else _of_struct(options)


def task_fields(task: str) -> Sequence[OptionField]:
    """Return the options of a benchmark by its name; none for a file, whose options may name other files."""
    benchmark = resolve.benchmark(task) if task and "." not in task and ":" not in task else None
    if benchmark is None:
        return ()
    return _of_struct(benchmark.options) if benchmark.options is not None else _of_function(benchmark.task)


def values(fields: Sequence[OptionField], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the fields that were filled in, numbers and JSON as such; what cannot be read stays a text."""
    options: dict[str, Any] = {}
    for field in fields:
        text = given.get(field.name, "").strip()
        if text:
            options[field.name] = text if field.kind in ("text", "choice") else value_of(text)
    return options


def text_of(value: object) -> str:
    """Return an option as the field of a form has it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def value_of(text: str) -> Any:
    """Return JSON that was typed; any other text stays one."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _of_struct(options: type[msgspec.Struct]) -> list[OptionField]:
    helps = {name: text for kind in reversed(options.__mro__) for name, text in _helps(kind).items()}
    hints = typing.get_type_hints(options)
    return [
        _field(field.name, hints[field.name], field.default, helps.get(field.name, ""))
        for field in msgspec.structs.fields(options)
        if field.name not in OUTSIDE
    ]


def _of_function(made: Callable[..., object]) -> list[OptionField]:
    helps, hints = _helps(made), typing.get_type_hints(made)
    return [
        _field(name, hints.get(name, str), parameter.default, helps.get(name, ""))
        for name, parameter in inspect.signature(made).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in OUTSIDE
    ]


def _field(name: str, hint: object, default: object, text: str) -> OptionField:
    while get_origin(hint) is typing.Annotated:
        hint = get_args(hint)[0]
    plain = [argument for argument in get_args(hint) if argument is not NoneType]
    if get_origin(hint) is Literal:
        choices = tuple(text_of(argument) for argument in get_args(hint))
        return OptionField(name=name, kind="choice", choices=choices, default=_default(default), help=text)
    if NoneType in get_args(hint) and len(plain) == 1:
        return _field(name, plain[0], default, text)
    kind = _KINDS.get(hint, "text" if get_origin(hint) in _UNIONS and str in plain else "json")
    return OptionField(name=name, kind=kind, default=_default(default), help=text)


def _default(value: object) -> str:
    is_plain = isinstance(value, str | bool | int | float)
    return text_of(value) if is_plain else ""


def _helps(described: object) -> dict[str, str]:
    """Return what a docstring says of each argument or attribute."""
    helps: dict[str, str] = {}
    names: list[str] = []
    inside = False
    for line in (inspect.getdoc(described) or "").splitlines():
        text = line.strip()
        if text in _SECTIONS:
            inside = True
        elif not line.startswith(" ") and text:
            inside = False
        elif inside and line.startswith("        ") and names and text:
            helps |= {name: f"{helps[name]} {text}" for name in names}
        elif inside and (entry := _ENTRY.match(text)):
            names = entry["names"].split(", ")
            helps |= dict.fromkeys(names, entry["text"])
    return {name: text[:1].upper() + text[1:] for name, text in helps.items() if not text.startswith("as for")}
