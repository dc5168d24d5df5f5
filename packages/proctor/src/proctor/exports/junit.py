"""Tests as JUnit XML, as build servers show them; of a run, a test case for each sample (and attempt).

Below full marks is a failure, an agent that failed an error; what was not measured is skipped, never failed.
"""

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TextIO
from xml.sax.saxutils import escape, quoteattr

import msgspec

from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.exports.writing import Options, writing
from proctor.i18n import speak
from proctor.runtime.visible import visible
from proctor.stores.reading import trials_with_verdicts

IN_MEMORY = 8_000_000
ANSWER_CHARACTERS = 4_000
_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TestResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a test case; `type` and `text` are those of its failure or error."""

    status: Literal["passed", "failure", "error", "skipped"]
    message: str = ""
    type: str = ""
    text: str = ""


class TestCase(msgspec.Struct, frozen=True, kw_only=True):
    """A test case of a suite."""

    classname: str
    name: str
    seconds: float
    result: TestResult


class JUnitSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite of test cases, which are read once; the number and time of the cases are counted unless given."""

    name: str
    cases: Iterable[TestCase]
    attributes: Mapping[str, str] = {}
    properties: Mapping[str, str] = {}


def write(record: RunRecord, store: Store, path: Path | TextIO, *, options: Options | None = None) -> list[Path]:
    """Write the suite of a run and return the file; `options["lang"]` is the language of the messages (default en).

    Raises:
        BadInput: the file cannot be written.
    """
    lang = (options or {}).get("lang", "en")
    attributes = {
        "id": record.id,
        "time": f"{record.seconds:.3f}",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)),
    }
    note = "" if record.note is None else speak(record.note, lang)
    ended = {"state": record.state, "note": note} if record.state != "finished" else {}
    cases = (
        _case(record, trial, store.sample(record.id, trial.sample_id), _result(trial, verdicts, lang))
        for trial, verdicts in trials_with_verdicts(store, record.id)
    )
    name = f"{record.task} · {record.agent}"
    return write_suites(path, [JUnitSuite(name=name, cases=cases, attributes=attributes, properties=ended)])


def write_suites(path: Path | TextIO, suites: Iterable[JUnitSuite]) -> list[Path]:
    """Write suites as one file, and return it; memory does not grow with the number of cases.

    Raises:
        BadInput: the file cannot be written.
    """
    with writing(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        for suite in suites:
            _write_suite(file, suite)
        file.write("</testsuites>\n")
    return [path] if isinstance(path, Path) else []


def _write_suite(file: TextIO, suite: JUnitSuite) -> None:
    count: Counter[str] = Counter()
    seconds = 0.0
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, mode="w+", encoding="utf-8") as spool:
        for case in suite.cases:  # counted before the head is written
            count[case.result.status] += 1
            seconds += case.seconds
            spool.writelines(_case_xml(case))
        counts = {"tests": count.total(), "failures": count["failure"], "errors": count["error"], "skipped": count["skipped"]}  # fmt: skip
        head = {"name": suite.name, **counts, "time": f"{seconds:.3f}", **suite.attributes}
        file.write(f"<testsuite {_attributes(head)}>\n")
        if suite.properties:
            found = (f"<property {_attributes({'name': k, 'value': v})}/>" for k, v in suite.properties.items())
            file.write(f"<properties>{''.join(found)}</properties>\n")
        spool.seek(0)
        shutil.copyfileobj(spool, file)
        file.write("</testsuite>\n")


def _case_xml(case: TestCase) -> Iterator[str]:
    result = case.result
    head = {"classname": case.classname, "name": case.name, "time": f"{case.seconds:.3f}"}
    if result.status == "passed":
        yield f"<testcase {_attributes(head)}/>\n"
        return
    shown = {"message": result.message.strip()} | ({} if result.status == "skipped" else {"type": result.type})
    yield f"<testcase {_attributes(head)}><{result.status} {_attributes(shown)}>"
    yield f"{escape(_legal(result.text))}</{result.status}></testcase>\n"


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={quoteattr(_legal(str(value)))}" for name, value in values.items())


def _legal(text: str) -> str:
    """Return the text with signs for what steers a terminal or turns a line around, without what XML 1.0 cannot hold."""
    return _ILLEGAL.sub("", visible(text))


def _case(record: RunRecord, trial: Trial, sample: Sample | None, result: TestResult) -> TestCase:
    category = sample.tags.get("category") if sample is not None else None
    of_task = f"{record.task}.{category}" if category and not record.task.endswith(f"/{category}") else record.task
    name = f"{trial.sample_id} #{trial.attempt + 1}" if record.spec.attempts > 1 else trial.sample_id
    return TestCase(classname=of_task, name=name, seconds=trial.seconds, result=result)


def _result(trial: Trial, verdicts: Sequence[Verdict], lang: str) -> TestResult:
    failure = trial.failure
    if trial.outcome != "scored":
        why = speak(failure.reason, lang) if failure is not None else trial.outcome
        kind = failure.kind if failure is not None else trial.outcome
        message = f"{trial.outcome}: {why}"
        if trial.outcome != "agent_failed":
            return TestResult(status="skipped", message=message)
        return TestResult(status="error", message=message, type=kind, text="" if failure is None else failure.detail)
    scores = [(verdict.scorer, verdict.result) for verdict in verdicts if isinstance(verdict.result, Score)]
    wrong = [(name, score) for name, score in scores if not score.passed]
    if wrong:
        name, first = wrong[0]
        text = trial.trajectory.answer if first.answer is None else first.answer
        return TestResult(
            status="failure",
            message="; ".join(
                f"{name}: {score.points:g} / {score.out_of:g}. {speak(score.reason, lang)}" for name, score in wrong
            ),
            type=first.known.error_type or first.known.error_class or name,
            text=text[:ANSWER_CHARACTERS],
        )
    if not scores:
        reasons = [f"{verdict.scorer}: {speak(verdict.result.reason, lang)}" for verdict in verdicts]
        return TestResult(status="skipped", message="; ".join(reasons) or "unscored")
    return TestResult(status="passed")


PART = ExportPart(write=write, suffix=".xml")
