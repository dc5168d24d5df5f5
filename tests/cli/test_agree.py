import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app, output
from proctor.reports import pages


def _label(folder: Path, count: int) -> None:
    for number, who in enumerate(("ann", "bob")):
        labels: dict[str, Any] = {
            f"p{i}": {
                "problem_id": f"p{i}",
                "scores": {"clarity": 1 + (i + (number and i % 7 == 0)) % 5, "correctness": 2 + i % 3},
                "status": "approved" if i % 2 else "rejected",
                "reviews": [],
            }
            for i in range(count)
        }
        (folder / f"{who}.json").write_text(json.dumps(labels))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Items, the labels of two people, and a judge that gives everything a 4."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    items = [{"id": f"p{i}", "question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(30)]
    (tmp_path / "items.json").write_text(json.dumps(items))
    _label(tmp_path, 20)
    rubric = """
        pass = 3
        [en]
        task = "Judge the answer."
        [[dimensions]]
        name = "clarity"
        en = { text = "Is it clear?" }
        [[dimensions]]
        name = "correctness"
        en = { text = "Is it right?" }
    """
    (tmp_path / "mine.toml").write_text("\n".join(line.strip() for line in rubric.splitlines()))
    (tmp_path / "judge.jsonl").write_text('{"comment": "", "clarity": 4, "correctness": 4}\n')
    return tmp_path


def test_people_are_compared_in_a_table(folder: Path) -> None:
    done = _run("judge", "agree", "ann.json", "bob.json")
    assert done.exit_code == 0
    assert "Between people: ann, bob" in done.stdout
    for word in (
        "clarity",
        "correctness",
        "alpha",
        "kappa",
        "at least tentative",
        "Items they disagree on most",
    ):
        assert word in done.stdout


def test_the_table_speaks_chinese(folder: Path) -> None:
    done = _run("--lang", "zh", "judge", "agree", "ann.json", "bob.json")
    assert done.exit_code == 0
    assert "人工标注之间" in done.stdout


def test_json_has_the_numbers_with_their_intervals(folder: Path) -> None:
    told = json.loads(_run("judge", "agree", "ann.json", "bob.json", "--json").stdout)["agreement"]
    rows = {row["name"]: row for row in told["between_people"]}
    assert told["people"] == ["ann", "bob"]
    assert rows["correctness"]["alpha"]["value"] == 1
    assert rows["correctness"]["verdict"] == "at least tentative"
    assert rows["clarity"]["kappa"]["low"] < rows["clarity"]["kappa"]["value"] < 1
    assert rows["pass_rate"]["equal"]["scored"] == 20


def test_a_judged_file_is_held_against_people_at_once(folder: Path) -> None:
    judge = ("judge", "items", "items.json", "--rubric", "mine.toml", "--judge", "scripted:judge.jsonl", "--quiet")
    labels = ("--labels", "ann.json", "--labels", "bob.json")
    done = _run(*judge, "--run", "some", *labels)
    assert done.exit_code == 0, done.output
    assert "it corrects no figure" in done.stdout  # nobody says how the 20 were chosen
    assert "(corrected)" not in _run("show", "some").stdout
    _label(folder, 30)
    done = _run(*judge, "--run", "j", *labels)
    assert "What people would say, from 30 labels among 30 judged items" in done.stdout
    shown = json.loads(_run("show", "j", "--json").stdout)
    by_name = {one["name"]: one for one in shown["estimates"] if not one["slice"]}
    assert by_name["average"]["value"] == 4
    assert by_name["average (corrected)"]["value"] == pytest.approx(3, abs=0.2)
    assert by_name["average (corrected)"]["method"].startswith(
        "labels alone"
    )  # a judge that always says 4 says nothing


def test_a_run_is_held_against_people_afterwards(folder: Path) -> None:
    _run(
        "judge",
        "items",
        "items.json",
        "--rubric",
        "mine.toml",
        "--judge",
        "scripted:judge.jsonl",
        "--quiet",
        "--run",
        "j",
    )
    assert "uncalibrated" in _run("show", "j").stdout
    done = _run("judge", "agree", "ann.json", "j", "-o", "page.md")
    assert done.exit_code == 0
    assert "scripted:judge.jsonl against people" in done.stdout
    assert "not shown to reach 0.67" in _run("show", "j").stdout  # alpha is -0.48: labels alone calibrate nothing
    assert _run("judge", "agree", "ann.json", "j", "--least", "2").exit_code == 2
    page = (folder / "page.md").read_text()
    assert page.startswith("# Agreement\n")
    assert "| Dimension |" in page


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "Name verification files"),
        (("nowhere.json",), "There is no file nowhere.json"),
        (("items.json",), "no verification file"),
        (("ann.json", "bob.json", "--scale", "5"), "two numbers"),
        (("ann.json", "bob.json", "--scale", "5,1"), "two numbers"),
        (("ann.json", "bob.json", "-o", "page.pdf"), "ends in .md or .html"),
        (("ann.json",), "rated by two"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_exit_code_2(folder: Path, given: tuple[str, ...], why: str) -> None:
    done = _run("judge", "agree", *given)
    assert done.exit_code == 2
    assert why in " ".join(done.stderr.split())


def _run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "140"}).invoke(app, list(arguments))


def test_on_eighty_columns_no_word_and_no_interval_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    columns = ["Dimension", "Items", "The same", "kappa", "alpha", "Difference", "Verdict"]
    row = ["completeness", "24", "79% [60%, 91%]", *["0.20 [-0.10, 0.50]"] * 3, "not enough evidence"]
    output.show([pages.section("Between people", columns=columns, rows=[row])])
    printed = capsys.readouterr().out
    assert "completeness" in printed
    assert printed.count("-0.10 … 0.50") == 3
    assert "60%–91%" in printed
    assert max(map(len, printed.splitlines())) <= 80
