"""The parts of a page: headings, paragraphs, tables and lists, whatever it is written as."""

from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from proctor.core.sentence import Sentence

Phrase = str | Sentence
Tone = Literal["", "good", "open", "bad"]


class Paragraph(msgspec.Struct, frozen=True, tag=True):
    """A paragraph; `strong` for a conclusion, with a light of the `tone` before it: green, amber or red."""

    text: Phrase
    strong: bool = False
    tone: Tone = ""


class Bullets(msgspec.Struct, frozen=True, tag=True):
    """A list; numbered where the order matters."""

    items: Sequence[Phrase]
    numbered: bool = False


class TableBlock(msgspec.Struct, frozen=True, tag=True):
    """A table; columns whose number is in `right` hold numbers."""

    columns: Sequence[Phrase]
    rows: Sequence[Sequence[Phrase]]
    right: Collection[int] = ()


class HeadingBlock(msgspec.Struct, frozen=True, tag=True):
    """A heading within a section."""

    text: Phrase


class Drawing(msgspec.Struct, frozen=True, tag=True):
    """A plot: SVG whose texts are escaped in a page, characters elsewhere."""

    characters: str
    svg: str


class Code(msgspec.Struct, frozen=True, tag=True):
    """Commands, a line each, in no language."""

    text: str


Block = HeadingBlock | Paragraph | Bullets | TableBlock | Drawing | Code


class SectionBlock(msgspec.Struct, frozen=True):
    """A heading with what comes below it."""

    title: Phrase
    blocks: Sequence[Block]


def block_kind(block: Block) -> str:
    """Return the kind of a part of a page, as templates distinguish them."""
    return type(block).__name__
