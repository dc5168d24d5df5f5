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

from proctor.cli.words import t

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


def speak_as_click() -> None:
    """Make click use the chosen language; calling it again does no harm."""
    for module in MODULES:
        for attribute, said in (("_", t), ("ngettext", _counted)):
            if attribute in vars(module):
                setattr(module, attribute, said)
    for kind, name in NAMES.items():
        kind.name = t(name)


def _counted(one: str, many: str, count: int) -> str:
    return t(one if count == 1 else many)
