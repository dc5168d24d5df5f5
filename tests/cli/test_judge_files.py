"""Files of the user that judge belong to a run: one that changed is told before any number is shown."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.api import open_run
from proctor.cli import app

JUDGE = """
import json
from proctor.models.scripted import ScriptedModel

POINTS = 5

def say(messages, tools):
    return json.dumps({"comment": "", "scores": {"clarity": POINTS}, "clarity": POINTS, "reason": "", "winner": "A"})

model = ScriptedModel(say)
"""
RUBRIC = """
scale = [1, 5]
[en]
task = "Judge the answer."
[[dimensions]]
name = "clarity"
[dimensions.en]
text = "Is it clear?"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(JUDGE, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(RUBRIC, encoding="utf-8")
    for name in ("items", "other"):
        rows = [{"id": str(n), "question": "Why?", "answer": f"{name} {n}"} for n in range(4)]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path


def proctor(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--store", "runs.db", "--quiet"])


JUDGED = ("judge", "items", "items.json", "--rubric", "mine.toml", "--judge", "./mine.py:model", "--run", "j")
COMPARED = (
    "judge",
    "winrate",
    "items.json",
    "other.json",
    "--rubric",
    "mine.toml",
    "--judge",
    "./mine.py:model",
    "--run",
    "j",
)


@pytest.mark.parametrize("command", [JUDGED, COMPARED])
@pytest.mark.parametrize(("file", "text"), [("mine.py", JUDGE.replace("5", "2")), ("mine.toml", RUBRIC + "\n# new")])
def test_a_changed_judge_is_told_before_numbers_are_shown(
    folder: Path, command: tuple[str, ...], file: str, text: str
) -> None:
    first = proctor(*command)
    assert first.exit_code == 0, first.output
    if file == "mine.toml":
        text = text.replace("Is it clear?", "Is it very clear?")
    (folder / file).write_text(text, encoding="utf-8")
    for again in (command, (*command[:2], "--run", "j")):
        refused = proctor(*again)
        assert refused.exit_code == 2
        assert f"'j' was made with other code: {file}" in refused.stderr
        assert refused.stdout == ""
    accepted = proctor(*command, "--accept-changes")
    assert accepted.exit_code == 0, accepted.output
    record = open_run("j", store="runs.db").record
    assert f"went on after a change of its code: {file}" in str(record.warnings[-1])
    assert proctor(*command).exit_code == 0, "what was accepted once is the run's own"


def test_a_judge_of_a_plain_run_belongs_to_it_too(folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"id": "a", "question": "Why?", "target": "so"}\n', encoding="utf-8")
    command = ("run", "data.jsonl", "--agent", "baseline:null", "--scorer", "rubric:mine.toml", "--run", "r")
    assert proctor(*command, "--judge", "./mine.py:model").exit_code == 0
    code = open_run("r", store="runs.db").record.provenance["code"]
    assert list(code["judge"]) == ["mine.py"]
    assert list(code["scorers"]) == ["mine.toml"]


def test_a_run_that_was_judged_later_goes_on(folder: Path) -> None:
    (folder / "data.jsonl").write_text('{"id": "a", "question": "Why?", "target": "so"}\n', encoding="utf-8")
    (folder / "own.py").write_text(
        "def short(sample, trajectory):\n    return len(trajectory.answer) < 9\n", encoding="utf-8"
    )
    command = ("run", "data.jsonl", "--agent", "baseline:null", "--run", "r")
    assert proctor(*command).exit_code == 0
    judged = proctor("judge", "items", "--run", "r", "--rubric", "mine.toml", "--judge", "./mine.py:model")
    assert judged.exit_code == 0, judged.output
    scored = proctor("score", "--run", "r", "--scorer", "./own.py:short")
    assert scored.exit_code == 0, scored.output
    assert proctor("run", "--run", "r").exit_code == 0
    (folder / "own.py").write_text("def short(sample, trajectory):\n    return True\n", encoding="utf-8")
    refused = proctor("run", "--run", "r")
    assert "was made with other code: own.py" in refused.stderr
    assert proctor("score", "--run", "r", "--scorer", "./own.py:short").exit_code == 0
    assert proctor("run", "--run", "r").exit_code == 0, "it was scored with the new code"
