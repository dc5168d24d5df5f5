"""Runs as Parquet, read back by DuckDB."""

import os
import sys
from pathlib import Path

import duckdb
import example_runs
import pytest
from memory_store import MemoryStore

from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor_adapters.exports import parquet


@pytest.mark.parametrize("make", [example_runs.small_run, example_runs.hostile_run])
async def test_the_file_answers_queries_and_holds_every_trial(tmp_path: Path, make: object) -> None:
    store = MemoryStore()
    record, _ = await make(store)  # type: ignore[operator]
    (path,) = parquet.write(record, store, tmp_path / "run.parquet")
    with duckdb.connect() as database:
        query = f"select count(distinct sample), count(value), min(value), max(value) from '{path}'"
        samples, scored, low, high = database.execute(query).fetchall()[0]
    assert samples == len({trial.sample_id for trial in store.trials(record.id)})
    assert scored == sum(isinstance(verdict.result, Score) for verdict in store.verdicts(record.id))
    assert 0 <= low <= high <= 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes as POSIX has them")
async def test_a_pipe_is_refused_and_stays(tmp_path: Path) -> None:
    store = MemoryStore()
    record, _ = await example_runs.small_run(store)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(BadInput, match="cannot be written"):
        parquet.write(record, store, tmp_path / "pipe")
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


async def test_its_folder_is_made(tmp_path: Path) -> None:
    store = MemoryStore()
    record, _ = await example_runs.small_run(store)
    assert parquet.write(record, store, tmp_path / "new" / "run.parquet")[0].exists()
