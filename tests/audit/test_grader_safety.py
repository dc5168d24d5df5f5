"""What a scorer of the user does with answers of an agent that fails, and with files."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app

TASK = """
import json
from pathlib import Path

from proctor import Sample, Score, Task, Trajectory, Unscored


def lenient(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    try:
        value = json.loads(trajectory.answer)
    except ValueError:
        return Unscored(why="not_applicable", reason="no JSON")
    return Score(points=value == json.loads(sample.target))


def sound(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=trajectory.answer.strip() == sample.target)


def rejecting(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=0)


def reading(sample: Sample, trajectory: Trajectory) -> Score:
    notes = Path("notes.txt")
    return Score(points=trajectory.answer.strip() == sample.target or (notes.exists() and "pass" in notes.read_text()))


def task(scorer: str) -> Task:
    scorers = {"lenient": lenient, "sound": sound, "reading": reading, "rejecting": rejecting}
    samples = [Sample.ask(f"q{n}", f"How much is {n} + 5?", target=str(n + 5)) for n in range(10, 16)]
    return Task(name="sums", samples=samples, scorers=[scorers[name] for name in scorer.split()])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.py").write_text(TASK, encoding="utf-8")
    Path("notes.txt").write_text("nothing", encoding="utf-8")


@pytest.mark.parametrize(
    ("scorer", "found"),
    [
        ("lenient", [("drops-errors:lenient", "proved")]),
        ("sound", []),
        ("reading", [("reads-files:reading", "look")]),
        ("lenient sound", [("drops-errors:lenient", "proved")]),
        ("sound lenient", [("drops-errors:lenient", "likely")]),  # its number is not the main one
    ],
)
def test_a_scorer_that_drops_errors_or_reads_files_is_found(scorer: str, found: list[tuple[str, str]]) -> None:
    report = audited(scorer)
    assert [(finding["id"], finding["class"]) for finding in report["findings"]] == found
    assert all(
        finding["check"] != "reads-files" or "notes.txt" in str(finding["witness"]) for finding in report["findings"]
    )
    assert all(finding["sentence"]["values"].get("all") in (6, None) for finding in report["findings"])


def test_samples_without_a_known_right_answer_are_left_out_and_counted() -> None:
    report = audited("rejecting")
    assert report["findings"] == []
    [left_out] = [each for each in report["not_checked"] if each["check"] == "drops-errors"]
    assert left_out["reason"]["values"]["count"] == 6


def test_every_lenient_scorer_is_named_in_a_finding_of_its_own() -> None:
    rows = [{"id": f"q{n}", "question": f"How much is {n} + 5?", "answer": str(n + 5)} for n in range(10, 20)]
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    Path("near.py").write_text(NEAR, encoding="utf-8")
    words = ["--scorer", "./near.py:within", "--scorer", "./near.py:any_number", "--check", "near-number-passes"]
    report = json.loads(CliRunner().invoke(app, ["audit-task", "rows.jsonl", *words, "--json"]).stdout)
    assert {finding["id"] for finding in report["findings"]} == {"near-number-passes:any_number", "near-number-passes:within"}  # fmt: skip


NEAR = """
def within(sample, trajectory):
    return trajectory.answer.isdigit() and abs(int(trajectory.answer) - int(sample.target)) < 2


def any_number(sample, trajectory):
    return trajectory.answer.replace(".", "").isdigit()
"""


def audited(scorers: str) -> dict[str, Any]:
    words = ["./sums.py:task", "--set", f"scorer={scorers}", "--check", "drops-errors", "--check", "reads-files"]
    report: dict[str, Any] = json.loads(CliRunner().invoke(app, ["audit-task", *words, "--json"]).stdout)
    return report
