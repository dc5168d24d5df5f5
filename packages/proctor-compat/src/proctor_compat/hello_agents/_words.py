"""Print and write the texts of the compatibility tools in the reader's language."""

import math
from functools import cache
from typing import TYPE_CHECKING

from proctor.core.sentence import Sentence
from proctor.i18n import language, speak
from proctor.runtime.visible import one_line, visible

if TYPE_CHECKING:
    from jinja2 import Environment

LINE = "=" * 60
CELLS = 50
NOTHING = math.nan  # no rate: it is formatted as `nan%`, no threshold is met by it, and JSON has null in its place


def tell(sentence: Sentence | str = "", indent: int = 0) -> None:
    print(" " * indent + visible(speak(sentence, language())))


def headline(sentence: Sentence) -> None:
    """Print a line between two rules."""
    print(f"\n{LINE}\n{visible(speak(sentence, language()))}\n{LINE}")


def page(template: str, **values: object) -> str:
    """Return a report made from a template of this package."""
    lang = language()
    return _environment().get_template(template).render(t=lambda text, **given: speak(text, lang, **given), **values)


def cell(value: object, characters: int) -> str:
    """Return a value as the cell of a table: one line, cut, with nothing in it that ends the cell.

    >>> cell("a|b\\nc", 80)
    'a\\\\|b c'
    """
    return one_line(str(value), characters).replace("\\", "\\\\").replace("|", "\\|").replace("`", "'")


def bar(value: float) -> str:
    """Return a share as a bar of 50 cells.

    >>> bar(0.5).count("█"), len(bar(1))
    (25, 50)
    """
    full = 0 if math.isnan(value) else round(min(max(value, 0.0), 1.0) * CELLS)
    return "█" * full + "░" * (CELLS - full)


def percent(value: float | None) -> str:
    """Return a share in percent.

    >>> percent(0.125), percent(None), percent(NOTHING)
    ('12.50%', '-', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.2%}"


def share(part: float, whole: float) -> float:
    """Return a share of what was scored; `NOTHING` where nothing was.

    >>> share(1, 4), share(0, 0)
    (0.25, nan)
    """
    return part / whole if whole else NOTHING


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("proctor_compat.hello_agents"),
        autoescape=False,  # noqa: S701 - Markdown; what a model wrote goes through `cell`
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": cell, "bar": bar, "percent": percent}
    return environment
