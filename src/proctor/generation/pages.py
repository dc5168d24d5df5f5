"""A page of headings, paragraphs, tables and lists, as Markdown or as one HTML file that asks nothing of the network."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from proctor.core.sentence import Sentence
from proctor.reports.render import policy
from proctor.reports.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment

Said = str | Sentence


class Paragraph(msgspec.Struct, frozen=True, tag=True):
    """A paragraph; `strong` where it says what the rest leads to."""

    text: Said
    strong: bool = False


class Bullets(msgspec.Struct, frozen=True, tag=True):
    """A list; numbered where the order matters."""

    items: Sequence[Said]
    numbered: bool = False


class Table(msgspec.Struct, frozen=True, tag=True):
    """A table; columns whose number is in `right` hold numbers."""

    columns: Sequence[Said]
    rows: Sequence[Sequence[Said]]
    right: Sequence[int] = ()


class Heading(msgspec.Struct, frozen=True, tag=True):
    """A heading within a section."""

    text: Said


Block = Heading | Paragraph | Bullets | Table


class Section(msgspec.Struct, frozen=True):
    """A heading with what stands below it."""

    title: Said
    blocks: Sequence[Block]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The whole page; `facts` stand below its title, `notes` are what a reader has to know first."""

    title: Said
    facts: Mapping[str, Said] = {}
    notes: Sequence[Said] = ()
    sections: Sequence[Section]


def markdown(page: Page, lang: str) -> str:
    """A Markdown file (GitHub's kind, for its tables)."""
    return re.sub(r"\n{3,}", "\n\n", _rendered("page.md.jinja", page, lang)).strip() + "\n"


def html(page: Page, lang: str) -> str:
    """One self-contained HTML file."""
    return _rendered("page.html.jinja", page, lang)


def _rendered(template: str, page: Page, lang: str) -> str:
    words = Words(lang)
    values: dict[str, object] = {
        "page": page, "lang": lang, "t": words.t, "kind": lambda block: type(block).__name__, "policy": policy()
    }  # fmt: skip
    return _environment(template.endswith(".html.jinja")).get_template(template).render(values)


@cache
def _environment(is_html: bool) -> "Environment":
    """The templates of this room; what they put out is made harmless as in all reports."""
    from jinja2 import ChoiceLoader, PackageLoader

    from proctor.reports.render import environment

    loader = ChoiceLoader([PackageLoader("proctor.generation"), PackageLoader("proctor.reports")])
    return environment(is_html).overlay(loader=loader)
