"""Checks of users: written by `proctor init check`, tested by their contract, replayed by the command printed with the finding."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor_audit.testing import CheckContract

SOUND = {"id": "q1", "question": "How much is 6 * 7?", "answer": "42"}
SHORT = {"id": "q2", "question": "Why?", "answer": "42"}


def test_the_check_that_init_writes_passes_its_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins of these tests, slower than what is tested
    result = CliRunner().invoke(app, ["init", "check", str(tmp_path / "mine")])
    assert result.exit_code == 0, result.output
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "mine")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert CliRunner().invoke(app, ["init", "check", str(tmp_path / "mine")]).exit_code == 2  # nothing is written over


def test_a_finding_of_a_check_given_by_path_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["init", "check"])
    Path("exam.jsonl").write_text(f"{json.dumps(SOUND)}\n{json.dumps(SHORT)}\n", encoding="utf-8")
    words = ["audit-task", "exam.jsonl", "--check", "./check.py:short_question", "--json"]
    [finding] = json.loads(CliRunner().invoke(app, words).stdout)["findings"]
    replayed = CliRunner().invoke(app, finding["replay"].split()[1:])
    assert replayed.exit_code == 0
    assert "the question has 4 letters" in replayed.stdout


class TestDuplicate(CheckContract):
    check = "duplicate"
    flawed = (SOUND, {**SOUND, "id": "q2"})
    sound = (SOUND, {**SHORT, "question": "How many legs has a spider?"})
