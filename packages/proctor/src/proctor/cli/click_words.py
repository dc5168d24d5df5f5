"""Say click's own words, such as `Usage:` and its errors, in the language in force.

Click looks each of its sentences up with gettext, under the name `_`; that name is made to look in our catalogue
(table `click`). The files that gettext wants would be a second catalogue.
"""

from typing import Any

import click.core
import click.decorators
import click.exceptions
import click.formatting
import click.parser
import click.termui
import click.types

from proctor.cli.words import lang, t

MODULES = (
    click.core,
    click.decorators,
    click.exceptions,
    click.formatting,
    click.parser,
    click.termui,
    click.types,
)
NAMES: "dict[type[click.types.ParamType[Any]], str]" = {  # of the kind of value that an option takes
    click.types.IntParamType: "integer",
    click.types.IntRange: "integer",
    click.types.FloatParamType: "float",
    click.types.FloatRange: "float",
    click.types.StringParamType: "text",
}


_missing = click.exceptions.MissingParameter.format_message


def speak_as_click() -> None:
    """Make click use the chosen language; calling it again does no harm."""
    said_by_name = {
        "_": t,
        "ngettext": _counted,
        "format_message": _format_missing,
    }  # the last has a full stop of its own
    for owner in (*MODULES, click.exceptions.MissingParameter):
        for attribute, said in said_by_name.items():
            if attribute in vars(owner):
                setattr(owner, attribute, said)
    for kind, name in NAMES.items():
        kind.name = t(name)


def _format_missing(self: click.exceptions.MissingParameter) -> str:
    text = _missing(self)
    return text.replace("'.", "'。", 1) if lang() == "zh" else text


def _counted(one: str, many: str, count: int) -> str:
    return t(one if count == 1 else many)
