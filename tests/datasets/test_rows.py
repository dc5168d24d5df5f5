"""Rows out of files: encodings, dialects, and everything that can be wrong with them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput
from proctor.datasets._decoding import encoding_of
from proctor.datasets.rows import rows

TEXT = "question,answer\n法国的首都是哪个城市？,巴黎\nUnicode é?,x\n"


def cells(path: Path) -> list[dict[str, object]]:
    return [dict(row.cells) for row in rows(path)]


def written(folder: Path, data: bytes | str, name: str = "q.csv") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("gbk", "gb18030"),
        ("gb18030", "gb18030"),
    ],
)
def test_a_file_is_read_in_the_encoding_it_has(tmp_path: Path, encoding: str, found: str) -> None:
    text = "question,answer\n" * 200 + TEXT.partition("\n")[2] if encoding == "utf-16-be" else TEXT
    path = written(tmp_path, text.encode(encoding))
    assert encoding_of(path) == found
    assert cells(path)[-2:] == [
        {"question": "法国的首都是哪个城市？", "answer": "巴黎"},
        {"question": "Unicode é?", "answer": "x"},
    ]


def test_bytes_that_are_no_text_are_told_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"is not UTF-8 \(byte 16 does not belong there\)"):
        cells(written(tmp_path, b"question,answer\n\xff\xff\xff,x\n"))
    with pytest.raises(BadInput, match="cannot be read as utf-16: byte"):
        cells(written(tmp_path, b"\xff\xfea\x00b"))


def test_the_place_is_right_behind_a_border_of_chunks(tmp_path: Path) -> None:
    data = b"question,answer\n" + "é".encode() * 600_000 + b"\xff\xff"
    with pytest.raises(BadInput, match=rf"byte {len(data) - 2} "):
        cells(written(tmp_path, data))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_dialects_of_csv(tmp_path: Path, delimiter: str, end: str) -> None:
    text = end.join(
        [f"question{delimiter}answer", f'"a{delimiter} ""b""\nc"{delimiter}x', "", f"{delimiter} ", f"d{delimiter}y"]
    )
    assert cells(written(tmp_path, text)) == [
        {"question": f'a{delimiter} "b"\nc', "answer": "x"},
        {"question": "d", "answer": "y"},
    ]


@given(
    table=st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        ),
        min_size=1,
    )
)
def test_what_python_writes_as_csv_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str]]
) -> None:
    import csv

    path = tmp_path_factory.mktemp("csv") / "q.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("question", "answer"), *table])
    assert [(row["question"], row["answer"]) for row in cells(path)] == table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,answer\na,b\nc\n", r"q.csv, line 3: 1 cells, but there are 2 columns"),
        ("question,answer\na,b,c\n", r"q.csv, line 2: 3 cells, but there are 2 columns"),
        ('question,answer\n"a\nb",c\nd\n', r"q.csv, line 4: 1 cells"),
        ('question,answer\na,"b\nc,d\n', r"q.csv, line 2: .*quotation mark not closed"),
        ("question,question\na,b\n", "two columns are called 'question'"),
        ("question,\na,b\n", r"line 2: the cell 'b' has no column name"),
        (",\na,b\n", "begins with no line of column names"),
        ("", "begins with no line of column names"),
    ],
)
def test_a_malformed_table_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        cells(written(tmp_path, text))


def test_extra_empty_cells_are_no_fault(tmp_path: Path) -> None:
    assert cells(written(tmp_path, "question,answer,\na,b,\nc,d,,\n")) == [
        {"question": "a", "answer": "b"},
        {"question": "c", "answer": "d"},
    ]


def test_a_long_cell_is_read(tmp_path: Path) -> None:
    assert len(str(cells(written(tmp_path, f"question,answer\n{'x' * 300_000},b\n"))[0]["question"])) == 300_000


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.jsonl", '{"question": "a"}\n\n{"question": \n', r"q.jsonl, line 3: no valid JSON"),
        ("q.jsonl", '["a"]\n', r"line 1: expected an object with columns as keys, got list"),
        ("q.jsonl", '{"a": ' + "[" * 100_000, r"line 1: no valid JSON"),
        ("q.json", '{"question": ', "q.json: no valid JSON"),
        ("q.json", '{"a": 1}', "holds an object"),
        ("q.json", '{"a": [], "b": []}', "an object with one list"),
        ("q.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "several lists: a, b. Say which: --set split"),
        ("q.json", "3", "holds no list of objects"),
        ("q.json", "[3]", r"q.json, entry 1: expected an object"),
        ("q.yaml", "- a: [", "no valid YAML"),
        ("q.yaml", "- a: &x [1]\n- a: *x\n", "aliases are not read"),
        ("q.yaml", "- !!python/object/apply:os.system [ls]\n", "no valid YAML"),
        ("q.yaml", "- 1: x\n", r"q.yaml, entry 1: expected an object"),
        ("q.parquet", "PAR1 nonsense", "no readable parquet file"),
    ],
)
def test_a_malformed_file_is_told_with_its_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        cells(written(tmp_path, text, name))


def test_an_explosion_of_aliases_is_not_followed(tmp_path: Path) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(BadInput, match="aliases"):
        cells(written(tmp_path, f"a0: &a0 [x]\n{levels}", "q.yaml"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        cells(tmp_path / "none.csv")


def test_a_large_file_that_must_be_read_whole_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.datasets.formats.MOST_BYTES", 10)
    with pytest.raises(BadInput, match=r"more than 10 bytes; write it as JSON lines"):
        cells(written(tmp_path, '[{"a": 1}, {"a": 2}]', "q.json"))


def test_times_and_missing_numbers_of_parquet(tmp_path: Path) -> None:
    import datetime

    import pyarrow
    from pyarrow import parquet

    from proctor.datasets.files import task_from_file

    table = pyarrow.Table.from_pylist(
        [{"question": "When?", "answer": datetime.date(2020, 1, 2), "level": float("nan")}]
    )
    parquet.write_table(table, tmp_path / "q.parquet")
    task = task_from_file(tmp_path / "q.parquet")
    assert callable(task.samples)
    [sample] = task.samples()
    assert (sample.target, sample.tags) == ("2020-01-02", {})
