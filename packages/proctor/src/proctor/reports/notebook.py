"""Show a run or a comparison in a notebook: HTML without scripts, classes or addresses, in the colours of the page around it."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

from proctor.core.run import Estimate
from proctor.reports import plot, versus
from proctor.reports.build import ReportData
from proctor.reports.compare import RunComparison
from proctor.reports.render import lines
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line

Html = NewType("Html", str)  # its texts are escaped
MOST_ROWS = 60
INK = 'stroke="currentColor"'
LOOKS = {  # of the shapes of `plot`, as there is no style sheet
    "plot": 'style="min-width:160px"',
    "grid": f'{INK} stroke-opacity=".2"',
    "band": 'fill="currentColor" fill-opacity=".15"',
    "interval": f'{INK} stroke-width="2"',
    "dot": 'fill="currentColor"',
}
RIGHT = "text-align:right;white-space:nowrap"


def run_html(report: ReportData, lang: str) -> str:
    """Return the numbers of a run: how its trials ended, what to know first, and its estimates with their plots."""
    words, record = ReportWords(lang), report.record
    outcomes = ", ".join(f"{words.outcome(name)}: {words.count(count)}" for name, count in report.outcomes.items())
    facts = (words.t("Run {run}", run=record.id), words.state(record.state), outcomes)
    titles = ("", words.t("Value"), words.t("Interval"), "", words.t("Scored / planned"))
    rows: list[Sequence[Html]] = []
    for section in report.sections:
        for line in lines(report, words, section.key):
            tag = f"{section.key} · " if line.estimate.slice else ""
            rows.append(_row(line.estimate, tag + line.label, words))
    return _page(
        f"{record.task} · {record.agent}", facts, titles, rows, words, [words.t(note) for note in report.notes]
    )


def comparison_html(comparison: RunComparison, lang: str) -> str:
    """Return the rows of a comparison with their plots, and the sentences on what they can show."""
    words = ReportWords(lang)
    sides = (f"{letter}  {side.agent} · {side.id}" for letter, side in zip("AB", (comparison.first, comparison.second), strict=True))  # fmt: skip
    titles = ("", "A", "B", "B − A", words.t("Interval"), "−50 … +50", "p", "")
    rows = [
        (
            _html(versus.label(row, words)),
            _html(words.percent(row.first)),
            _html(words.percent(row.second)),
            _html(versus.signed(row.difference.value)),
            _html(versus.span(row)),
            _drawn(plot.difference_row(row.difference.low, row.difference.value, row.difference.high, "")),
            _html(versus.p_text(row.p_adjusted)),
            _html(words.t(row.verdict)),
        )
        for row in comparison.rows
    ]
    return _page(versus.headline(comparison, words), [*sides], titles, rows, words, versus.sentences(comparison, words))


def _row(estimate: Estimate, label: str, words: ReportWords) -> Sequence[Html]:
    before = (label, words.value(estimate), words.interval(estimate))
    scored = f"{words.count(estimate.scored)} / {words.count(estimate.planned)}"
    return *map(_html, before), _drawn(plot.row(estimate, "")), _html(scored)


def _drawn(svg: str) -> Html:
    """Return a plot of numbers only, whose shapes look the same without a style sheet."""
    return Html(re.sub(r'class="(\w+)"', lambda match: LOOKS[match[1]], svg))


def _page(
    title: str,
    facts: Iterable[str],
    titles: Sequence[str],
    rows: Sequence[Sequence[Html]],
    words: ReportWords,
    notes: Iterable[str],
) -> str:
    left = len(rows) - MOST_ROWS
    more = [words.t("{count} more rows: print(run) shows them all.", count=words.count(left))] if left > 0 else []
    head = _cells("th", map(_html, titles), first="")
    body = "".join(f"<tr>{_cells('td', row, first='text-align:left')}</tr>" for row in rows[:MOST_ROWS])
    below = "".join(f"<div>{_html(note)}</div>" for note in [*more, *notes])
    above = f"<strong>{_html(title)}</strong><br>{'<br>'.join(map(_html, facts))}"
    return f"<div>{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _cells(tag: str, cells: Iterable[Html], *, first: str) -> str:
    """Return the cells of a row; all but the first are aligned to the right."""
    return "".join(f'<{tag} style="{RIGHT if at else first}">{cell}</{tag}>' for at, cell in enumerate(cells))


def _html(text: str) -> Html:
    return Html(escape(one_line(text, 400)))
