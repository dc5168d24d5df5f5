"""What the rules of the inspector find in single conversations, and what they leave alone."""

import time
from collections import Counter
from pathlib import Path

import pytest
from trajectories import TrajectoryCase, read_cases

from proctor_audit.check import find_checks
from proctor_audit.corpora import check_corpus
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.chat_rows import read_rows, read_trial
from proctor_audit.inspector.inspecting import RULES, findings_of
from proctor_audit.inspector.measured import MEASURED
from proctor_audit.inspector.view import InspectedTrial

CORPUS = Path(__file__).parents[2] / "data" / "audit" / "trajectories.jsonl.gz"
FRESH = CORPUS.with_name("trajectories_fresh.jsonl.gz")  # written before the rules were read
CHECKS = find_checks(RULES)
PROVED = ("loop", "repeated-failing-call", "empty-end", "cut", "harness-error")


def find(trial: InspectedTrial) -> list[AuditFinding]:
    return [finding for check in CHECKS for finding in findings_of(trial, check)]


@pytest.mark.parametrize("case", [*read_cases()], ids=lambda case: case.row["id"])
def test_a_conversation_has_what_is_in_it_and_not_what_it_only_looks_like(case: TrajectoryCase) -> None:
    kinds = {finding.check for finding in find(read_trial(case.row, "row", 1))}
    if case.is_there:
        assert kinds == {case.kind}
    else:
        assert case.kind not in kinds


@pytest.mark.parametrize("corpus", [CORPUS, FRESH])
def test_a_corpus_is_read_with_its_bars(corpus: Path) -> None:
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    named = Counter[bool]()
    for line in check_corpus(corpus, None):
        if line.group == "step named":
            named[line.agrees is True] += 1
        elif line.agrees:
            right[line.group] += 1
        elif line.official == "-":
            wrong[line.group] += 1
        else:
            missed[line.group] += 1
    assert right.total() >= 0.95 * (right + wrong).total()
    assert right.total() >= 0.90 * (right + missed).total()
    assert not any(wrong[kind] for kind in PROVED)
    assert named[True] >= 0.95 * named.total()


def test_how_often_findings_were_right_is_measured_of_each_check_and_class() -> None:
    right, reported = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number, row in read_rows(CORPUS):
        labelled = {label["kind"] for label in row["labels"]}
        for check, cls in {(finding.check, finding.cls) for finding in find(read_trial(row, "row", number))}:
            if check in row["judged"] and cls != "proved":
                reported[check, cls] += 1
                right[check, cls] += check in labelled
    assert {key: (right[key], count) for key, count in reported.items()} == MEASURED


def test_classes_and_what_is_invalidated_are_those_of_the_labels() -> None:
    for number, row in read_rows(CORPUS):
        findings = find(read_trial(row, "row", number))
        for label in row["labels"]:
            told = {(each.cls, each.invalidates) for each in findings if each.check == label["kind"]}
            assert (label["class"], label["invalidates"]) in told, (row["id"], label["kind"])


def test_a_span_occurs_literally_in_a_step() -> None:
    for number, row in read_rows(CORPUS):
        for finding in find(read_trial(row, "row", number)):
            texts = [str(message.get("content") or "") for message in row["messages"]]
            texts += [
                call["function"][field]
                for message in row["messages"]
                for call in message.get("tool_calls") or ()
                for field in ("name", "arguments")
            ]
            assert any(finding.witness["span"] in text for text in texts), finding.id
            assert all(0 <= step < len(row["messages"]) for step in finding.steps)


def test_ten_thousand_trajectories_take_a_minute_of_one_core_at_most() -> None:
    trials = [read_trial(row, "row", number) for number, row in read_rows(CORPUS)]
    for trial in trials[:20]:
        find(trial)  # patterns are compiled when they are first used
    began = time.process_time()
    for number, row in read_rows(CORPUS):
        find(read_trial(row, "row", number))
    assert (time.process_time() - began) / len(trials) <= 60 / 10_000
