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


def reading(sample: Sample, trajectory: Trajectory) -> Score:
    notes = Path("notes.txt")
    return Score(points=trajectory.answer.strip() == sample.target or (notes.exists() and "pass" in notes.read_text()))


def task(scorer: str) -> Task:
    scorers = {"lenient": lenient, "sound": sound, "reading": reading}
    samples = [Sample.ask(f"q{n}", f"How much is {n} + 5?", target=str(n + 5)) for n in range(10, 16)]
    return Task(name="sums", samples=samples, scorers=[scorers[scorer]])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.py").write_text(TASK, encoding="utf-8")
    Path("notes.txt").write_text("nothing", encoding="utf-8")


@pytest.mark.parametrize(
    ("scorer", "found"),
    [
        ("lenient", [("drops-errors:scorer", "proved")]),
        ("sound", []),
        ("reading", [("reads-files:scorer", "look")]),
    ],
)
def test_a_scorer_that_drops_errors_or_reads_files_is_found(scorer: str, found: list[tuple[str, str]]) -> None:
    words = ["./sums.py:task", "--set", f"scorer={scorer}", "--check", "drops-errors", "--check", "reads-files"]
    result = CliRunner().invoke(app, ["audit-task", *words, "--json"])
    report: dict[str, Any] = json.loads(result.stdout)
    assert [(finding["id"], finding["class"]) for finding in report["findings"]] == found
    assert all(
        finding["check"] != "reads-files" or "notes.txt" in str(finding["witness"]) for finding in report["findings"]
    )
