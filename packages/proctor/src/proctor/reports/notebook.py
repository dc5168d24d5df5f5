"""Show a run or a comparison in a notebook: HTML without scripts, classes or addresses, in the colours of the page around it."""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from proctor.core.run import Estimate
from proctor.reports import plot, versus
from proctor.reports.build import ReportData
from proctor.reports.compare import RunComparison
from proctor.reports.render import lines
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line

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
    rows: list[Sequence[str | Markup]] = []
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
            versus.label(row, words),
            words.percent(row.first),
            words.percent(row.second),
            versus.signed(row.difference.value),
            versus.span(row),
            _drawn(plot.difference_row(row.difference.low, row.difference.value, row.difference.high, "")),
            versus.p_text(row.p_adjusted),
            words.t(row.verdict),
        )
        for row in comparison.rows
    ]
    return _page(versus.headline(comparison, words), [*sides], titles, rows, words, versus.sentences(comparison, words))


def _row(one: Estimate, label: str, words: ReportWords) -> Sequence[str | Markup]:
    scored = f"{words.count(one.scored)} / {words.count(one.planned)}"
    return label, words.value(one), words.interval(one), _drawn(plot.row(one, "")), scored


def _drawn(svg: str) -> Markup:
    """Return a plot whose shapes look the same without a style sheet."""
    return Markup(re.sub(r'class="(\w+)"', lambda found: LOOKS[found[1]], svg))  # noqa: S704 - numbers only


def _page(
    title: str,
    facts: Iterable[str],
    titles: Sequence[str],
    rows: Sequence[Sequence[str | Markup]],
    words: ReportWords,
    notes: Iterable[str],
) -> str:
    head = Markup("").join(Markup('<th style="{}">{}</th>').format(RIGHT if at else "", text) for at, text in enumerate(titles))  # fmt: skip
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<td style="{}">{}</td>').format(RIGHT if at else "text-align:left", _said(cell))
                for at, cell in enumerate(row)
            )
        )
        for row in rows[:MOST_ROWS]
    )
    left = len(rows) - MOST_ROWS
    more = [words.t("{count} more rows: print(run) shows them all.", count=words.count(left))] if left > 0 else []
    return str(
        Markup(
            "<div><strong>{}</strong><br>{}<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>{}</div>"
        ).format(
            _said(title),
            Markup("<br>").join(map(_said, facts)),
            head,
            body,
            Markup("").join(Markup("<div>{}</div>").format(_said(note)) for note in [*more, *notes]),
        )
    )


def _said(text: str | Markup) -> Markup:
    return text if isinstance(text, Markup) else escape(one_line(text, 400))
