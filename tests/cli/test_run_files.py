"""`proctor run` with a file of questions: columns are shown, mapped, and mistakes end with 2."""

import json
from pathlib import Path

import pytest

from proctor.cli import app


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.csv"
    path.write_text("题面,答案,级别\n法国首都？,巴黎,1\n日本首都？,东京,2\n", encoding="gbk")
    return path


def test_a_file_is_run_and_its_columns_are_shown(questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        "run",
        questions,
        "--agent",
        "baseline:oracle",
        "--map",
        "题面=question",
        "--scorer",
        "exact",
        "--json",
        "--quiet",
    )
    shown = capsys.readouterr()
    assert code == 0
    assert json.loads(shown.out)["estimates"][0]["value"] == 1
    assert "question ← 题面, target ← 答案, tag:level ← 级别" in shown.err


def test_a_dry_run_shows_them_too_and_goes_nowhere(questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        "run",
        questions,
        "--agent",
        "baseline:null",
        "--map",
        "题面=question",
        "--scorer",
        "exact",
        "--order",
        "official",
        "--dry-run",
    )
    shown = capsys.readouterr()
    assert code == 0
    assert "question ← 题面" in shown.err
    assert "法国首都？" in shown.out


def test_a_question_column_that_is_not_understood_is_asked_for(
    questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("run", questions, "--agent", "baseline:null", "--scorer", "exact") == 2
    assert "--map '题面=question'" in capsys.readouterr().err


def test_a_mapping_goes_with_files_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run", "bfcl", "--agent", "baseline:null", "--map", "a=question") == 2
    assert "--map goes with a file of questions" in capsys.readouterr().err


def test_a_file_that_is_not_there_ends_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run", tmp_path / "none.jsonl", "--agent", "baseline:null") == 2
    assert "There is no file" in capsys.readouterr().err


def test_a_run_of_a_file_goes_on_with_its_columns(questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", questions, "--agent", "baseline:oracle", "--map", "题面=question", "--scorer", "exact", "--quiet")
    assert run(*words, "--run", "mine") == 0
    assert run("run", "--run", "mine", "--quiet") == 0
    assert "question ← 题面" in capsys.readouterr().err
    questions.write_text("题面,答案\n法国首都？,里昂\n", encoding="utf-8")
    assert run("run", "--run", "mine", "--quiet") == 2
    assert "other conditions" in capsys.readouterr().err
