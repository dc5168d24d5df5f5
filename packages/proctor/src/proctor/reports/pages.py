"""A page of headings, paragraphs, tables and lists: on a terminal, as Markdown, or as one HTML file that asks nothing of the network."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from proctor.core.errors import BadInput
from proctor.reports.blocks import (
    Block,
    Bullets,
    Code,
    Drawing,
    HeadingBlock,
    Paragraph,
    Phrase,
    SectionBlock,
    TableBlock,
    Tone,
    block_kind,
)
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.reports.words import ReportWords
from proctor.runtime.files import write_whole
from proctor.runtime.visible import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

__all__ = [
    "Block",
    "Bullets",
    "Code",
    "Drawing",
    "HeadingBlock",
    "Paragraph",
    "Phrase",
    "ReportPage",
    "SectionBlock",
    "TableBlock",
    "Tone",
    "html",
    "markdown",
    "section",
    "show",
    "write",
]

TONES: Mapping[Tone, str] = {"": "", "good": "green", "open": "yellow", "bad": "red"}
CELL_CHARACTERS = 60  # on a terminal
ANY_WIDTH = 10_000
INTERVAL = re.compile(r" \[([-+−–\d][^\[\],]*), ([-+−–\d][^\[\],]*)\]$")


def section(
    title: str, columns: Sequence[str] = (), rows: Sequence[Sequence[str]] = (), remarks: Sequence[str] = ()
) -> SectionBlock:
    """Return a part of a page: a table whose first and last columns are texts, and remarks; either may be empty."""
    table = [TableBlock(columns, rows, right=range(1, len(columns) - 1))] if rows else []
    return SectionBlock(title, [*table, *([Bullets(remarks)] if remarks else [])])


class ReportPage(msgspec.Struct, frozen=True, kw_only=True):
    """The whole page; `facts` are shown below its title, `notes` are what a reader has to know first."""

    title: Phrase
    facts: Mapping[str, Phrase] = {}
    notes: Sequence[Phrase] = ()
    sections: Sequence[SectionBlock]
    numbered: bool = True


def write(path: Path, page: ReportPage, lang: str) -> Path:
    """Write a page; the suffix says which kind: .md or .html.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    kinds = {".md": markdown, ".html": html}
    if path.suffix not in kinds:
        raise BadInput("A page ends in .md or .html, not '{name}'.", name=path.name)
    return write_whole(path, kinds[path.suffix](page, lang))


def show(sections: Sequence[SectionBlock], lang: str, console: "Console") -> None:
    """Print sections on a terminal; where a table is too wide, intervals go below their values."""
    words = ReportWords(lang)
    for section in sections:
        console.print(styled(one_line(words.t(section.title)), "bold"))
        for block in section.blocks:
            match block:
                case TableBlock(rows=rows) if rows:
                    table = _terminal_table(block, words)
                    if (
                        console.measure(table, options=console.options.update(max_width=ANY_WIDTH)).maximum
                        > console.width
                    ):
                        table = _terminal_table(block, words, narrow=True)
                    print_table(table, console)
                case Bullets(items=items):
                    for item in items:
                        console.print(styled(f"  {one_line(words.t(item), 400)}", "dim"))
                case Drawing(characters=characters):
                    console.print(styled(characters, ""))
                case HeadingBlock(text=text):
                    console.print(styled(words.t(text), "bold"))
                case Paragraph(text=text, strong=strong, tone=tone):
                    light = styled("● ", TONES[tone]) if tone else styled("")
                    console.print(light.append_text(styled(words.t(text), "bold" if strong else "")))
                case Code(text=commands):
                    console.print(styled(visible(commands)), soft_wrap=True)
        console.print()


def _terminal_table(block: TableBlock, words: ReportWords, *, narrow: bool = False) -> "RichTable":
    table = new_table(*(one_line(words.t(title), CELL_CHARACTERS) for title in block.columns), right=block.right)
    cells = ([one_line(words.t(cell), CELL_CHARACTERS) for cell in row] for row in block.rows)
    add_rows(table, ([INTERVAL.sub(_below, cell) for cell in row] for row in cells) if narrow else cells)
    return table


def _below(interval: re.Match[str]) -> str:
    low, high = interval.groups()
    return f"\n{low} … {high}" if low[0] in "+-−" else f"\n{low}–{high}"


def markdown(page: ReportPage, lang: str) -> str:
    """Return a Markdown file (GitHub's kind, for its tables)."""
    return re.sub(r"\n{3,}", "\n\n", _rendered("page.md.jinja", page, lang)).strip() + "\n"


def html(page: ReportPage, lang: str) -> str:
    """Return one self-contained HTML file."""
    return _rendered("page.html.jinja", page, lang)


def _rendered(template: str, page: ReportPage, lang: str) -> str:
    from proctor.reports.render import environment, policy

    words = ReportWords(lang)
    values: dict[str, object] = {
        "page": page, "lang": lang, "t": words.t, "kind": block_kind, "policy": policy()
    }  # fmt: skip
    return environment(template.endswith(".html.jinja")).get_template(template).render(values)
