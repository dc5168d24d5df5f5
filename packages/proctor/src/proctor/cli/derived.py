"""Options of the command line made from the fields of a struct: name, type, default, help and bounds are the field's."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

import click
import msgspec

from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.run_fields import RunFields, check_bounds, described_fields

F = TypeVar("F", bound=Callable[..., Any])
Reader = Callable[[Iterable[str], str], Mapping[str, Any]]
Callback = Callable[[click.Context, click.Parameter, Any], Any]


if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # generic since click 8.2 only


class OneOf(Choice):
    """A choice; what is none of it is refused with the sentence that Python and the settings give."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            name, known = param.name if param is not None else "", ", ".join(map(str, self.choices))
            raise BadInput("{name} cannot be '{value}'. It can be: {known}.", name=name, value=value, known=known)
        return str(value)


def derived(
    *names: str, of: type[msgspec.Struct] = RunFields, callbacks: Mapping[str, Callback] | None = None
) -> Callable[[F], F]:
    """Return a decorator that adds the options of these fields, in this order."""
    return together(*(_option(name, of, (callbacks or {}).get(name)) for name in names))


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return several options as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def gathered(name: str, of: type[msgspec.Struct]) -> Callable[[F], F]:
    """Return a decorator that passes the options that are fields of a struct to the command as one argument."""

    def decorate(command: F) -> F:
        @wraps(command)
        def call(*arguments: Any, **given: Any) -> Any:
            values = {field: given.pop(field) for field in of.__struct_fields__}
            return command(*arguments, **given, **{name: of(**values)})

        return cast(F, call)

    return decorate


def _option(name: str, of: type[msgspec.Struct], callback: Callback | None) -> Callable[[F], F]:
    kind, flag, bounds = described_fields(of)[name]
    kinds = (kind,) if get_origin(kind) in (None, Literal) else get_args(kind)
    option, text = f"--{flag.name or name.replace('_', '-')}", t(flag.text)
    if flag.several:
        text = text[:-1] + t("; may be given several times.")
        if callback is None and any(get_origin(value) is Mapping for value in kinds):
            callback = _reading(texts if Mapping[str, str] in kinds else pairs, option)
    if bounds is not None:
        callback = partial(_checked, of)
    default = next((field.default for field in msgspec.structs.fields(of) if field.name == name), None)
    settings: dict[str, Any] = {"multiple": True} if flag.several else {"default": default}
    if bool in kinds:
        settings["is_flag"] = True
    else:
        settings |= {"type": _click_type(kinds), "metavar": flag.metavar}
    spellings = [option, flag.short] if flag.short else [option]
    return click.option(*spellings, name, help=text, callback=callback, **settings)


def _click_type(kinds: tuple[object, ...]) -> "click.types.ParamType[Any]":
    for kind in kinds:
        if get_origin(kind) is Literal:
            return OneOf(get_args(kind))
    if Path in kinds and str not in kinds:
        return click.Path(path_type=Path)
    return click.INT if int in kinds else click.FLOAT if float in kinds else click.STRING


def _checked(of: type[msgspec.Struct], _: click.Context, option: click.Parameter, value: Any) -> object:
    check_bounds(str(option.name), value, of)
    return value


def _reading(read: Reader, flag: str) -> Callback:
    return lambda _, __, values: read(values, flag) if values else None


def several(
    flag: str, name: str, text: str, metavar: str = "KEY=VALUE", read: "Reader | None" = None
) -> Callable[[F], F]:
    """Return an option that may be given several times, each time with a key and a value; None when it is not given."""
    return click.option(flag, name, metavar=metavar, multiple=True, callback=_reading(read or texts, flag), help=text)


def pairs(values: Iterable[str], flag: str) -> dict[str, Any]:
    """Return `key=value` texts as a dict; a value that is JSON is read as such, and `a.b=1` nests.

    >>> pairs(["temperature=0", "extra_body.top_k=3", "mode=native"], "--set")
    {'temperature': 0, 'extra_body': {'top_k': 3}, 'mode': 'native'}
    """
    nested: dict[str, Any] = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput("{flag} takes key=value, not '{text}'.", flag=flag, text=text)
        *path, last = key.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise BadInput("{flag} {text}: '{part}' has a value already.", flag=flag, text=text, part=part)
        inner[last] = _value(value)
    return nested


def texts(values: Iterable[str], flag: str) -> dict[str, str]:
    """Return `key=value` texts as a dict; values stay texts."""
    found = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadInput("{flag} takes key=value, not '{text}'.", flag=flag, text=text)
        found[key] = value
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
