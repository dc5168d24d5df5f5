"""The cases of eval sets on a terminal: how many passed, and what was expected next to what came, turn by turn."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from proctor.core.sentence import Sentence, say
from proctor.i18n import speak
from proctor.reports.tables import add_rows, new_table, print_table, styled
from proctor.runtime.visible import one_line
from proctor_adapters.evalsets.outcomes import Call, CaseOutcome, MetricOutcome, Status, TurnOutcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WORDS: Mapping[Status, Sentence] = {
    "passed": say("passed"),
    "failed": say("failed"),
    "not_evaluated": say("not evaluated"),
}
STYLES = {"passed": "green", "failed": "red", "not_evaluated": "yellow"}
REASON_CHARACTERS = 300
GRID_WIDTH = 160


def summary(cases: Sequence[CaseOutcome], lang: str, console: "Console") -> None:
    """Print how many cases of each set passed, failed, or could not be evaluated, and a line for each that did not pass."""
    titles = (speak(say("Eval set"), lang), *(speak(sentence, lang) for sentence in WORDS.values()))
    table = new_table(*titles, right=range(1, len(titles)))
    for set_id in dict.fromkeys(case.set_id for case in cases):
        statuses = [case.status for case in cases if case.set_id == set_id]
        add_rows(table, [(one_line(set_id), *(f"{statuses.count(status):,}" for status in WORDS))])
    print_table(table, console)
    for case in cases:
        if case.status != "passed":
            console.print(styled(f"{one_line(case.id)}: {speak(WORDS[case.status], lang)}", STYLES[case.status]))
            for line in _why(case, lang):
                console.print(styled(f"  {line}"))


def as_data(cases: Sequence[CaseOutcome], lang: str) -> dict[str, object]:
    """Return the outcome as plain data: the counts, and each case with its metrics."""
    statuses = [case.status for case in cases]
    return {
        **{status: statuses.count(status) for status in WORDS},
        "cases": [
            {
                "set": case.set_id,
                "id": case.id,
                "status": case.status,
                "metrics": [
                    {
                        "name": metric.name,
                        "score": metric.score,
                        "threshold": metric.threshold,
                        "status": metric.status,
                        "reason": speak(metric.reason, lang),
                    }
                    for metric in case.metrics
                ],
                "failure": speak(case.failure, lang),
            }
            for case in cases
        ],
    }


def details(cases: Iterable[CaseOutcome], lang: str, console: "Console") -> None:
    """Print a grid for each case and metric: every turn of every attempt with what was expected and what came."""
    if not console.is_terminal:  # a file or a log: eight columns need room
        console.width = max(console.width, GRID_WIDTH)
    for case in cases:
        for metric in case.metrics or [None]:
            console.print(styled(f"{one_line(case.id)}: {_result(case, metric, lang)}", "bold"))
            console.print(_grid(case, metric, lang))
            console.print()


def _why(case: CaseOutcome, lang: str) -> list[str]:
    lines = [
        f"{_result(case, metric, lang)} {speak(metric.reason, lang)}".strip()
        for metric in case.metrics
        if metric.status != "passed"
    ]
    if case.failure:
        lines.append(speak(case.failure, lang))
    elif not case.turns:
        lines.append(speak("It was not run.", lang))
    return [one_line(line, REASON_CHARACTERS) for line in lines]


def _result(case: CaseOutcome, metric: MetricOutcome | None, lang: str) -> str:
    if metric is None:
        return speak(WORDS[case.status], lang)
    if metric.score is None:
        return speak("{metric} {status}.", lang, metric=metric.name, status=WORDS[metric.status])
    return speak(
        "{metric} {status}: {score}, threshold {threshold}.",
        lang,
        metric=metric.name,
        status=WORDS[metric.status],
        score=f"{metric.score:.4g}",
        threshold=f"{metric.threshold:g}",
    )


def _grid(case: CaseOutcome, metric: MetricOutcome | None, lang: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SQUARE, show_lines=True, header_style="dim")
    for title in (
        say("Status"),
        say("Score"),
        say("Threshold"),
        say("Prompt"),
        say("Expected response"),
        say("Actual response"),
        say("Expected tool calls"),
        say("Actual tool calls"),
    ):
        table.add_column(styled(speak(title, lang)), overflow="fold")
    for turn in case.turns:
        table.add_row(*map(styled, _cells(turn, metric, lang)))
    return table


def _cells(turn: TurnOutcome, metric: MetricOutcome | None, lang: str) -> tuple[str, ...]:
    score = turn.scores.get(metric.name) if metric is not None else None
    status = turn.statuses.get(metric.name, "not_evaluated") if metric is not None else "not_evaluated"
    return (
        speak(WORDS[status], lang),
        "-" if score is None else f"{score:.4g}",
        "-" if metric is None else f"{metric.threshold:g}",
        turn.asked,
        turn.expected_response or "",
        turn.response or speak(turn.failure, lang),
        calls_text(turn.expected_calls),
        calls_text(turn.calls),
    )


def calls_text(calls: Sequence[Call] | None) -> str:
    """Write calls as code, a line each.

    >>> calls_text([{"name": "f", "args": {"x": 1}}, {"name": "g", "args": None}])
    'f({"x": 1})\\ng()'
    """
    return "\n".join(f"{call['name']}({_arguments(call.get('args'))})" for call in calls or ())


def _arguments(args: object) -> str:
    return "" if args is None else json.dumps(args, ensure_ascii=False, default=str)
