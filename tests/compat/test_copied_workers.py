"""The copies of a running process that stand in for workers in the parity tests of the bridge."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import copied_workers
import pytest
from copied_workers import CopiedWorker, Copies

PROGRAM = """
import os, sys, time, types
from pathlib import Path

sys.modules["datasets"] = types.ModuleType("datasets")  # which the copies stand in for, and the program does not need

def _folder_of(task):
    time.sleep(30 if task == "slow" else 0)

def double(x):
    return 2 * x

def home():
    Path(os.environ["HOME"], "cache").mkdir()
    return os.environ["HOME"]
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[CopiedWorker]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    CopiedWorker.copies = Copies(Path(sys.executable), path)
    yield CopiedWorker(SimpleNamespace(path=path))
    CopiedWorker.copies.close()


async def test_scorers_that_share_a_worker_enter_it_at_the_same_time_and_the_last_ends_it(worker: CopiedWorker) -> None:
    async def doubled(x: int, calls: int) -> list[int]:
        async with worker:
            return [await worker.run("double", x=x) for _ in range(calls)]

    async with asyncio.timeout(60):
        once, thrice = await asyncio.gather(doubled(1, 1), doubled(2, 3))
        assert (once, thrice) == ([2], [4, 4, 4])
        async with worker:  # which is another process
            assert await worker.run("double", x=3) == 6


async def test_at_the_end_neither_process_nor_folder_is_left(worker: CopiedWorker) -> None:
    async with asyncio.timeout(60), worker:
        home, pid = Path(await worker.run("home")), worker.pid
        assert (home / "cache").is_dir()
    assert not home.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_copy_that_never_connects_is_not_waited_for_without_end(
    worker: CopiedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copied_workers, "CONNECTING_SECONDS", 0.5)
    worker.copies.task = "slow"
    with pytest.raises(TimeoutError, match="did not connect within"):
        await worker.__aenter__()
