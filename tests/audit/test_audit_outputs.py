"""What an audit writes for programs, and scorers of users that hang or run what a model wrote."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from click.testing import CliRunner, Result

from proctor.cli import app
from proctor.core.digest import digest
from proctor_audit.badge import badge_of
from proctor_audit.opening import open_audit
from proctor_audit.report import make_report
from proctor_audit.request import TaskRequest

ROWS = [{"id": f"q{n}", "question": f"What is {n} and 1? <b>\\u202e", "answer": str(n + 1)} for n in range(4)]
TASK = """
import time
from proctor import Sample, Score, Task

def graded(sample, trajectory):
    answer = trajectory.answer or ""
    if answer == "{}":
        time.sleep(60)
    try:
        return Score(points=eval(answer) == int(sample.target))
    except Exception:
        return Score(points=0)

def task():
    return Task(name="sums", samples=[Sample.ask(str(n), f"What is {n} and {n}?", target=str(2 * n)) for n in range(6, 9)], scorers=[graded])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [*ROWS, {**ROWS[1], "id": "again"}]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Path("tasks.py").write_text(TASK, encoding="utf-8")
    return tmp_path


def audit(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit-task", *words])


def test_files_for_programs_name_the_finding_its_line_and_its_command() -> None:
    names = ("r.sarif", "r.xml", "r.html", "r.md", "r.json")
    result = audit("exam.jsonl", "--scorer", "exact", *(word for name in names for word in ("-o", name)))
    assert result.exit_code == 1, result.output
    [run] = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"]
    found = next(each for each in run["results"] if each["ruleId"] == "duplicate")
    assert found["level"] == "error"
    assert found["partialFingerprints"] == {"proctor/v1": "duplicate:again+q1"}
    lines = {place["physicalLocation"]["region"]["startLine"] for place in found["locations"]}
    assert lines == {2, 5}
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == "duplicate"
    cases = {case.get("name"): case for case in ET.parse("r.xml").iter("testcase")}
    assert cases["duplicate"].find("failure") is not None
    assert cases["null-passes"].find("failure") is None
    page = Path("r.html").read_text(encoding="utf-8")
    assert "--replay duplicate:again+q1" in page
    assert "<b>" not in page
    assert "\u202e" not in page + Path("r.md").read_text(encoding="utf-8")
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["schema"] == 1


def test_a_file_of_an_unknown_kind_is_refused_before_anything_is_checked() -> None:
    assert audit("exam.jsonl", "-o", "r.pdf").exit_code == 2


def test_a_scorer_that_evaluates_answers_is_proved_and_one_call_that_hangs_is_not_checked() -> None:
    result = audit("tasks.py:task", "--check", "A6", "--check", "empty-json-passes", "--seconds", "0.5", "--json")
    report = json.loads(result.stdout)
    assert {finding["check"] for finding in report["findings"]} == {"evaluates-answer"}
    assert any(each["check"] == "empty-json-passes" and each["applies"] for each in report["not_checked"])


def test_a_value_of_an_enumeration_that_the_scorer_rejects_is_proved() -> None:
    tool = {
        "name": "rooms",
        "parameters": {
            "type": "object",
            "properties": {"n": {"type": "string", "enum": ["1", "2"]}},
            "required": ["n"],
        },
    }
    row = {"id": "r", "question": "Two rooms.", "tools": [tool], "calls": [{"name": "rooms", "arguments": {"n": 2}}]}
    Path("rooms.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = {each["check"]: each for each in json.loads(audit("rooms.jsonl", "--json").stdout)["findings"]}
    assert found["schema-answer-fails"]["witness"]["unreachable"] is True
    assert "gold-against-schema" in found


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert audit("exam.jsonl", "--json").stdout_bytes == audit("exam.jsonl", "--json").stdout_bytes


def test_a_null_default_written_out_is_no_contradiction() -> None:
    tool = {"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "integer", "default": None}}}}
    row = {"id": "n", "question": "Call f.", "tools": [tool], "calls": [{"name": "f", "arguments": {"x": None}}]}
    Path("f.jsonl").write_text(json.dumps(row), encoding="utf-8")
    opened = open_audit(TaskRequest(task="f.jsonl"))
    assert len(opened.samples) == 1
    assert audit("f.jsonl").exit_code == 0


def test_a_check_that_was_not_made_is_told_from_one_that_left_samples_out() -> None:
    report = json.loads(audit("exam.jsonl", "--scorer", "rouge", "--check", "A4", "--check", "A6", "--json").stdout)
    made = {each["check"]: each["made"] for each in report["not_checked"]}
    assert (made["not-repeatable"], made["gold-fails"]) == (False, True)


def test_a_badge_says_what_was_found_and_which_report_says_so() -> None:
    result = audit("exam.jsonl", "-o", "r.svg", "-o", "r.json", "--fail-on", "never")
    assert result.exit_code == 0, result.output
    badge = ET.parse("r.svg")
    said = "".join(badge.getroot().itertext())
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert report["audit"] in said
    assert "1 proved" in said
    rest = {key: value for key, value in report.items() if key != "audit"}
    assert digest(rest)[:12] == report["audit"]
    made = len(report["checks"]) - len({each["check"] for each in report["not_checked"] if not each["made"]})
    assert f"{made} of {len(report['checks'])} checks" in said
    Path("exam.jsonl").write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    audit("exam.jsonl", "-o", "other.svg", "--fail-on", "never")
    assert "0 proved" in Path("other.svg").read_text(encoding="utf-8")
    assert report["audit"] not in Path("other.svg").read_text(encoding="utf-8")


def test_no_name_of_a_task_breaks_its_badge() -> None:
    report = make_report(open_audit(TaskRequest(task="exam.jsonl")), [])
    title = ET.fromstring(badge_of(msgspec.structs.replace(report, task="a\x1b<b>\x00"), "en"))[0].text
    assert title is not None
    assert title.startswith("a␛<b>␀: ")
