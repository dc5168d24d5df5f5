"""What people type by habit, or a letter off: each is answered with what to type."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

LOG = {"version": 2, "eval": {"task": "capitals", "model": "m", "dataset": {"sample_ids": ["fr", "it"]}}, "plan": {}}
SAMPLE = {
    "id": "fr",
    "epoch": 1,
    "input": "Capital of France?",
    "target": "Paris",
    "messages": [],
    "scores": {"match": {"value": "C"}},
    "output": {"choices": [{"message": {"role": "assistant", "content": "Paris"}}]},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": "fr", "question": "Capital of France?", "answer": "Paris"},
        {"id": "it", "question": "Of Italy?", "answer": "Rome"},
    ]
    (tmp_path / "capitals.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (tmp_path / "own.csv").write_text("Customer message,Best reply\nhi,hello\n", encoding="utf-8")
    for name, samples in (("cut", [SAMPLE]), ("empty", [])):
        with zipfile.ZipFile(f"{name}.eval", "w") as file:
            file.writestr("_journal/start.json", json.dumps(LOG))
            for sample in samples:
                file.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return tmp_path


def ask(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, [*words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "capitals.jsn"], "There is no file capitals.jsn. Did you mean 'capitals.jsonl'?"),
        (["run", "own.csv"], "--map 'Customer message=question' --map 'Best reply=target'"),
        (["run", "own.csv", "--map", "Customer message=question"], "--map 'Best reply=target'"),
        (["rnu"], "Did you mean 'run'? All of them: proctor --help"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_slip_is_answered_with_what_to_type(words: list[str], said: str) -> None:
    assert said in ask(*words, *(["--agent", "baseline:null"] if words[0] == "run" else []), code=2)


def test_help_and_version_are_words_too() -> None:
    assert ask("help", "run") == ask("run", "--help")
    assert ask("version") == ask("--version")


@pytest.mark.usefixtures("folder")
def test_a_trend_is_found_by_what_was_typed_to_run_it() -> None:
    ask("run", "capitals.jsonl", "--agent", "baseline:oracle", "--run", "a")
    assert ask("ci", "trends", "capitals.jsonl") == ask("ci", "trends", "capitals")
    assert "Did you mean 'table'?" in ask("runs", "export", "a", "--format", "csv", code=2)


@pytest.mark.usefixtures("folder")
def test_an_imported_log_is_compared_after_the_command_that_is_named() -> None:
    ask("run", "capitals.jsonl", "--agent", "baseline:null", "--run", "own", "--scorer", "exact:contains")
    shown = ask("runs", "import", "cut.eval", "--run", "cut")
    assert "Go on with it" not in shown, "it cannot be resumed"
    for words in (["cut", "own"], ["own", "cut"]):
        said = ask("compare", *words, code=2)
        assert "proctor score --run cut --scorer exact:contains" in said
    ask("score", "--run", "cut", "--scorer", "exact:contains")
    assert "exact:contains" in ask("compare", "cut", "own", "--json")
    assert "Scored / planned" not in ask("runs", "import", "empty.eval", "--run", "empty"), (
        "a table without rows is left out"
    )


@pytest.mark.parametrize(
    ("takes", "shown"),
    [
        ("output, expected", "100.0%"),
        ("actual_output, expected_output", "100.0%"),
        ("expected, output", "takes (expected, output)"),
        ("input, output, expected", "takes (input, output, expected)"),
    ],
)
def test_scorers_in_the_order_of_other_programs_are_called_so_or_refused(takes: str, shown: str, folder: Path) -> None:
    first, second = takes.split(", ")[-2:]
    (folder / "same.py").write_text(f"def same({takes}):\n    return {first} == {second}\n", encoding="utf-8")
    words = ["run", "capitals.jsonl", "--agent", "baseline:oracle", "--scorer", "./same.py:same"]
    assert shown in ask(*words, code=0 if "%" in shown else 2)


def test_output_that_nobody_takes_is_no_internal_error_and_no_missed_gate(folder: Path) -> None:
    ask("run", "capitals.jsonl", "--agent", "baseline:oracle", "--run", "a")
    command = [sys.executable, "-m", "proctor", "show", "a"]
    if Path("/dev/full").exists():  # on Linux
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.endswith("Error: The output cannot be written: No space left on device.\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert "rror" not in done.stderr
