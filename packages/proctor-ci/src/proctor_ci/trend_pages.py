"""Show a trend: on a terminal, as Markdown, HTML or JSON; the web app shares its sentences and its plot."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.reports import plot, versus
from proctor.reports.pages import Block, Bullets, Drawing, ReportPage, SectionBlock, TableBlock
from proctor.reports.pages import write as write_page
from proctor.reports.words import ReportWords
from proctor.runtime.files import write_whole
from proctor.runtime.visible import visible
from proctor_ci.changes import SEPARATOR, Change
from proctor_ci.pages import json_text
from proctor_ci.trends import Trend, TrendPoint, TrendShift

CHARACTERS = 72  # of a sparkline
NAMED = 3  # changes in a row of a table
UP, DOWN = "▲", "▼"


def page(trend: Trend, lang: str, *, rows: int = 1_000) -> ReportPage:
    """Return the trend as a page.

    Args:
        rows: how many of the newest runs its table has.
    """
    words = ReportWords(lang)
    t = words.t
    facts = {t("Task"): trend.task, t("Agent"): trend.agent, t("Runs"): words.count(len(trend.points))}
    if trend.baseline:
        facts[t("Baseline")] = trend.baseline
    return ReportPage(
        title=_title(trend, words), facts=facts, sections=sections(trend, words, rows=rows), numbered=False
    )


def sections(trend: Trend, words: ReportWords, *, rows: int) -> list[SectionBlock]:
    """Return the parts of the page: the plot, what was found, the newest runs, and how that was tested."""
    t = words.t
    blocks: list[Block] = [Drawing(_characters(trend, words), chart(trend, words))]
    if sentences := [*findings(trend, words)]:
        blocks.append(Bullets(sentences))
    columns = [t("Started"), t("Run"), t("Value"), t("Difference"), t("Changed since the run before")]
    blocks.append(TableBlock(columns, [_row(point, words) for point in trend.points[: -rows - 1 : -1]], right=(2, 3)))
    blocks.append(Bullets([*about(trend, words)]))
    return [SectionBlock(t("Trends"), blocks)]


def findings(trend: Trend, words: ReportWords) -> Iterator[str]:
    """Say which changes were found, which run was the last that is shown to be worse, and how many others are."""
    for shift in reversed(trend.shifts):
        yield shift_text(shift, words)
    worse = [point for point in trend.points if point.row is not None and point.row.outcome == "worse"]
    if worse:
        row = worse[-1].row
        assert row is not None
        yield words.t(
            "{run} is worse than {against}: {difference} points ({interval}).",
            run=worse[-1].run_id,
            against=worse[-1].against,
            difference=versus.signed(row.difference.value),
            interval=versus.span(row),
        )
    if len(worse) > 1:
        yield words.t("Other runs that are worse, marked below: {count}.", count=len(worse) - 1)


def shift_text(shift: TrendShift, words: ReportWords) -> str:
    """Say what changed, since when, and what was changed then."""
    values = {
        "since": shift.since,
        "before": words.percent(shift.before),
        "after": words.percent(shift.after),
        "count": words.count(shift.runs),
        "found": shift.found,
    }
    if shift.direction == "down":
        text = words.t(
            "A fall since {since}: from {before} (mean of {count} runs before) to {after}; shown by {found}.", **values
        )
    else:
        text = words.t(
            "A rise since {since}: from {before} (mean of {count} runs before) to {after}; shown by {found}.", **values
        )
    if names := changed_names(shift.changes):
        return f"{text} {words.t('Changed with it: {names}.', names=names)}"
    return f"{text} {words.t('Nothing that is recorded was changed with it.')}"


def changed_names(changes: Sequence[Change]) -> str:
    """Name the first of some changes."""
    names = [change.name.rpartition(SEPARATOR)[2] for change in changes]
    return ", ".join([*names[:NAMED], *(["…"] if len(names) > NAMED else [])])


def about(trend: Trend, words: ReportWords) -> Iterator[str]:
    """Say how changes and runs are tested."""
    yield words.t(
        "Changes are looked for after each of the newest {count} runs, on the samples they share with the runs since the last change; where nothing changes, a fall is found at most once in {runs} runs on average, and so is a rise. What moves all samples of a run at once, such as a bad day of the endpoint, is found as a change too: controls (proctor ci watch) show whether it was one.",
        count=words.count(trend.tested),
        runs=f"{trend.runs_per_alarm:g}",
    )
    if any(point.begins for point in trend.points):
        yield words.t(
            "Where a run measures otherwise (its task, data, scorers or judge are others), the search begins again."
        )
    compared = sum(point.row is not None and point.row.p_adjusted is not None for point in trend.points)
    if trend.baseline:
        yield words.t(
            "Each run is compared with the baseline on the samples that both have scored. The newest is tested first, at 5%, then the one before it, as long as a difference is found; tested: {count}.",
            count=compared,
        )
    elif compared:
        yield words.t(
            "Each run is compared with the one before on the samples that both have scored. All tests ({count}) are corrected by Holm together, so a single step must be clear to be marked. A baseline finds a fall that lasts more easily.",
            count=compared,
        )
    if trend.earlier:
        yield words.t("Earlier runs, not shown: {count}.", count=trend.earlier)


def chart(trend: Trend, words: ReportWords, address: Callable[[str], str] = lambda _: "") -> str:
    """Draw the runs that have a number, as SVG whose texts are escaped.

    Args:
        address: returns where a run is shown; '' for no link.
    """

    def text(said: str) -> str:
        return escape(visible(said))

    marks = trend.marks
    dots = [
        plot.Dot(
            point.estimate,
            marks.get(point.run, ""),
            text(address(point.run)),
            text(f"{point.run_id}: {words.sentence(point.estimate, words.when(point.created))}"),
            point.begins,
        )
        for point in trend.points
        if point.estimate is not None
    ]
    return plot.timeline(dots, trend.baseline_estimate, text(_title(trend, words)))


def as_json(trend: Trend) -> str:
    return json_text(msgspec.to_builtins(trend))


def write(trend: Trend, path: Path, lang: str) -> Path:
    """Write the trend; the suffix says how: .html, .md or .json.

    Raises:
        BadInput: another suffix, or the file cannot be written.
    """
    match path.suffix:
        case ".html" | ".md":
            return write_page(path, page(trend, lang), lang)
        case ".json":
            return write_whole(path, as_json(trend))
        case _:
            raise BadInput("A trend ends in .html, .md or .json, not '{name}'.", name=path.name)


def _title(trend: Trend, words: ReportWords) -> str:
    return words.t("{task} with {agent} over time", task=trend.task, agent=trend.agent)


def _characters(trend: Trend, words: ReportWords) -> str:
    """Draw the newest runs that measure alike as a line, and below it where a change began."""
    begun_at = max((at for at, point in enumerate(trend.points) if point.begins), default=0)
    shown = trend.points[begun_at:][-CHARACTERS:]
    values = [None if point.estimate is None else point.estimate.value for point in shown]
    known = [value for value in values if value is not None]
    begun = {shift.since: DOWN if shift.direction == "down" else UP for shift in trend.shifts}
    marks = "".join(begun.get(point.run, " ") for point in shown).rstrip()
    lines = [sparkline(values), *([marks] if marks else [])]
    if known:
        lines.append(words.t("{least} to {most}", least=words.percent(min(known)), most=words.percent(max(known))))
    return "\n".join(lines)


def _row(point: TrendPoint, words: ReportWords) -> list[str]:
    estimate, row = point.estimate, point.row
    value = "–" if estimate is None else words.value(estimate)
    if estimate is not None and estimate.low is not None and estimate.high is not None:
        value += f" [{words.interval(estimate)}]"
    difference = "–"
    if row is not None:
        mark = {"better": f"{UP} ", "worse": f"{DOWN} "}.get(row.outcome, "")
        difference = f"{mark}{versus.signed(row.difference.value)}"
    state = "" if point.state == "finished" else f" · {words.state(point.state)}"
    return [words.when(point.created), f"{point.run_id}{state}", value, difference, changed_names(point.changes)]


def sparkline(values: Sequence[float | None]) -> str:
    """Draw values in characters, one each: the least is the lowest, the greatest the highest.

    >>> sparkline([0.2, 0.4, None, 0.9])
    '▁▃ █'
    """
    known = [value for value in values if value is not None]
    least, most = (min(known), max(known)) if known else (0.0, 0.0)
    scale = (len(plot.BARS) - 1) / (most - least) if most > least else 0.0
    return "".join(" " if value is None else plot.BARS[round((value - least) * scale)] for value in values)
