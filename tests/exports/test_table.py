import csv
import io
import json
from pathlib import Path

import example_runs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_store import MemoryStore

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.exports import table


async def stored(make: str) -> tuple[RunRecord, MemoryStore]:
    store = MemoryStore()
    run, _ = await getattr(example_runs, f"{make}_run")(store)
    return run, store


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_each_trial_is_a_row_of_the_csv_with_its_tags(tmp_path: Path) -> None:
    run, store = await stored("small")
    path = tmp_path / "new" / "run.csv"
    assert table.write(run, store, path) == [path]
    found = {row["sample"]: row for row in rows(path)}
    assert len(found) == 7
    wrong = found["simple_python_1"]
    assert (wrong["value"], wrong["error_class"], wrong["tag.category"]) == (
        "0.0",
        "wrong_param_value",
        "simple_python",
    )
    assert wrong["reason"] == "Expected 5, got 50."
    assert json.loads(wrong["target"]) == [{"geometry.area": {"base": [10], "height": [5], "unit": ["cm", ""]}}]
    lost = found["parallel_1"]
    assert (lost["outcome"], lost["value"], lost["failure_kind"]) == ("provider_failed", "", "status_503")
    assert (found["simple_python_2"]["unscored"], found["simple_python_2"]["value"]) == ("scorer_failed", "")
    assert not list(path.parent.glob("*.part"))


async def test_json_lines_keep_numbers_and_structure(tmp_path: Path) -> None:
    run, store = await stored("small")
    table.write(run, store, tmp_path / "run.jsonl")
    found = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(found) == 7
    assert found[0]["value"] == 1
    assert found[0]["tags"] == {"category": "simple_python", "group": "non_live"}
    assert found[0]["target"][0]["geometry.area"]["base"] == [10]


async def test_several_scorers_give_a_row_each(tmp_path: Path) -> None:
    store = MemoryStore()
    run = example_runs.record("two", planned=1, scorers=("a", "b"))
    sample, trial, verdicts = example_runs.played("two", Sample.ask("x", "?"), Score(points=1), scorer="a")
    verdicts.append(msgspec.structs.replace(verdicts[0], scorer="b", result=Score(points=2, out_of=4)))
    await example_runs.fill(store, run, [(sample, trial, verdicts)])
    table.write(run, store, tmp_path / "run.csv")
    assert [(row["scorer"], row["value"]) for row in rows(tmp_path / "run.csv")] == [("a", "1.0"), ("b", "0.5")]


async def test_hostile_text_is_no_formula_and_can_be_written(tmp_path: Path) -> None:
    run, store = await stored("hostile")
    for name in ("run.csv", "run.jsonl"):
        table.write(run, store, tmp_path / name)
        (tmp_path / name).read_bytes().decode("utf-8")
    assert "\x00" not in (tmp_path / "run.csv").read_text(encoding="utf-8")
    assert len(rows(tmp_path / "run.csv")) == 3
    for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)


@given(st.text())
def test_no_text_cell_begins_like_a_formula(text: str) -> None:
    cell = table.safe_cell(text)
    assert not cell.lstrip().startswith(table.FORMULA)
    assert cell.removeprefix("'") == text.replace("\x00", "␀").removeprefix("'")


@pytest.mark.parametrize("value", [-1, -0.5, None, True])
def test_numbers_are_left_as_they_are(value: object) -> None:
    assert table.safe_cell(value) is value


async def test_an_open_file_is_written_to_as_well() -> None:
    run, store = await stored("small")
    out = io.StringIO()
    assert table.write(run, store, out, options={"format": "csv", "lang": "zh"}) == []
    assert len(list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))) == 7


async def test_another_suffix_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    run, store = await stored("small")
    with pytest.raises(BadInput, match=r"\.csv or \.jsonl, not 'xlsx'"):
        table.write(run, store, tmp_path / "run.xlsx")
    assert files(tmp_path) == []


async def test_a_place_that_cannot_be_written_to_is_bad_input(tmp_path: Path) -> None:
    run, store = await stored("small")
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        table.write(run, store, tmp_path / "file" / "run.csv")


async def test_a_failure_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    run, store = await stored("small")
    path = tmp_path / "run.csv"
    path.write_text("old")
    store.sample = None  # type: ignore[assignment] # breaks in the middle of writing
    with pytest.raises(TypeError):
        table.write(run, store, path)
    assert files(tmp_path) == ["run.csv"]
    assert path.read_text() == "old"


async def test_without_a_scorer_the_tags_are_columns_too(tmp_path: Path) -> None:
    run, store = await stored("small")
    columns = table.columns_of(msgspec.structs.replace(run, scorers=()), store)
    assert sorted(columns) == sorted(table.columns_of(run, store))
