"""Logs in gzip are read like plain ones of every format, within bounds."""

import gzip
import shutil
from pathlib import Path

import msgspec
import pytest

from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.stores import open_store
from proctor_adapters.importing import import_log
from proctor_adapters.imports import _source

LOGS = Path(__file__).parents[1] / "data" / "imports"
PLAIN = [
    path for path in sorted(LOGS.iterdir()) if path.suffix in (".json", ".jsonl", ".csv") and "results" not in path.name
]

LM_EVAL = next(LOGS.glob("samples_tiny_gen_*.jsonl"))


def stored(path: Path, store: Store) -> list[object]:
    """Return the verdicts of the runs in a log, and what their tasks and agents are called."""
    said: list[object] = []
    for imported in import_log(path, store=store):
        record = imported.run.record
        verdicts = [msgspec.structs.replace(verdict, run_id="") for verdict in imported.run.verdicts()]
        said.append((imported.format, record.task, record.agent, verdicts))
    return said


def packed(path: Path, folder: Path) -> Path:
    target = folder / f"{path.name}.gz"
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_a_log_in_gzip_is_the_same_runs(path: Path, tmp_path: Path) -> None:
    for other in LOGS.glob("results_*.json"):
        packed(other, tmp_path)
    assert stored(packed(path, tmp_path), open_store(":memory:")) == stored(path, open_store(":memory:"))


def test_gzip_is_known_by_its_bytes_and_not_by_its_name(tmp_path: Path) -> None:
    log = LM_EVAL
    unnamed, named = tmp_path / log.name, tmp_path / "plain" / f"{log.name}.gz"
    unnamed.write_bytes(gzip.compress(log.read_bytes()))
    named.parent.mkdir()
    shutil.copy(log, named)
    assert stored(unnamed, open_store(":memory:"))
    assert import_log(named, format="lm-eval", store=":memory:")


def test_a_gzip_bomb_stops_at_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_source, "LEAST_ALLOWED_BYTES", 1_000)
    monkeypatch.setattr(_source, "MOST_RATIO", 20)
    lines, table = tmp_path / "a.jsonl.gz", tmp_path / "b.csv.gz"
    for path, head in ((lines, b'{"doc_id": 0, "doc": {}, "filtered_resps": []}\n'), (table, b"id,a\n")):
        path.write_bytes(gzip.compress(head + b"\n" * 2_000_000))
        with pytest.raises(BadInput, match="unpacks to more than 20 times its size"):
            import_log(path, store=":memory:")


@pytest.mark.parametrize("end", [-20, 12])
def test_a_damaged_gzip_cannot_be_read(end: int, tmp_path: Path) -> None:
    path = packed(LM_EVAL, tmp_path)
    path.write_bytes(path.read_bytes()[:end] + (b"" if end < 0 else b"\xff" * 50))
    with pytest.raises(BadInput, match="cannot be read"):
        import_log(path, format="lm-eval", store=":memory:")


def test_a_zip_in_gzip_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "log.eval.gz"
    path.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(100)))
    with pytest.raises(BadInput, match="is a zip in gzip"):
        import_log(path, store=":memory:")
