"""proctor audit-task, as a person calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app

EXAM: list[dict[str, object]] = [
    {"id": "q1", "question": "1+1?", "answer": "2"},
    {"id": "q2", "question": "1+1?", "answer": "3"},
    {"id": "q3", "question": "Which town?", "answer": "\x1b[31mParis"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(EXAM)
    return tmp_path


def write(rows: list[dict[str, object]]) -> None:
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def audit(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit-task", "exam.jsonl", *words])


def test_a_contradiction_is_proved_and_replays() -> None:
    result = audit()
    assert result.exit_code == 1
    assert "contradictory-duplicate" in result.stdout
    assert "\x1b" not in result.stdout
    replayed = audit("--replay", "contradictory-duplicate:q1+q2")
    assert replayed.exit_code == 0
    assert "q1" in replayed.stdout
    assert audit("--replay", "contradictory-duplicate:q1").exit_code == 2


def test_an_accepted_finding_fails_nothing_and_is_told_when_it_is_gone() -> None:
    Path("proctor-ignore.toml").write_text('[[ignore]]\ncheck = "contradictory-duplicate"\nreason = "on purpose"\n')
    result = audit("--json")
    assert result.exit_code == 0
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["ignored"]["reason"] == "on purpose"
    write(EXAM[1:])
    assert "nothing found any more" in audit().stdout


@pytest.mark.parametrize("rule", ['check = "duplicate"', 'reason = " "\ncheck = "duplicate"', 'reason = "x"'])
def test_a_rule_without_a_reason_or_a_subject_is_refused(rule: str) -> None:
    Path("proctor-ignore.toml").write_text(f"[[ignore]]\n{rule}\n")
    assert audit().exit_code == 2


def test_ids_of_findings_differ_where_ids_of_samples_hold_the_mark_between_them() -> None:
    rows = [("a+b", "x", "1"), ("c", "x", "2"), ("a", "y", "3"), ("b+c", "y", "4")]
    write([{"id": id, "question": f"What is {text}?", "answer": answer} for id, text, answer in rows])
    ids = [finding["id"] for finding in json.loads(audit("--json").stdout)["findings"]]
    assert sorted(ids) == ["contradictory-duplicate:a%2Bb+c", "contradictory-duplicate:a+b%2Bc"]
    replayed = audit("--replay", ids[0])
    assert replayed.exit_code == 0
    accept("contradictory-duplicate:a+b+c")
    refused = audit()
    assert refused.exit_code == 2
    assert "which may be any of contradictory-duplicate:a%2Bb+c, contradictory-duplicate:a+b%2Bc" in " ".join(
        refused.output.split()
    )


def test_an_ignore_list_of_earlier_ids_is_understood() -> None:
    write([{"id": id, "question": "What is x?", "answer": answer} for id, answer in (("c++", "1"), ("d", "2"))])
    accept("contradictory-duplicate:c+++d")
    [finding] = json.loads(audit("--json").stdout)["findings"]
    assert finding["id"] == "contradictory-duplicate:c%2B%2B+d"
    assert finding["ignored"]["reason"] == "known"


def accept(finding: str) -> None:
    Path("proctor-ignore.toml").write_text(f'[[ignore]]\nfinding = "{finding}"\nreason = "known"\n')


def test_the_json_is_equal_whatever_the_order_of_the_rows() -> None:
    first = json.loads(audit("--json").stdout)
    write(EXAM[::-1])
    second = json.loads(audit("--json").stdout)
    for report in (first, second):
        del report["digest"], report["audit"]  # which is that of the whole report
        for finding in report["findings"]:
            del finding["where"]
    assert first == second


def test_a_row_that_cannot_be_read_is_named_and_the_rest_is_audited() -> None:
    write([*EXAM, {"id": "q4", "question": "Empty?", "answer": ""}])
    found = json.loads(audit("--json").stdout)["findings"]
    assert {finding["id"] for finding in found} == {"unreadable:q4", "contradictory-duplicate:q1+q2"}
    assert next(finding for finding in found if finding["check"] == "unreadable")["where"][0]["line"] == 4


def test_a_mistyped_check_is_answered_with_the_nearest() -> None:
    result = audit("--check", "duplicat")
    assert result.exit_code == 2
    assert "duplicate" in result.stderr


def test_a_file_with_tools_and_calls_is_run_and_audited() -> None:
    call = {"name": "lock", "arguments": {"door": "back"}}
    write(
        [
            {
                "id": "t",
                "question": "Lock it.",
                "tools": [{"name": "lock", "parameters": {"type": "object"}}],
                "calls": [call],
            }
        ]
    )
    result = CliRunner().invoke(app, ["run", "exam.jsonl", "--agent", "baseline:oracle", "--store", "r.db", "--json"])
    assert json.loads(result.stdout)["estimates"][0]["value"] == 1
    assert audit().exit_code == 0
