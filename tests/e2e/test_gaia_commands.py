"""GAIA from the command line: run, slices, export, count and check the data, start a set of one's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app

EXAMPLE = ("--set", "data=example")


def proctor(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.stdout + result.stderr
    return result.stdout if code == 0 else result.stdout + result.stderr


def run(*arguments: str, agent: str = "baseline:oracle") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(proctor("run", "gaia", "--agent", agent, *arguments, "--json", "--quiet"))
    return found


def values(found: dict[str, Any]) -> dict[str, float | None]:
    return {f"{one['name']} {one['slice']}".strip(): one["value"] for one in found["estimates"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_GAIA_DATA", raising=False)
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_an_oracle_is_right_on_every_level_and_the_steps_are_averaged() -> None:
    found = run(*EXAMPLE)
    assert found["outcomes"] == {"scored": 10}
    numbers = values(found)
    assert {numbers[f"accuracy{slice}"] for slice in ("", " level=1", " level=2", " level=3", " attachment=no")} == {
        1.0
    }
    assert (numbers["drop level=1-2"], numbers["drop level=2-3"]) == (0, 0)
    assert numbers["steps_of_correct"] == pytest.approx(3.9)
    [steps] = [one for one in found["estimates"] if one["name"] == "steps_of_correct"]
    assert (steps["unit"], steps["scored"], steps["planned"]) == ("number", 10, 10)


def test_one_that_says_nothing_is_wrong_and_its_drops_are_undefined() -> None:
    found = run(*EXAMPLE, agent="baseline:null")
    numbers = values(found)
    assert numbers["accuracy"] == 0
    assert numbers["drop level=1-2"] is None
    assert numbers["steps_of_correct"] is None
    assert {one["note"] for one in found["estimates"] if one["name"] == "drop"} == {"undefined"}


def test_steps_are_shown_as_a_number_without_a_plot_also_from_the_store(folder: Path) -> None:
    proctor("run", "gaia", *EXAMPLE, "--agent", "baseline:oracle", "--run", "r", "--quiet")
    [shown] = [line for line in proctor("show", "r").splitlines() if line.strip().startswith("steps of correct")][:1]
    assert " 3.9 " in shown
    assert "%" not in shown
    assert "●" not in shown
    for suffix in ("md", "html"):
        proctor("runs", "report", "r", "--out", f"r.{suffix}")
        assert "390" not in (folder / f"r.{suffix}").read_text(encoding="utf-8")
    assert "| 3.9 | 2.71–5.09 | 10 / 10 |" in (folder / "r.md").read_text(encoding="utf-8")
    html = (folder / "r.html").read_text(encoding="utf-8")
    row = next(line for line in html.splitlines() if "steps of correct answers" in line)
    assert "<svg" not in row


def test_levels_can_be_chosen() -> None:
    found = run(*EXAMPLE, "--set", "level=1,2")
    assert found["outcomes"] == {"scored": 8}
    assert "accuracy level=3" not in values(found)
    assert run(*EXAMPLE, "--set", "level=3")["outcomes"] == {"scored": 2}


def test_the_partial_match_stands_beside_the_official_number() -> None:
    numbers = values(run(*EXAMPLE, "--set", "partial_match=true"))
    assert (numbers["gaia.accuracy"], numbers["drop level=1-2"]) == (1, 0)


def test_an_export_has_a_line_for_each_question_and_a_guide(folder: Path) -> None:
    proctor("run", "gaia", *EXAMPLE, "--agent", "baseline:oracle", "--run", "r", "--quiet")
    proctor("runs", "export", "r", "--format", "gaia", "--out", "out", "--model", "org/model")
    lines = [json.loads(line) for line in (folder / "out" / "gaia_result.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == 10
    assert lines[4] == {
        "task_id": "finance-05",
        "model_answer": "AXO, CLY, EKO",
        "reasoning_trace": "FINAL ANSWER: AXO, CLY, EKO",
    }
    assert "org/model" in (folder / "out" / "SUBMISSION_GUIDE.md").read_text(encoding="utf-8")


def test_the_test_split_runs_and_exports_and_stays_unscored(folder: Path) -> None:
    place = folder / "mine" / "2023" / "test"
    place.mkdir(parents=True)
    record = {"task_id": "t", "Question": "What?", "Level": 1, "Final answer": "?", "file_name": ""}
    (place / "metadata.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    found = run("--set", "data=mine", "--set", "split=test", "--run", "r", agent="baseline:echo")
    assert values(found)["accuracy"] is None
    assert values(found)["steps_of_correct"] is None
    proctor("runs", "export", "r", "--format", "gaia", "--out", "out")
    assert json.loads((folder / "out" / "gaia_result.jsonl").read_text("utf-8"))["task_id"] == "t"
    assert "none 1" in proctor("data", "stats", "gaia", "--set", "data=mine", "--set", "split=test")


def test_data_are_counted_as_a_table_and_as_json() -> None:
    shown = proctor("data", "stats", "gaia", *EXAMPLE)
    assert "csv 4" in shown
    assert "number 5" in shown
    found = json.loads(proctor("data", "stats", "gaia", *EXAMPLE, "--json"))
    assert {level: one["questions"] for level, one in found["levels"].items()} == {"1": 4, "2": 4, "3": 2}
    assert found["whole"] == {"questions": 10, "attachments": 9, "steps": 3.9}
    assert found["attachments"] == {"csv": 4, "json": 3, "txt": 1, "md": 1}
    assert found["answers"] == {"number": 5, "text": 3, "list": 2}


def test_a_set_of_ones_own_is_started_checked_and_run(folder: Path) -> None:
    written = proctor("init", "gaia-set", "mine").splitlines()
    assert str(Path("mine", "2023", "validation", "metadata.jsonl")) in written
    assert "3 questions, 0 wrong, 1 notes" in proctor("data", "check", "gaia", "mine")
    assert values(run("--set", "data=mine"))["accuracy"] == 1
    metadata = folder / "mine" / "2023" / "validation" / "metadata.jsonl"
    metadata.write_text(
        metadata.read_text("utf-8").replace('"366"', '"nan"').replace("example-2.csv", "gone.csv"), "utf-8"
    )
    out = proctor("data", "check", "gaia", "mine", code=2)
    for place in ("metadata.jsonl, line 1", "metadata.jsonl, line 2", "metadata.jsonl, line 3"):
        assert place in out
    assert "3 questions, 3 wrong" in out


def test_the_check_speaks_chinese_and_hostile_names_are_shown_harmless(folder: Path) -> None:
    proctor("init", "gaia-set", "mine")
    metadata = folder / "mine" / "2023" / "validation" / "metadata.jsonl"
    with metadata.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"task_id": "\x1b[31mx", "Question": "?", "Level": 1, "Final answer": "y"}) + "\n")
    out = proctor("--lang", "zh", "data", "check", "gaia", "mine", code=2)
    assert "\x1b" not in out
    assert "4 道题，1 处错误" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["init", "gaia_set", "x"], "gaia-set"),
        (["init", "gaia-set", "."], "is not empty"),
        (["data", "check", "giaa", "x"], "gaia"),
        (["data", "check", "gaia", "nowhere"], "is no GAIA folder"),
        (["data", "stats", "bfcl"], "gaia"),
        (["data", "stats", "gaia", "--set", "data=nowhere"], "is no GAIA folder"),
        (["data", "stats", "gaia", "--set", "levle=1"], "level"),
        (["run", "gaia", "--agent", "baseline:null"], "HF_TOKEN"),
        (["run", "gaia", "--agent", "baseline:null", *EXAMPLE, "--set", "level=9"], "No question of level 9"),
    ],
)
def test_what_a_person_gets_wrong_is_named(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "something.txt").write_text("here", encoding="utf-8")
    assert message in proctor(*arguments, code=2)
