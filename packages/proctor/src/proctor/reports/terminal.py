"""Runs on a terminal: the table of numbers, the failures, and the story of one sample. Uses rich.

Every text goes through `visible`, and as `Text`, in which rich reads no markup.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.engine.judge_figures import about, marked
from proctor.reports import plot
from proctor.reports.build import ReportData
from proctor.reports.explanation import print_costs, read_trial
from proctor.reports.noise import sections
from proctor.reports.pages import show
from proctor.reports.pairs import CallRows
from proctor.reports.render import EstimateLine, lines
from proctor.reports.step_costs import step_costs
from proctor.reports.story import Story, StoryFinding
from proctor.reports.story import story as tell
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line, visible
from proctor.stores.reading import verdicts_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

PLOT_FROM_WIDTH = 100
ERRORS_SHOWN = 12
RIGHT = ("Trials", "Value", "95% interval")  # columns of numbers
ANSWER_CHARACTERS = 600
NOTED_CHARACTERS = 200  # of the rows that one note belongs to


def terminal(report: ReportData, lang: str, console: "Console") -> None:
    """Print the numbers of a run: estimates with their intervals, outcomes, errors, usage."""
    words, record = ReportWords(lang), report.record
    console.print(styled(f"{record.task} · {record.agent}", "bold"))
    facts = (
        words.t("Run {run}", run=record.id),
        words.when(record.created),
        words.seconds(record.seconds),
        words.state(record.state),
        *_commit(record, words),
    )
    console.print(styled(" · ".join(facts), "dim"))
    console.print()
    for key in ("outcomes", *(("errors",) if report.has_classes else ()), "details", "unmeasured"):
        table = _counts(report, words, key)
        if table is not None:
            print_table(table, console)
            console.print()
    console.print(styled(_usage(report, words), "dim"))
    for one in report.notes:
        console.print(styled(f"! {words.t(one)}", "yellow"))
    console.print()
    if report.sections:
        print_table(_estimates(report, words, wide=console.width >= PLOT_FROM_WIDTH), console)
    for note, labels in _notes(report, words).items():
        named = f"{one_line(', '.join(labels), NOTED_CHARACTERS)}: " if labels else ""
        console.print(styled(f"  {named}{one_line(note, 600)}", "dim"))
    if report.target is not None and any(figure.low is not None for figure in report.headline):
        console.print(styled(words.t(report.target), "dim"))
    if report.noise:
        console.print()
        show(sections(report.noise[:1], words, is_short=True), lang, console)
        if len(report.noise) > 1:
            more = "Where the noise of the other scorers comes from is in the report: proctor runs report {run}"
            console.print(styled(f"  {words.t(more, run=record.id)}", "dim"))
    if (len(report.sections) > 1 or report.noise) and report.headline:  # the table may be longer than the screen
        console.print()
        for estimate in report.headline:
            scored = words.t(
                "{scored} of {planned} scored",
                scored=words.count(estimate.scored),
                planned=words.count(estimate.planned),
            )
            console.print(styled(f"{words.sentence(estimate, words.metric(estimate.name))} ({scored})", "bold"))


def _commit(record: RunRecord, words: ReportWords) -> Iterator[str]:
    git = record.provenance.get("git")
    if git and git["clean"]:
        yield words.t("commit {commit}", commit=git["commit"][:10])
    elif git:
        yield words.t("commit {commit} with changes", commit=git["commit"][:10])


def failures(report: ReportData, lang: str, console: "Console") -> None:
    """Print what went wrong, sample by sample: the reason, and what was expected next to what came."""
    words = ReportWords(lang)
    if not report.failures:
        if (table := _counts(report, words, "unmeasured")) is None:
            console.print(styled(words.t("No sample failed.")))
            return
        console.print(styled(words.t("No scored sample failed, but not everything was scored:")))
        print_table(table, console)
        return
    for story in report.failures:
        failure(story, lang, console, with_attempt=report.record.spec.attempts > 1)
        console.print()
    shown = words.shown(len(report.failures), report.failed)
    console.print(styled(f"{words.t('Failed samples')}: {shown}", "dim"))


def failure(one: Story, lang: str, console: "Console", *, with_attempt: bool = False) -> None:
    """Print what went wrong in one trial."""
    words = ReportWords(lang)
    console.print(_title(one, words, with_attempt=with_attempt))
    _reasons(one, words, console)
    if one.question:
        console.print(styled("  " + one_line(one.question, 300), "dim"))
    _sides(one, words, console)


def explain(record: RunRecord, store: Store, sample_id: str, attempt: int, lang: str, console: "Console") -> None:
    """Print the whole story of one trial: question, answer, every verdict, time, tokens, repeated requests.

    Raises:
        BadInput: the run has no such trial.
    """
    words = ReportWords(lang)
    trial = read_trial(record, store, sample_id, attempt)
    verdicts = verdicts_of(store, record.id, sample_id, attempt)
    story = tell(trial, store.sample(record.id, sample_id), verdicts, characters=100_000)
    console.print(_title(story, words, with_attempt=record.spec.attempts > 1))
    if story.tags:
        console.print(styled("  " + " · ".join(f"{key} {value}" for key, value in story.tags.items()), "dim"))
    _heading(words.t("Conversation"), console)
    for line in story.lines:
        who = words.role(line.role) + ("" if line.kind == "text" else f" {words.kind(line.kind)}")
        console.print(styled(who, "cyan"))
        console.print(_indented(line.text))
    _heading(words.t("Expected against made"), console)
    _sides(story, words, console, characters=10_000)
    _heading(words.t("Verdict"), console)
    _reasons(story, words, console, all_of_them=True)
    for finding in story.findings:
        if (judge := about(record, finding.scorer)) is not None:
            console.print(styled(f"  {finding.scorer}: {words.t(marked(judge))}", "dim"))
    _heading(words.t("Time and usage"), console)
    tokens = words.t(
        "{input} input tokens, {output} output tokens",
        input=words.count(story.usage.input_tokens),
        output=words.count(story.usage.output_tokens),
    )
    cost = () if story.usage.cost is None else (words.t("cost {cost}", cost=f"{story.usage.cost:.4g}"),)
    console.print(styled("  " + " · ".join((words.seconds(story.seconds), tokens, *cost, words.stop(story.stop)))))
    for call in story.retries:
        how = (
            "asked again after {cause} {status}, waited {time}"
            if call.waited_seconds
            else "not asked again after {cause}"
        )
        retried = words.t(how, cause=call.cause, status=call.status or "", time=words.seconds(call.waited_seconds))
        console.print(styled(f"  {retried}", "dim"))
    print_costs(step_costs(record, trial), words, console)


def _notes(report: ReportData, words: ReportWords) -> dict[str, list[str]]:
    """Return the notes of estimates, each with what it belongs to: scorers, or rows; nothing where it is said of every row."""
    rows = [line for section in report.sections for line in lines(report, words, section.key)]
    noted: dict[str, list[EstimateLine]] = {}
    for line in rows:
        for note in line.notes:
            noted.setdefault(note, []).append(line)
    sizes = {scorer: len(own) for scorer, own in _by_scorer(report, rows).items()}
    names_by_note: dict[str, list[str]] = {}
    for note, own in noted.items():
        groups = _by_scorer(report, own).items()
        names = [[name] if name and len(few) == sizes[name] else [line.label for line in few] for name, few in groups]
        names_by_note[note] = [] if len(own) == len(rows) else [*chain.from_iterable(names)]
    return names_by_note


def _by_scorer(report: ReportData, rows: Sequence[EstimateLine]) -> dict[str, list[EstimateLine]]:
    """Group rows by their scorer: '' where the run has one scorer, and for numbers of the whole benchmark."""
    by_scorer: dict[str, list[EstimateLine]] = {name: [] for name in ("", *report.record.scorers)}
    for line in rows:
        by_scorer[_scorer_of(report, line)].append(line)
    return {scorer: own for scorer, own in by_scorer.items() if own}


def _scorer_of(report: ReportData, line: EstimateLine) -> str:
    scorers = report.record.scorers
    fits = [name for name in scorers if len(scorers) > 1 and line.estimate.name.startswith(f"{name}.")]
    return max(fits, key=len, default="")


class _TerminalRow(NamedTuple):
    """A row of the table of estimates; a heading has no line."""

    depth: int
    label: str
    line: EstimateLine | None = None


def _rows(report: ReportData, words: ReportWords, key: str) -> Iterator[_TerminalRow]:
    """Yield the rows of a section: below the name of their scorer where there are several, shares before other numbers."""
    for scorer, own in _by_scorer(report, lines(report, words, key)).items():
        if scorer:
            yield _TerminalRow(1, scorer)
        is_alike = len({line.estimate.name for line in own}) == 1
        has_shares = any(line.estimate.unit == "share" for line in own)
        for is_number, group in groupby(sorted(own, key=_is_number), key=_is_number):
            if is_number and has_shares:
                yield _TerminalRow(1 + bool(scorer), words.t("Not in percent:"))
            for line in group:
                name, value = line.estimate.name.removeprefix(f"{scorer}."), line.estimate.slice.partition("=")[2]
                parts = (value, "" if value and is_alike else words.metric(name))
                yield _TerminalRow(1 + bool(scorer), " · ".join(filter(None, parts)) if scorer else line.label, line)


def _is_number(line: EstimateLine) -> bool:
    return line.estimate.unit == "number"


def _estimates(report: ReportData, words: ReportWords, *, wide: bool) -> "Table":
    figures = (words.t("Value"), words.t("95% interval"))
    axis = ("0" + "50".center(23) + "100",) if wide else ()
    bounds = (words.t("Scored / planned"), words.t("Floor–ceiling"))
    table = new_table("", *figures, *axis, *bounds, right=(1, 2, 4, 5) if wide else (1, 2, 3, 4))
    for section in report.sections:
        table.add_row(styled(words.section(section.key), "bold"))
        for depth, text, line in _rows(report, words, section.key):
            if line is None:
                table.add_row(styled("  " * depth + one_line(text, 90), "dim"))
                continue
            estimate = line.estimate
            is_main = estimate in report.headline
            label = styled(
                "  " * (depth - 1) + ("▸ " if is_main else "  ") + one_line(text, 90), "bold" if is_main else ""
            )
            plotted = (styled(plot.line(estimate, 27), "blue"),) if wide else ()
            scored = styled(f"{words.count(estimate.scored)} / {words.count(estimate.planned)}", _less(estimate))
            numbers = (styled(words.value(estimate), "bold"), styled(words.interval(estimate)))
            table.add_row(label, *numbers, *plotted, scored, styled(words.bounds(estimate)))
    return table


def _counts(report: ReportData, words: ReportWords, key: str) -> "Table | None":
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    match key:
        case "outcomes":
            heads, rows = (
                ("Outcome", "Trials"),
                [(words.outcome(name), words.count(n)) for name, n in report.outcomes.items()],
            )
        case "errors":
            heads = ("Class", "Trials", "Rule")
            rows = [
                (words.error(e.error_class), words.count(e.count), e.error_type) for e in report.errors[:ERRORS_SHOWN]
            ]
        case "details":
            heads = ("Mean of", "Value", "95% interval", "Scorer")
            rows = [
                (
                    words.detail(detail.name, of_calls=detail.of_calls),
                    words.value(detail.estimate),
                    words.interval(detail.estimate),
                    detail.scorer,
                )
                for detail in report.details
            ]
        case _:
            heads = ("Not measured", "Trials", "For example")
            rows = [
                (words.left_out(unmeasured.what), words.count(unmeasured.count), words.t(unmeasured.example))
                for unmeasured in report.unmeasured
            ]
    if not rows:
        return None
    table = new_table(*map(words.t, heads), right=[at for at, head in enumerate(heads) if head in RIGHT])
    add_rows(table, ([one_line(cell, 120) for cell in row] for row in rows))
    return table


def _usage(report: ReportData, words: ReportWords) -> str:
    usage, times = report.usage, report.seconds
    parts = [
        words.t("{count} requests", count=words.count(usage.requests)),
        words.t(
            "{input} input tokens, {output} output tokens",
            input=words.count(usage.input_tokens),
            output=words.count(usage.output_tokens),
        ),
    ]
    if times is None or times.p95:  # an imported log may not say how long a trial took
        parts.append(
            words.t(
                "a sample took {median} (median), {p95} (95th percentile)",
                median="–"
                if times is None
                else words.around(words.seconds(times.median), times.median_ends, words.seconds),
                p95="–" if times is None else words.around(words.seconds(times.p95), times.p95_ends, words.seconds),
            )
        )
    if usage.cost is not None:
        parts.append(words.t("cost {cost}", cost=f"{usage.cost:.4f}"))
    return " · ".join(parts)


def _title(one: Story, words: ReportWords, *, with_attempt: bool) -> "Text":
    title = styled(one_line(one.sample_id), "bold")
    if with_attempt:
        title.append_text(styled(f" · {words.t('attempt {number}', number=one.attempt + 1)}"))
    kind, rule = one.error
    if kind or rule:
        title.append_text(styled(f"  {words.error(kind)}", "red"))
        title.append_text(styled(f"  {one_line(rule)}", "dim"))
    elif one.outcome != "scored":
        title.append_text(styled(f"  {words.outcome(one.outcome)}", "red"))
    return title


def _reasons(one: Story, words: ReportWords, console: "Console", *, all_of_them: bool = False) -> None:
    if one.failure is not None:
        console.print(styled(f"  {words.outcome(one.outcome)}: {words.t(one.failure.reason)}"))
        if all_of_them and one.failure.detail:
            console.print(_indented(one.failure.detail))
    for finding in one.findings:
        if all_of_them or finding.value is None or finding.value < 1 or not finding.passed:
            console.print(styled(f"  {finding.scorer}: {_verdict(finding, words)}"))


def _verdict(found: StoryFinding, words: ReportWords) -> str:
    reason = words.t(found.reason)
    if found.value is None:
        return f"{words.unscored(found.why)}. {reason}"
    points = f"{found.points:g} / {found.out_of:g}"
    return (
        f"{points}. {reason}"
        if reason
        else points
        if found.value == 1
        else f"{points}. {words.t('No reason was given.')}"
    )


def _sides(one: Story, words: ReportWords, console: "Console", *, characters: int = ANSWER_CHARACTERS) -> None:
    if one.pairs:
        print_table(_pairs(one.pairs, words), console)
    for name, text in (("Expected", one.expected), ("Made", one.made)):
        if text:
            console.print(styled(f"  {words.t(name)}:", "dim"))
            console.print(_indented(text[:characters] + ("…" if len(text) > characters else "")))


def _pairs(pairs: Iterable[CallRows], words: ReportWords) -> "Table":
    table = new_table(words.t("Call"), words.t("Expected"), words.t("Made"))
    turn = 0
    for number, pair in enumerate(pairs, 1):
        if pair.turn != turn:
            turn = pair.turn
            table.add_row(styled(f"  {words.t('Turn {number}', number=turn)}", "dim"))
        style = "red" if pair.marked else "" if pair.kind else "bold"
        names = (_call(pair.expected, pair.expects_none, words), _call(pair.made, pair.made is None, words))
        add_rows(table, [(f"  {number}{_mark(pair, words)}", *names)], style)
        for row in pair.rows:
            values = (_value(row.expected, pair.expected), _value(row.made, pair.made))
            cells = (f"    {one_line(row.parameter)}{' ✗' if row.marked else ''}", *values)
            add_rows(table, [cells], "red" if row.marked else "")
    return table


def _mark(pair: CallRows, words: ReportWords) -> str:
    if not pair.kind:
        return " ✗" if pair.marked else ""
    return f" {'✗' if pair.marked else '✓' if pair.kind == 'matched' else ''} {words.call(pair.kind)}"


def _call(name: str | None, none: bool, words: ReportWords) -> str:
    return words.t("no call") if none else one_line(name or "")


def _value(text: str | None, call: str | None) -> str:
    return one_line(text) if text else "–" if call is not None else ""


def _heading(title: str, console: "Console") -> None:
    console.print()
    console.print(styled(title, "bold"))


def _indented(text: str) -> "Text":
    return styled("\n".join(f"    {line}" for line in visible(text).split("\n")))


def _less(estimate: Estimate) -> str:
    return "yellow" if estimate.scored < estimate.planned else ""
