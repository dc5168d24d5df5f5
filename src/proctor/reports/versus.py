"""A comparison as a page: terminal, Markdown, HTML."""

from typing import TYPE_CHECKING

from proctor.reports import plot
from proctor.reports.compare import Comparison, Row
from proctor.reports.render import environment, policy
from proctor.reports.visible import one_line, visible
from proctor.reports.words import Words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LISTED = 20
PLOT_FROM_WIDTH = 110
PLOT_WIDTH = 21


def html(comparison: Comparison, lang: str) -> str:
    """One self-contained HTML file."""
    return _page("compare.html.jinja", comparison, lang)


def markdown(comparison: Comparison, lang: str) -> str:
    """A Markdown file (GitHub's kind, for its tables)."""
    return _page("compare.md.jinja", comparison, lang)


def terminal(comparison: Comparison, lang: str, console: "Console") -> None:
    """Print the differences, what they mean, and which samples moved."""
    from rich.table import Table

    words = Words(lang)
    console.print(_text(headline(comparison, words), "bold"))
    for letter, record in (("A", comparison.first), ("B", comparison.second)):
        console.print(_text(f"{letter}  {record.agent} · {record.id}", "dim"))
    console.print()
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    wide = console.width >= PLOT_FROM_WIDTH
    for title in ("", "A", "B", "B − A", "95% interval"):
        table.add_column(_text(words.t(title) if title else ""), justify="right" if title else "left", no_wrap=True)
    if wide:
        table.add_column(_text("−50" + "0".center(PLOT_WIDTH - 6) + "+50"), no_wrap=True)
    for title in ("won / lost / same", "p", ""):
        table.add_column(_text(words.t(title) if title else ""), justify="right" if title else "left")
    for row in comparison.rows:
        style = "" if row.p_adjusted > 1 - row.difference.level else "green" if row.difference.value > 0 else "red"
        cells = [
            label(row, words),
            words.percent(row.first),
            words.percent(row.second),
            signed(row.difference.value),
            span(row),
        ]
        if wide:
            cells.append(line(row))
        cells += [
            f"{row.difference.wins} / {row.difference.losses} / {row.difference.ties}",
            p_text(row.p_adjusted),
            words.t(row.verdict),
        ]
        table.add_row(*(_text(cell, style) for cell in cells))
    console.print(table)
    console.print()
    for sentence in sentences(comparison, words):
        console.print(_text(sentence))
    for title, ids in (("Won by B", comparison.wins), ("Lost by B", comparison.losses)):
        if ids:
            shown = ", ".join(one_line(id, 60) for id in ids[:LISTED]) + (" …" if len(ids) > LISTED else "")
            console.print(_text(f"{words.t(title)}: {shown}", "dim"))


def headline(comparison: Comparison, words: Words) -> str:
    """The first row in one sentence."""
    row = comparison.rows[0]
    return words.t(
        "{metric} {first} → {second} ({difference} points): {verdict}",
        metric=words.metric(row.metric),
        first=words.percent(row.first),
        second=words.percent(row.second),
        difference=signed(row.difference.value),
        verdict=words.t(row.verdict),
    )


def sentences(comparison: Comparison, words: Words) -> list[str]:
    """What the numbers can and cannot show, and what was left out."""
    row = comparison.rows[0]
    found = []
    if row.p_adjusted > 1 - row.difference.level:
        if row.smallest is not None:
            found.append(
                words.t(
                    "{samples} samples find a difference of {smallest} points or more (four times in five); smaller ones stay open.",
                    samples=words.count(row.difference.pairs),
                    smallest=f"{100 * row.smallest:.1f}",
                )
            )
        if row.more:
            found.append(
                words.t(
                    "If the difference is as seen, about {more} samples more would decide.", more=words.count(row.more)
                )
            )
    found.append(
        words.t(
            "p is corrected for {rows} comparisons (Holm); test: {test}; interval: {method}.",
            rows=len(comparison.rows),
            test=words.t(row.difference.test),
            method=words.t(row.difference.method),
        )
    )
    for why, count in comparison.not_comparable.items():
        count_text, why_text = words.count(count), words.left_out(why)
        found.append(words.t("{count} samples are not compared: {why}", count=count_text, why=why_text))
    found += [words.t(note) for note in comparison.notes]
    return found


def label(row: Row, words: Words) -> str:
    """What a row is about: the slice, or the metric for the whole."""
    return one_line(row.slice) if row.slice else words.metric(row.metric)


def signed(value: float) -> str:
    """A difference in percentage points with its sign.

    >>> signed(0.0312), signed(-0.5)
    ('+3.1', '−50.0')
    """
    return f"{100 * value:+.1f}".replace("-", "−")


def span(row: Row) -> str:
    """The interval of the difference in percentage points; a dash for none."""
    low, high = row.difference.low, row.difference.high
    return "–" if low is None or high is None else f"{signed(low)} … {signed(high)}"


def p_text(p: float) -> str:
    """A p-value as people read it.

    >>> p_text(0.0000123), p_text(0.0412)
    ('<0.001', '0.041')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def line(row: Row) -> str:
    """The interval of the difference as signs, zero in the middle, half a scale to each side."""
    return plot.centred(row.difference.low, row.difference.value, row.difference.high, PLOT_WIDTH)


def _page(template: str, comparison: Comparison, lang: str) -> str:
    words = Words(lang)
    return (
        environment(template.endswith(".html.jinja"))
        .get_template(template)
        .render(
            comparison=comparison,
            lang=lang,
            words=words,
            t=words.t,
            headline=headline(comparison, words),
            sentences=sentences(comparison, words),
            label=lambda row: label(row, words),
            signed=signed,
            span=span,
            p_text=p_text,
            listed=LISTED,
            policy=policy(),
        )
    )


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(visible(text), style=style)
