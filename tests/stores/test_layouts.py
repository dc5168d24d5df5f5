"""What earlier versions stored is read, resumed, compared and decided about by this one; `tests/data/layouts` has an example of each."""

import csv
import gzip
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import proctor
from proctor.cli import app
from proctor.core.version import SQLITE_LAYOUT

EXAMPLES = Path(__file__).parents[1] / "data" / "layouts"
STORES = {int(path.name.partition("-")[2].partition(".")[0]): path for path in EXAMPLES.glob("sqlite-*.db.gz")}


@pytest.fixture(params=sorted(STORES), ids=lambda layout: f"layout {layout}")
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the examples, with the store of one layout."""
    for path in EXAMPLES.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "agent.py.txt").rename(tmp_path / "agent.py")  # a formatter that changed it would make it other code
    (tmp_path / "runs.db").write_bytes(gzip.decompress(STORES[request.param].read_bytes()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    monkeypatch.delenv("DOWN", raising=False)
    return tmp_path


def call(*words: str) -> str:
    done = CliRunner().invoke(app, ["--lang", "en", *words], prog_name="proctor")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_layout_of_today_has_an_example() -> None:
    assert SQLITE_LAYOUT in STORES, "see tests/data/layouts/README.md"


def test_a_stored_run_is_read_with_the_numbers_it_had(folder: Path) -> None:
    before = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    call("runs", "report", "half", "--out", "again.json")
    after = json.loads((folder / "again.json").read_text(encoding="utf-8"))
    assert {"run", "task", "agent", "state", "outcomes"} <= before.keys()
    assert [after[key] for key in ("run", "task", "agent", "state", "outcomes")] == [before[key] for key in ("run", "task", "agent", "state", "outcomes")]  # fmt: skip
    numbers = {(number["name"], number["slice"]): number for number in after["estimates"]}
    for number in before["estimates"]:
        now = numbers[number["name"], number["slice"]]
        for key in ("value", "low", "high", "scored", "planned", "floor", "ceiling"):
            assert now[key] == pytest.approx(number[key]), (number["name"], number["slice"], key)


def test_its_rows_keep_their_columns_and_values(folder: Path) -> None:
    call("runs", "export", "half", "--format", "table", "--out", "again.csv")
    before, after = (
        [*csv.DictReader((folder / name).read_text(encoding="utf-8").splitlines())]
        for name in ("rows.csv", "again.csv")
    )
    assert len(before) == len(after) == 12
    for row, now in zip(before, after, strict=True):
        assert row.items() <= now.items()


def test_its_lost_trials_are_run_again_and_it_ends_as_the_other_one(folder: Path) -> None:
    call("runs", "check", "half", "first")
    call("run", "--run", "half", "--retry-failed", "--quiet")
    first, half = proctor.open_run("first"), proctor.open_run("half")
    assert half.record.state == "finished"
    assert half.outcomes == first.outcomes == {"scored": 12}
    assert half.estimate("accuracy").value == first.estimate("accuracy").value == pytest.approx(10 / 12)
    assert proctor.compare(first, half).rows[0].difference.value == 0
    assert "GO" in call("ci", "gate", "half", "--policy", "gate.toml").splitlines()


def test_a_new_run_goes_into_the_old_store_and_is_compared_with_the_old_one(folder: Path) -> None:
    call("run", "questions.jsonl", "--agent", "baseline:oracle", "--attempts", "2", "--run", "new", "--quiet")
    [row, *_] = proctor.compare(proctor.open_run("first"), proctor.open_run("new")).rows
    assert row.difference.value == pytest.approx(1 / 6)
    assert "first" in call("ci", "baseline", "list")
