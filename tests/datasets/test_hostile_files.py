"""Data files that other people wrote: names no file can have, thousands of columns, much YAML."""

import json
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from proctor.core.errors import BadInput
from proctor.datasets.files import task_from_file
from proctor.datasets.rows import rows


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "a/" * 4000, "\ud800"])
def test_an_attachment_that_no_file_can_be_is_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "Why?", "answer": "So.", "attachment": name}) + "\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        task_from_file(path)
    assert len(str(caught.value)) < 1000


def seconds_for_columns(tmp_path: Path, count: int) -> float:
    path = tmp_path / f"{count}.csv"
    names = ",".join(["question", "answer", *(f"c{number}" for number in range(count))])
    path.write_text(f"{names}\n{','.join(['x'] * (count + 2))}\n", encoding="utf-8")
    started = time.process_time()
    assert len(list(rows(path))) == 1
    return time.process_time() - started


def test_a_table_of_many_columns_costs_what_its_width_is(tmp_path: Path) -> None:
    few = min(seconds_for_columns(tmp_path, 2_000) for _ in range(3))
    assert seconds_for_columns(tmp_path, 20_000) < 40 * few + 0.05


def test_much_yaml_is_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(
        "".join(f"- {{question: 'Why {n}?', answer: a{n}, note: 0123}}\n" for n in range(20_000)), encoding="utf-8"
    )
    started = time.process_time()
    found = list(rows(path))
    assert time.process_time() - started < 5, "one megabyte"
    assert len(found) == 20_000
    assert found[7].cells == {"question": "Why 7?", "answer": "a7", "note": "0123"}


@pytest.mark.parametrize("how", ["dictionary", "plain", "nested", "arrow"])
def test_a_small_table_that_unpacks_to_gigabytes_is_refused_in_little_memory(tmp_path: Path, how: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    path = tmp_path / ("bomb.arrow" if how == "arrow" else "bomb.parquet")
    text = "a" * 20_000_000
    column = [[{"content": text}]] * 16 if how == "nested" else [text] * 16
    if how == "arrow":
        table = pyarrow.table({"question": pyarrow.array(column).dictionary_encode(), "answer": ["x"] * 16})
        with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as file:
            file.write_table(table)
    else:
        table = pyarrow.table({"question": column, "answer": ["x"] * 16})
        parquet.write_table(table, path, compression="zstd", use_dictionary=how != "plain")
    del table, column
    before, allocated = pyarrow.total_allocated_bytes(), list[int]()
    with pytest.raises(BadInput, match="unpacks to more than"):
        allocated.extend(pyarrow.total_allocated_bytes() - before for _ in rows(path))
    assert max(allocated, default=0) < 200_000_000


def test_a_row_larger_than_any_sample_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "q.parquet"
    parquet.write_table(pyarrow.table({"question": ["Why?", "a" * 70_000_000], "answer": ["x", "y"]}), path)
    read = iter(rows(path))
    assert next(read).cells["question"] == "Why?"
    with pytest.raises(BadInput, match="larger than 64 MB"):
        next(read)


def test_a_text_that_many_rows_share_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "q.parquet"
    parquet.write_table(pyarrow.table({"question": ["a" * 50_000] * 2_000, "answer": [None, "x"] * 1_000}), path)
    found = list(rows(path))
    assert [len(row.cells["question"]) for row in found] == [50_000] * 2_000
    assert [row.cells["answer"] for row in found] == [None, "x"] * 1_000


def test_a_workbook_that_unpacks_to_hundreds_of_times_its_size_is_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path, bomb = tmp_path / "q.xlsx", tmp_path / "bomb.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["question", "answer"])
    book.save(path)
    cell = b'<row><c t="inlineStr"><is><t>' + b"a" * 300_000_000 + b"</t></is></c></row></sheetData>"
    with ZipFile(path) as good, ZipFile(bomb, "w", ZIP_DEFLATED) as bad:
        for name in good.namelist():
            data = good.read(name)
            bad.writestr(name, data.replace(b"</sheetData>", cell) if name.endswith("sheet1.xml") else data)
    with pytest.raises(BadInput, match="unpacks to more than"):
        list(rows(bomb))
