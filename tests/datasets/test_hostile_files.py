"""Data files that other people wrote: names no file can have, thousands of columns, much YAML."""

import json
import time
from pathlib import Path

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
