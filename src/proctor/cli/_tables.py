"""Tables with a heading and remarks, on a terminal or as Markdown."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.cli import output
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.reports.fitting import print_table
from proctor.reports.visible import one_line

if TYPE_CHECKING:
    from rich.table import Table as RichTable

WIDEST = 60  # characters of a cell on a terminal
ANY_WIDTH = 10_000
INTERVAL = re.compile(r" \[([^\[\],]+), ([^\[\],]+)\]$")


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table; without rows only its heading and remarks are shown."""

    heading: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    remarks: Sequence[str] = ()


def show(tables: Sequence[Table]) -> None:
    """Print the tables to standard output; where one is too wide, intervals go below their values."""
    from rich.text import Text

    console = output.console()
    for table in tables:
        console.print(Text(one_line(table.heading, 200), "bold"))
        if table.rows:
            shown = _rich(table)
            if console.measure(shown, options=console.options.update(max_width=ANY_WIDTH)).maximum > console.width:
                shown = _rich(table, narrow=True)
            print_table(shown, console)
        for remark in table.remarks:
            console.print(Text(f"  {one_line(remark, 400)}", "dim"))
        console.print()


def _rich(table: Table, *, narrow: bool = False) -> "RichTable":
    from rich.table import Table as RichTable
    from rich.text import Text

    last = len(table.columns) - 1
    shown = RichTable(box=None, pad_edge=False, header_style="dim")
    for place, column in enumerate(table.columns):
        is_number = 0 < place < last
        shown.add_column(
            Text(one_line(column, WIDEST)),
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_number and narrow,
        )
    for row in table.rows:
        cells = (one_line(cell, WIDEST) for cell in row)
        shown.add_row(*(Text(INTERVAL.sub(r"\n\1–\2", cell) if narrow else cell) for cell in cells))
    return shown


def markdown(title: str, tables: Sequence[Table]) -> str:
    """The tables as one page."""
    lines = [f"# {_plain(title)}"]
    for table in tables:
        lines += ["", f"## {_plain(table.heading)}"]
        if table.rows:
            lines += ["", _line(table.columns), _line(["---"] * len(table.columns))]
            lines += [_line([_plain(cell) for cell in row]) for row in table.rows]
        lines += ["", *(f"- {_plain(remark)}" for remark in table.remarks)] if table.remarks else []
    return "\n".join(lines) + "\n"


def told(value: object) -> Any:
    """A result for JSON, with every sentence as its English text."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        if plain.get("type") == "sentence":
            return str(msgspec.convert(plain, Sentence))
        return {key: told(one) for key, one in plain.items()}
    return [told(one) for one in plain] if isinstance(plain, list | tuple) else plain


def write(path: str, title: str, tables: Sequence[Table]) -> None:
    """Write the page.

    Raises:
        BadInput: the file is no Markdown by its name, or cannot be written.
    """
    if Path(path).suffix != ".md":
        raise BadInput("This page is written as Markdown: {path} has to end in .md.", path=path)
    try:
        Path(path).write_text(markdown(title, tables), encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A text that Markdown takes as it is."""
    shown = one_line(text)
    for character in "\\`*_[]<>|#":
        shown = shown.replace(character, f"\\{character}")
    return shown
