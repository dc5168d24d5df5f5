"""The cases of eval sets for other programs: the CSV of ADK's AgentEvaluator, and JUnit with one test for each case.

Source of the columns: google/adk-python, src/google/adk/evaluation/agent_evaluator.py, release 2.7.1.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.exports.junit import JUnitSuite, TestCase, TestResult, write_suites
from proctor.exports.table import safe_cell
from proctor.i18n import speak
from proctor_adapters.evalsets.outcomes import Call, CaseOutcome

COLUMNS = (
    "eval_set_id", "eval_id", "metric_name", "threshold", "score", "eval_status", "prompt", "expected_response",
    "actual_response", "expected_tool_calls", "actual_tool_calls",
)  # fmt: skip


def append_csv(cases: Sequence[CaseOutcome], path: Path) -> None:
    """Add a row for each metric and turn to a file; a new one begins with the names of the columns.

    Raises:
        BadInput: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
            writer = csv.writer(file, lineterminator="\r\n")
            if file.tell() == 0:
                writer.writerow(COLUMNS)
            writer.writerows([safe_cell(row[column]) for column in COLUMNS] for row in _rows(cases))
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None


def write_junit(cases: Sequence[CaseOutcome], path: Path, lang: str = "en") -> None:
    """Write a suite for each set: a case below a threshold is a failure, one that was not evaluated is skipped.

    Raises:
        BadInput: the file cannot be written.
    """
    set_ids = dict.fromkeys(case.set_id for case in cases)
    write_suites(
        path,
        [
            JUnitSuite(name=set_id, cases=[_test_case(case, lang) for case in cases if case.set_id == set_id])
            for set_id in set_ids
        ],
    )


def _rows(cases: Sequence[CaseOutcome]) -> Iterator[dict[str, object]]:
    for case in cases:
        for metric in case.metrics:
            for turn in case.turns:
                yield {
                    "eval_set_id": case.set_id,
                    "eval_id": case.id,
                    "metric_name": metric.name,
                    "threshold": metric.threshold,
                    "score": turn.scores.get(metric.name),
                    "eval_status": turn.statuses.get(metric.name, "not_evaluated").upper(),
                    "prompt": turn.asked,
                    "expected_response": turn.expected_response or "",
                    "actual_response": turn.response,
                    "expected_tool_calls": _calls(turn.expected_calls),
                    "actual_tool_calls": _calls(turn.calls),
                }


def _calls(calls: Sequence[Call] | None) -> str:
    return "\n".join(json.dumps(call, ensure_ascii=False, default=str) for call in calls or ())


def _test_case(case: CaseOutcome, lang: str) -> TestCase:
    return TestCase(classname=case.set_id, name=case.id, seconds=case.seconds, result=_result(case, lang))


def _result(case: CaseOutcome, lang: str) -> TestResult:
    if case.status == "passed":
        return TestResult(status="passed")
    wrong = [metric for metric in case.metrics if metric.status != "passed"]
    reasons = [
        f"{metric.name}: {'-' if metric.score is None else f'{metric.score:.4g}'} < {metric.threshold:g}. {speak(metric.reason, lang)}".strip()
        for metric in wrong
    ]
    message = "; ".join([*reasons, *([speak(case.failure, lang)] if case.failure else [])]) or case.status
    if case.status == "not_evaluated":
        return TestResult(status="skipped", message=message)
    text = "\n\n".join(f"{turn.response}\n{_calls(turn.calls)}".strip() for turn in case.turns)
    return TestResult(status="failure", message=message, type=wrong[0].name if wrong else "agent_failed", text=text)
