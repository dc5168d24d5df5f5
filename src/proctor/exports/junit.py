"""A run as JUnit XML, as build servers show it: a test case for each sample (and attempt).

Below full marks is a failure, an agent that failed an error; what was not measured is skipped, never failed.
"""

import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.exports._rows import Options, judged, said, writing

IN_MEMORY = 8_000_000
ANSWER_CHARACTERS = 4_000
_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(record: RunRecord, store: Store, path: Path | TextIO, *, options: Options | None = None) -> list[Path]:
    """Write the suite and say where; `options["lang"]` is the language of the messages (default en).

    Raises:
        BadInput: the file cannot be written.
    """
    lang = (options or {}).get("lang", "en")
    count: Counter[str] = Counter()
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, mode="w+", encoding="utf-8") as cases:
        for trial, verdicts in judged(store, record.id):
            kind, body = _result(trial, verdicts, lang)
            count[kind] += 1
            cases.write(_case(record, trial, store.sample(record.id, trial.sample_id), body))
        cases.seek(0)
        with writing(path) as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
            file.write(f"<testsuite {_head(record, count)}>\n{_properties(record, lang)}")
            shutil.copyfileobj(cases, file)
            file.write("</testsuite>\n</testsuites>\n")
    return [path] if isinstance(path, Path) else []


def _head(record: RunRecord, count: Counter[str]) -> str:
    values = {
        "name": f"{record.task} · {record.agent}",
        "id": record.id,
        "tests": count.total(),
        "failures": count["failure"],
        "errors": count["error"],
        "skipped": count["skipped"],
        "time": f"{record.seconds:.3f}",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)),
    }
    return " ".join(f"{name}={_quoted(str(value))}" for name, value in values.items())


def _properties(record: RunRecord, lang: str) -> str:
    """How the run ended, where it did not end as it should."""
    if record.state == "finished":
        return ""
    note = "" if record.note is None else said(record.note, lang)
    values = (
        f"<property name={_quoted(name)} value={_quoted(value)}/>"
        for name, value in (("state", record.state), ("note", note))
    )
    return f"<properties>{''.join(values)}</properties>\n"


def _case(record: RunRecord, trial: Trial, sample: Sample | None, body: str) -> str:
    category = sample.tags.get("category") if sample is not None else None
    of_task = f"{record.task}.{category}" if category and not record.task.endswith(f"/{category}") else record.task
    name = f"{trial.sample_id} #{trial.attempt + 1}" if record.spec.attempts > 1 else trial.sample_id
    head = f'<testcase classname={_quoted(of_task)} name={_quoted(name)} time="{trial.seconds:.3f}"'
    return f"{head}>{body}</testcase>\n" if body else f"{head}/>\n"


def _result(trial: Trial, verdicts: Sequence[Verdict], lang: str) -> tuple[str, str]:
    """What the case counts as, and its element; '' for a sample that passed."""
    if trial.outcome != "scored":
        kind = "error" if trial.outcome == "agent_failed" else "skipped"
        why = said(trial.failure.reason, lang) if trial.failure is not None else trial.outcome
        named = trial.failure.kind if trial.failure is not None else trial.outcome
        detail = trial.failure.detail if trial.failure is not None and kind == "error" else ""
        return kind, _element(kind, f"{trial.outcome}: {why}", named, detail)
    scores = [(verdict.scorer, verdict.result) for verdict in verdicts if isinstance(verdict.result, Score)]
    wrong = [(name, score) for name, score in scores if not score.passed]
    if wrong:
        known = wrong[0][1].known
        kind = known.error_type or known.error_class or wrong[0][0]
        sentences = [
            f"{name}: {score.points:g} / {score.out_of:g}. {said(score.reason, lang)}" for name, score in wrong
        ]
        answer = wrong[0][1].answer
        text = trial.trajectory.answer if answer is None else answer
        return "failure", _element("failure", "; ".join(sentences), kind, text[:ANSWER_CHARACTERS])
    if not scores:
        reasons = [f"{one.scorer}: {said(one.result.reason, lang)}" for one in verdicts]
        return "skipped", _element("skipped", "; ".join(reasons) or "unscored", "unscored", "")
    return "passed", ""


def _element(kind: str, message: str, type: str, text: str) -> str:
    named = "" if kind == "skipped" else f" type={_quoted(type)}"
    return f"<{kind} message={_quoted(message.strip())}{named}>{escape(legal(text))}</{kind}>"


def _quoted(text: str) -> str:
    return quoteattr(legal(text))


def legal(text: str) -> str:
    """The text without what XML 1.0 cannot hold."""
    return _ILLEGAL.sub("", text)


PART = ExportPart(write=write, suffix=".xml")
