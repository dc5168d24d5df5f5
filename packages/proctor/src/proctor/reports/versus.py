"""A comparison as a page: terminal, Markdown, HTML."""

import json
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

import msgspec

from proctor.reports import plot
from proctor.reports.both import SamplePair, compared_samples, expected_text, listing_of_both, made_text
from proctor.reports.compare import RunComparison
from proctor.reports.listing import script_words
from proctor.reports.render import environment, script_values
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.reports.verdicts import MetricRow
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line

if TYPE_CHECKING:
    from rich.console import Console

LISTED = 20
PLOT_FROM_WIDTH = 110
PLOT_WIDTH = 21
STYLES = {"better": "green", "worse": "red", "inconclusive": ""}


def html(comparison: RunComparison, lang: str, samples: Iterable[SamplePair] = ()) -> str:
    """Return one self-contained HTML file; with `samples`, it lists them with both answers."""
    kept = _Moved()
    total = sum(comparison.not_comparable.values()) + comparison.rows[0].difference.pairs
    listing = listing_of_both(kept.passed(samples), total, ReportWords(lang))
    return _page("compare.html.jinja", comparison, lang, kept, **script_values(listing, "compared.js"))


def markdown(comparison: RunComparison, lang: str, samples: Iterable[SamplePair] = ()) -> str:
    """Return a Markdown file (GitHub's kind, for its tables)."""
    kept = _Moved()
    for _ in kept.passed(samples):
        pass
    return _page("compare.md.jinja", comparison, lang, kept)


def as_json(comparison: RunComparison, samples: Iterable[SamplePair] = ()) -> str:
    """Return the comparison with its samples, for programs."""
    fields = {**msgspec.structs.asdict(comparison), "samples": list(compared_samples(samples))}
    return json.dumps(msgspec.to_builtins(fields), ensure_ascii=False) + "\n"


def terminal(comparison: RunComparison, lang: str, console: "Console") -> None:
    """Print the differences, their meaning, and the samples that changed."""
    words = ReportWords(lang)
    console.print(styled(headline(comparison, words), "bold"))
    for letter, record in (("A", comparison.first), ("B", comparison.second)):
        console.print(styled(f"{letter}  {record.agent} · {record.id}", "dim"))
    console.print()
    wide = console.width >= PLOT_FROM_WIDTH
    axis = ("−50" + "0".center(PLOT_WIDTH - 6) + "+50",) if wide else ()
    titles = ("", "A", "B", "B − A", words.t("Interval"), *axis, words.t("won / lost / same"), "p", "")
    table = new_table(*titles, right=(1, 2, 3, 4, 6, 7) if wide else range(1, 7))
    for row in comparison.rows:
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
        add_rows(table, [cells], STYLES[row.outcome])
    print_table(table, console)
    console.print()
    for sentence in sentences(comparison, words):
        console.print(styled(sentence))
    for title, ids in (("Won by B", comparison.wins), ("Lost by B", comparison.losses)):
        if ids:
            shown = ", ".join(one_line(id, 60) for id in ids[:LISTED]) + (" …" if len(ids) > LISTED else "")
            console.print(styled(f"{words.t(title)}: {shown}", "dim"))


def headline(comparison: RunComparison, words: ReportWords) -> str:
    """Return the first row as one sentence."""
    row = comparison.rows[0]
    return words.t(
        "{metric} {first} → {second} ({difference} points): {verdict}",
        metric=words.metric(row.metric),
        first=words.percent(row.first),
        second=words.percent(row.second),
        difference=signed(row.difference.value),
        verdict=words.t(row.verdict),
    )


def sentences(comparison: RunComparison, words: ReportWords) -> list[str]:
    """Return sentences on what the numbers can and cannot show, how they were tested, and what was left out."""
    row = comparison.rows[0]
    alpha = 1 - row.difference.level
    texts = [
        *_limits(row, alpha, words),
        *_needed(comparison, words),
        words.t(
            "Test of the first row: {test}; interval: {method}, two-sided at {level}.",
            test=words.t(row.difference.test),
            method=words.t(row.difference.method),
            level=_level(row.difference.level),
        ),
    ]
    tested = sum(metric_row.p_adjusted is not None for metric_row in comparison.rows[1:])
    if tested:
        texts.append(
            words.t(
                "The first row is tested alone, at {alpha}; as it shows a difference, {rows} more are tested, corrected by Holm. Each interval is at the level of its test ({low} to {high}).",
                alpha=_level(alpha),
                rows=tested,
                low=_level(min(metric_row.difference.level for metric_row in comparison.rows)),
                high=_level(max(metric_row.difference.level for metric_row in comparison.rows)),
            )
        )
    elif len(comparison.rows) > 1 and (row.p_adjusted or 0.0) > alpha:
        texts.append(
            words.t(
                "The first row shows no difference, so the others are not tested: among many rows one always stands out. Take them as hints for a new comparison."
            )
        )
    return [*texts, *_left_out(comparison, words)]


def sentences_of_several(
    comparisons: Sequence[RunComparison], tested: Sequence[MetricRow], words: ReportWords, alpha: float = 0.05
) -> list[str]:
    """Return sentences on several runs; each that is about one of them begins with its letter.

    Args:
        comparisons: of the first run with each of the others.
        tested: the differences of each two runs.
    """
    levels = [row.difference.level for row in tested]
    texts = [
        words.t(
            "Each two runs are compared ({count} differences), and all tests are corrected by Holm. Each interval is at the level of its test ({low} to {high}).",
            count=len(tested),
            low=_level(min(levels, default=1 - alpha)),
            high=_level(max(levels, default=1 - alpha)),
        ),
        words.t("Slices are not tested among several runs: take them as hints, and compare two runs to test them."),
    ]
    for letter, comparison in zip(ascii_uppercase[1:], comparisons, strict=False):
        about = [*_limits(comparison.rows[0], alpha, words, letter), *_left_out(comparison, words)]
        texts += [f"{letter}: {sentence}" for sentence in about]
    return texts


def _limits(row: MetricRow, alpha: float, words: ReportWords, letter: str = "B") -> Iterator[str]:
    if row.difference.p_least > alpha:
        yield words.t(
            "With {clusters} independent samples or clusters p is at least {p}: no difference could be significant here, however clear.",
            clusters=words.count(row.difference.clusters),
            p=p_text(row.difference.p_least),
        )
    if row.missing:
        yield words.t(
            "Missing scores: {count} samples. Had all of them gone against {letter}, or for {letter}, the difference would be {floor} or {ceiling} points, and its interval reaches as much further.",
            count=words.count(row.missing),
            letter=letter,
            floor=signed(row.floor),
            ceiling=signed(row.ceiling),
        )


def _left_out(comparison: RunComparison, words: ReportWords) -> Iterator[str]:
    for why, count in comparison.not_comparable.items():
        count_text, why_text = words.count(count), words.left_out(why)
        yield words.t("{count} samples are not compared: {why}", count=count_text, why=why_text)
    yield from (words.t(note) for note in comparison.notes)


def _needed(comparison: RunComparison, words: ReportWords) -> list[str]:
    """Say how many samples would find the difference that was asked for."""
    needed = comparison.needed
    if needed is None:
        return []
    return [
        words.t(
            "To find a difference of {points} points four times in five takes about {samples} samples like these ({low} to {high}, as far as these can tell); {pairs} were compared.",
            points=f"{100 * needed.difference:g}",
            samples=words.count(needed.samples),
            low=words.count(needed.low),
            high=words.count(needed.high),
            pairs=words.count(comparison.rows[0].difference.pairs),
        )
    ]


def _level(share: float) -> str:
    return f"{round(100 * share, 2):g}%"


def label(row: MetricRow, words: ReportWords) -> str:
    """Return the name of a row: the slice, or the metric for the whole."""
    return one_line(row.slice) if row.slice else words.metric(row.metric)


def verdict_among(row: MetricRow, words: ReportWords) -> str:
    """Return the verdict where there are more than two runs, so that none is "the second"."""
    if row.outcome == "inconclusive":
        return words.t(row.verdict)
    return words.t("better") if row.outcome == "better" else words.t("worse")


def signed(value: float) -> str:
    """Return a difference in percentage points with plus or minus, rounded as the exact quotient of counts would be.

    >>> signed(0.0312), signed(-0.5), signed(25 / 400 - 24 / 400), signed(-1e-17)
    ('+3.1', '−50.0', '+0.2', '+0.0')
    """
    return f"{round(100 * value, 9) + 0.0:+.1f}".replace("-0.0", "+0.0").replace("-", "−")


def between(low: float | None, high: float | None) -> str:
    """Return both ends of an interval of a difference; one that is not 0 is not shown as 0. A dash for none.

    >>> between(-0.186, 0.058), between(0.0002, 0.258), between(None, None)
    ('−18.6 … +5.8', '>0 … +25.8', '–')
    """
    if low is None or high is None:
        return "–"
    return " … ".join(_end(value) for value in (low, high))


def _end(value: float) -> str:
    text = signed(value)
    return text if text != "+0.0" or abs(value) < 1e-9 else ">0" if value > 0 else "<0"


def span(row: MetricRow) -> str:
    """Return the interval of the difference in percentage points; a dash for none."""
    return between(row.difference.low, row.difference.high)


def p_text(p: float | None) -> str:
    """Return a rounded p-value; a dash for none.

    >>> p_text(0.0000123), p_text(0.0412)
    ('<0.001', '0.041')
    """
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def line(row: MetricRow) -> str:
    """Draw the interval of the difference in characters: zero in the middle, half a scale to each side."""
    return plot.difference_line(row.difference.low, row.difference.value, row.difference.high, PLOT_WIDTH)


HOW = {"label": label, "verdict": verdict_among, "signed": signed, "span": span, "p_text": p_text}  # for templates


class _Moved:
    """The first samples that moved, kept while all go by, for those who read without scripts."""

    def __init__(self) -> None:
        self.first: list[SamplePair] = []
        self.count = 0

    def passed(self, samples: Iterable[SamplePair]) -> Iterator[SamplePair]:
        kept = {"broken": 0, "fixed": 0}
        for sample in samples:
            if sample.group in kept:
                self.count += 1
                kept[sample.group] += 1
                if kept[sample.group] <= LISTED:
                    self.first.append(sample)
            yield sample


def _page(template: str, comparison: RunComparison, lang: str, moved: _Moved, **more: object) -> str:
    words = ReportWords(lang)
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
            how=HOW,
            label=lambda row: label(row, words),
            signed=signed,
            span=span,
            p_text=p_text,
            moved=moved.first,
            moves=moved.count,
            group_name=script_words(words).__getitem__,
            expected_text=expected_text,
            made_text=made_text,
            which=lambda one, side: _which(one, side, words),
            **more,
        )
    )


def _which(one: SamplePair, side: int, words: ReportWords) -> str:
    """Say which attempt is shown, if a sample has several."""
    if one.attempts[side] < 2:
        return ""
    return words.t("attempt {number} of {count}", number=one.shown[side] + 1, count=one.attempts[side])
