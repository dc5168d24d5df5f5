"""Tables for terminals in the one look of all commands: columns where they fit without breaking a word, else a block of lines for each row."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from proctor.runtime.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

GAP = 2
SEPARATOR = " · "


def styled(content: str, style: str = "") -> "Text":
    """Return a text for a terminal, in which hidden characters are visible and rich reads no markup."""
    from rich.text import Text

    return Text(visible(content), style)


def new_table(*titles: str, right: Collection[int] = (), heading: str = "") -> "Table":
    """Return a table without rows; the columns at `right` hold numbers, which are not wrapped."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0), title_justify="left")
    table.title = heading or None
    for position, title in enumerate(titles):
        is_number = position in right
        no_wrap = is_number or _is_axis(title)
        table.add_column(styled(title), justify="right" if is_number else "left", no_wrap=no_wrap, overflow="fold")
    return table


def add_rows(table: "Table", rows: "Iterable[Sequence[str]]", style: str = "") -> None:
    for row in rows:
        table.add_row(*(styled(cell, style) for cell in row))


def print_table(table: "Table", console: "Console") -> None:
    """Print a table whose cells are texts; nothing of it is cut, and no word is broken while the terminal has room for it.

    Columns shrink down to their longest word, or to their longest line where the column does not wrap. Where that
    is still too wide each row becomes lines: its first cell, then each other cell after the title of its column.
    """
    heads = [_as_text(column.header) for column in table.columns]
    columns = [[_as_text(cell) for cell in column.cells] for column in table.columns]
    free = console.width - sum(_gap(table, column) for column in range(len(columns)))
    most = [_widest((head, *cells)) for head, cells in zip(heads, columns, strict=True)]
    least = [
        wide if column.no_wrap else max(_longest_word((head, *cells)), min(wide, 12))
        for column, head, cells, wide in zip(table.columns, heads, columns, most, strict=True)
    ]
    if sum(most) > free:
        if sum(least) > free:
            console.print(_stacked(table, heads, columns, console.width))
            return
        for column, wide in zip(table.columns, _shared(least, most, free), strict=True):
            column.width = wide
    console.print(table)


def _shared(least: "Sequence[int]", most: "Sequence[int]", free: int) -> list[int]:
    """Return widths between least and most; the smallest requests for room are met first."""
    widths, spare = list(least), free - sum(least)
    wishes = sorted(range(len(least)), key=lambda place: most[place] - least[place])
    for done, place in enumerate(wishes):
        more = min(most[place] - least[place], spare // (len(wishes) - done))
        widths[place] += more
        spare -= more
    return widths


def _stacked(
    table: "Table", heads: "Sequence[Text]", columns: "Sequence[Sequence[Text]]", width: int
) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    lines: list[RenderableType] = [Text(str(table.title), "italic")] if table.title else []
    for first, *rest in zip(*columns, strict=True):
        indent = len(first.plain) - len(first.plain.lstrip())
        if name := first.plain.strip():
            lines.append(Padding(Text(name, first.style, overflow="fold"), (0, 0, 0, indent), expand=False))
        parts = []
        for head, cell in zip(heads[1:], rest, strict=True):
            if cell.plain.strip() and not _is_axis(head.plain):
                title = head.plain.strip()
                parts.append(Text.assemble((f"{title}: ", "dim") if title else "", cell, overflow="fold"))
        inner = indent + GAP
        lines += [Padding(line, (0, 0, 0, inner), expand=False) for line in _packed(parts, width - inner)]
    return Group(*lines)


def _packed(parts: "Sequence[Text]", width: int) -> "list[Text]":
    """Join as many parts to a line as have room side by side; a part longer than a line is folded."""
    from rich.text import Text

    lines: list[Text] = []
    for part in parts:
        if lines and lines[-1].cell_len + len(SEPARATOR) + part.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], SEPARATOR, part, overflow="fold")
        else:
            lines.append(part)
    return lines


def _is_axis(title: str) -> bool:
    """True for the axis of a plot, which says nothing once it does not stand above its plot."""
    return " 0 " in title or title.startswith("0 ")


def _gap(table: "Table", place: int) -> int:
    _, right, _, left = table.padding
    last = place == len(table.columns) - 1
    return (left if place or table.pad_edge else 0) + (0 if last and not table.pad_edge else right)


def _as_text(cell: object) -> "Text":
    from rich.text import Text

    return cell if isinstance(cell, Text) else Text(str(cell))


def _widest(cells: "Sequence[Text]") -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for cell in cells for line in cell.plain.split("\n"))


def _longest_word(cells: "Sequence[Text]") -> int:
    """Return the width of the widest word; Chinese may be broken anywhere, so it counts as words of at most 12."""
    from rich.cells import cell_len

    words = (word for cell in cells for word in cell.plain.split())
    return max((cell_len(word) if word.isascii() else min(cell_len(word), _narrow(word)) for word in words), default=0)


def _narrow(word: str) -> int:
    from rich.cells import cell_len

    wide = sum(cell_len(character) == 2 for character in word)
    return 12 if wide > len(word) / 2 else cell_len(word)
