"""Reference sets: the user's files, and sets of the hub, from a hub on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_here import COMMIT, Hub, served

from proctor.core.errors import BadInput
from proctor_adapters.datasets import data_sets
from proctor_judging.generation import reference_set

SETS = {
    "math-ai/aime25": {
        "README.md": "about",
        "test.jsonl": "\n".join(
            json.dumps({"id": str(n), "problem": f"Real {n}?", "answer": str(n)}) for n in range(3)
        ),
    },
    "TianHongZXY/aime-1983-2025": {
        "train.csv": "ID,Year,Problem,Answer\n1983-1,1983,Old?,60\n2024-1,2024,New?,204\n",
    },
    "some/pictures": {"a.png": "x"},
    "some/outside": {"../../outside.jsonl": "{}"},
}


@pytest.fixture
def hub_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    made = Hub({name: {path: text.encode() for path, text in files.items()} for name, files in SETS.items()})
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    with served(made) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        yield made.asked


def test_a_named_set_is_fetched_once_and_only_what_can_be_read(hub_here: list[str]) -> None:
    found = reference_set.load("aime25")
    assert [(one.id, one.question, one.answer) for one in found.items] == [
        ("0", "Real 0?", "0"), ("1", "Real 1?", "1"), ("2", "Real 2?", "2")
    ]  # fmt: skip
    assert not any("README" in path for path in hub_here)
    assert found.told()["revision"] == COMMIT
    hub_here.clear()
    assert len(reference_set.load("hub:math-ai/aime25").items) == 3
    assert hub_here == []


def test_the_set_of_all_years_is_read_from_its_table(hub_here: list[str]) -> None:
    found = reference_set.load("aime-1983-2025")
    assert [(one.question, one.answer) for one in found.items] == [("Old?", "60"), ("New?", "204")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hub:nobody/nothing", "refuses access to nobody/nothing .404"),
        ("hub:some/pictures", "holds no file that can be read"),
        ("hub:some/outside", "outside the data folder"),
        ("hub:../etc", "is called OWNER/NAME"),
        ("hub:a/b/c", "is called OWNER/NAME"),
        ("none.json", "no file none.json"),
    ],
)
def test_a_set_that_cannot_be_had_says_why(hub_here: list[str], name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        reference_set.load(name)
    assert not list(tmp_path.rglob("outside.jsonl"))
    assert not list(tmp_path.rglob("*.part"))


def test_without_a_network_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path))
    with pytest.raises(BadInput, match=r"cannot be fetched from the hub.*give a file instead"):
        data_sets.fetch("math-ai/aime25")


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".parquet"])
def test_the_users_files_are_read_in_every_form(suffix: str, tmp_path: Path) -> None:
    rows = [{"id": "a", "problem": "Why?", "answer": "7", "solution": "So.", "topic": "Algebra"}]
    path = tmp_path / f"real{suffix}"
    if suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        texts = {
            ".json": json.dumps(rows),
            ".jsonl": json.dumps(rows[0]) + "\n",
            ".csv": "id,problem,answer,solution,topic\na,Why?,7,So.,Algebra\n",
        }
        path.write_text(texts[suffix], encoding="utf-8")
    [found] = reference_set.load(str(path)).items
    assert (found.id, found.question, found.answer, found.topic) == ("a", "Why?", "7", "Algebra")
