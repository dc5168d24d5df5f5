"""What an audit says of itself: how sure, on how many samples, and how to see it again."""

import json
import shlex
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from proctor import Sample, Task
from proctor.cli import app
from proctor.core.run import Selection
from proctor.core.sentence import say
from proctor.i18n import speak
from proctor_audit.audit import Audit
from proctor_audit.check import TASK_CHECKS, find_checks
from proctor_audit.checks.gold_call_fails import MEASURED
from proctor_audit.consensus import ItemVotes
from proctor_audit.outcomes import AuditOutcomes
from proctor_audit.printing import describe_precision
from proctor_audit.report import run_checks
from proctor_audit.request import TaskRequest

CHECKS = """
from proctor.core.sentence import say
from proctor_audit.check import check

@check(group="mine", cls="likely", title=say("A question is too short."))
def short_question(audit):
    for sample in audit.samples:
        if len(sample.question) < 10:
            yield audit.found(say("the question has few letters"), sample)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("checks.py").write_text(CHECKS, encoding="utf-8")
    write(3)
    return tmp_path


def write(count: int) -> None:
    rows = [{"id": f"q{n}", "question": f"Which {n}?", "answer": str(n)} for n in range(count)]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def call(*words: str) -> Result:
    return CliRunner().invoke(app, [*words])


def test_the_replay_command_of_a_check_of_the_user_works_as_it_is_printed() -> None:
    words = ["audit-task", "exam.jsonl", "--check", "./checks.py:short_question", "--seed", "7", "--limit", "2", "--id", "q1", "--scorer", "exact"]  # fmt: skip
    [finding] = json.loads(call(*words, "--json").stdout)["findings"]
    replayed = call(*shlex.split(finding["replay"])[1:])
    assert replayed.exit_code == 0, replayed.output
    assert "sample q1" in replayed.stdout


def test_the_command_of_a_request_names_all_that_decides_what_is_audited() -> None:
    request = TaskRequest(
        task="exam.jsonl",
        options={"n": "5", "deep": {"a": True}, "columns": {"target": "answer"}},
        selection=Selection(limit=3, first=9, ids=("a b",), tags={"level": "1"}),
        seed=4,
    )
    assert request.command == (
        "proctor audit-task exam.jsonl --set 'n=\"5\"' --set 'deep={\"a\": true}' --map target=answer"
        " --tag level=1 --id 'a b' --limit 3 --first 9 --seed 4"
    )


def test_a_replay_says_whether_the_verdicts_are_the_same() -> None:
    rows = [{"id": id, "question": "Which?", "answer": answer} for id, answer in (("a", "x"), ("b", "y"))]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = call("audit-task", "exam.jsonl", "--replay", "contradictory-duplicate:a+b")
    assert (result.exit_code, "the verdicts are the same" in result.stdout) == (0, True)


def test_a_replay_whose_verdicts_differ_exits_with_1() -> None:
    Path("tasks.py").write_text(
        "from proctor import Sample, Task\nasked = []\n\ndef graded(sample, trajectory):\n    asked.append(sample.id)\n"
        "    return len(asked) > 2\n\ndef task():\n"
        '    return Task(name="t", samples=[Sample.ask("q", "Which?", target="x")], scorers=[graded])\n',
        encoding="utf-8",
    )
    result = call("audit-task", "tasks.py:task", "--replay", "gold-fails:q")
    assert (result.exit_code, "1 of 1 answers get another verdict" in result.stdout) == (1, True), result.output


def test_a_finding_that_is_not_proved_says_that_its_precision_is_unknown() -> None:
    words = ("audit-task", "exam.jsonl", "--check", "./checks.py:short_question", "-o", "r.md")
    assert call(*words).stdout.count("precision unknown") == 1
    assert "precision unknown" in Path("r.md").read_text(encoding="utf-8")


def test_a_precision_says_what_was_counted_and_how_often_that_is_so_anyway() -> None:
    audit = _audit([Sample.ask("q", "Which?", target="A")])
    [audit.check] = find_checks(TASK_CHECKS, ["gold-call-fails"])
    finding = msgspec.structs.replace(audit.found(say("refused"), "q", cls="look"), precision=MEASURED)
    said = speak(describe_precision(finding), "en")
    assert "50 % (29–71, 95 % interval) were changed by the verified edition of airline and retail" in said
    assert said.endswith("; 38 % of all were")


def test_a_store_that_cannot_be_read_only_leaves_the_consensus_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(Path("bad.db").resolve()))
    Path("bad.db").write_bytes(b"no database")
    words = ("audit-task", "exam.jsonl", "--scorer", "exact")
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    assert "consensus" in {each["check"] for each in json.loads(result.stdout)["not_checked"]}
    assert call(*words, "--store", "bad.db").exit_code == 2


def test_a_draw_is_reported() -> None:
    write(2_100)
    words = ("audit-task", "exam.jsonl", "--check", "null-passes", "--scorer", "exact")
    result = call(*words)
    assert "worked on 500 of 2100 samples" in result.stdout
    assert json.loads(call(*words, "--json").stdout)["drawn"] == 500
    assert "drawn:" not in call(*words, "--first", "20").stdout


def test_one_family_alone_is_no_consensus_and_the_level_of_an_interval_is_said() -> None:
    samples = [Sample.ask(f"q{n}", "Which? A. x B. y", target="A", meta={"options": ["x", "y"]}) for n in range(2)]
    for families, count in ((1, 0), (3, 1)):
        names = [f"{maker}-{n}" for maker in ("gpt", "claude", "gemini")[:families] for n in range(3)]
        items = [ItemVotes(id="q0", answers=dict.fromkeys(names, "B"), right=frozenset())]
        audit = _audit(samples)
        audit.outcomes = AuditOutcomes(items=items, families={name: name.split("-")[0] for name in names})
        findings = run_checks(audit, find_checks(TASK_CHECKS, ["consensus"]))
        assert len(findings) == count
        assert all(finding.precision is not None and finding.precision.level == 0.99 for finding in findings)


def _audit(samples: list[Sample]) -> Audit:
    from proctor_audit.scoring import LocalScorer

    task = Task(name="t", samples=samples, scorers=["exact"])
    return Audit(name="t", task=task, samples=samples, scorers=[], scoring=LocalScorer(task, [], {}))
