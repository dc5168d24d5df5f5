"""What `proctor init` writes runs at once, in both languages."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import open_run
from proctor.cli import app


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    return tmp_path


@pytest.mark.parametrize(("lang", "comment"), [("en", "# The system under test"), ("zh", "# 被测系统")])
def test_what_is_written_runs_at_once(folder: Path, lang: str, comment: str) -> None:
    made = CliRunner().invoke(app, ["init", "--lang", lang])
    assert made.exit_code == 0, made.output
    assert (folder / "agent.py").read_text(encoding="utf-8").startswith(comment)
    words = ["./task.py:task", "--agent", "./agent.py:answer", "--run", "my-first", "--quiet"]
    assert " ".join(words[:-1]) in made.stderr
    result = CliRunner().invoke(app, ["run", *words])
    assert result.exit_code == 0, result.output
    run = open_run("my-first", store="runs.db")
    assert run.estimate("exact.accuracy").value == pytest.approx(2 / 3)
    gate = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_agent.py"]
    done = subprocess.run(gate, capture_output=True, text=True, check=False, timeout=60)
    assert "1 passed" in done.stdout, done.stdout


def test_nothing_is_written_over(folder: Path) -> None:
    (folder / "task.py").write_text("mine")
    result = CliRunner().invoke(app, ["init"])
    assert result.exit_code == 2
    assert "task.py" in result.stderr
    assert [path.name for path in folder.iterdir()] == ["task.py"]
    assert CliRunner().invoke(app, ["init", "project", "other"]).exit_code == 0
    assert (folder / "other" / "agent.py").is_file()


@pytest.mark.parametrize("where", [(), ("a b",)])
def test_the_step_that_new_ci_names_is_the_next_one(
    folder: Path, where: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with nothing, too: the tiers name files that `init` writes."""
    typed = CliRunner().invoke(app, ["init", "ci", *where]).stderr.strip().partition(": ")[2]
    for step in typed.split(" && "):
        words = shlex.split(step)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
        else:
            done = CliRunner().invoke(app, words[1:])
            assert done.exit_code == 0, done.output
    again = CliRunner().invoke(app, ["init", "ci"]).stderr
    assert again.rstrip().endswith("Next: proctor ci tier smoke"), "there is an agent now"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("shop", "proctor init project shop"),
        ("./shop", "proctor init project ./shop"),
        ("gaet", "Did you mean 'gate'"),
    ],
)
def test_a_folder_in_place_of_a_template_is_answered_with_what_to_type(kind: str, said: str) -> None:
    result = CliRunner().invoke(app, ["--lang", "en", "init", kind])
    assert (result.exit_code, said in result.output) == (2, True), result.output
