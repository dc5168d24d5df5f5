"""Return what the terminal shows as a text, for `print(run)` and notebooks."""

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100


def printed(show: "Callable[[Console], None]", width: int = WIDTH) -> str:
    """Return what `show` prints on a console, without colours."""
    from rich.console import Console

    text = StringIO()
    show(Console(file=text, width=width, no_color=True, force_terminal=False, highlight=False))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
