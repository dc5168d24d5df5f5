"""Say click's own words, such as `Usage:` and its errors, in the language in force.

Click looks each of its sentences up with gettext, under the name `_`; that name is made to look in our catalogue
(table `click`). The files that gettext wants would be a second catalogue.
"""

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
TYPES = (
    click.types.IntParamType,
    click.types.FloatParamType,
    click.types.StringParamType,
    click.types.IntRange,
    click.types.FloatRange,
)
_names = {kind: kind.name for kind in TYPES}  # in English: shown as the kind of value an option takes


def speak_as_click() -> None:
    """Make click speak the language in force; calling it again does no harm."""
    for module in MODULES:
        for attribute, said in (("_", t), ("ngettext", _counted)):
            if attribute in vars(module):
                setattr(module, attribute, said)
    for kind, name in _names.items():
        kind.name = t(name)


def _counted(one: str, many: str, count: int) -> str:
    return t(one if count == 1 else many)
