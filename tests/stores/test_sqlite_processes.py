"""Several processes at one store, and processes that die."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor.stores._opening import _version, open_file
from proctor.stores.schema import VERSION
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_record, a_sample, begun, fill

ADDS = """
import asyncio, sys
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict
from proctor.stores.sqlite import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1])
    await store.begin(a_record(sys.argv[2]))
    samples = [a_sample(f"s{number}") for number in range(int(sys.argv[3]))]
    await store.plan(sys.argv[2], samples)
    done = store.finished(sys.argv[2])
    todo = iter([sample for sample in samples if (sample.id, 0) not in done])

    async def worker():
        for sample in todo:
            trial = a_trial(sample.id, run=sys.argv[2])
            await store.add(trial, [a_verdict(sample.id, run=sys.argv[2])], sample)
            print(sample.id, flush=True)

    await asyncio.gather(*(worker() for _ in range(8)))
    await store.end(a_record(sys.argv[2], state="finished"))
    store.close()

asyncio.run(main())
"""
HOLDS = """
import asyncio, sys, time
from proctor.testing.records import a_record
from proctor.stores.sqlite import SqliteStore

store = SqliteStore(sys.argv[1])
asyncio.run(store.begin(a_record()))
print("held", flush=True)
time.sleep(60)
"""
HOLDS_AND_FORKS = HOLDS.replace('print("held"', 'os.fork() or print("held"').replace(
    "import asyncio", "import os, asyncio"
)
FORKS = """
import asyncio, os, sys
from proctor.testing.records import a_record, fill
from proctor.stores.sqlite import SqliteStore

store = SqliteStore(sys.argv[1])
asyncio.run(fill(store, ["fr"]))
assert store.finished("r")
asyncio.run(store.begin(a_record()))
if os.fork() == 0:
    try:
        store.runs()
    except RuntimeError as error:
        print(error, flush=True)
    sys.exit(0)
os.wait()
assert store._path.exists()
asyncio.run(store.end(a_record(state="finished")))
print(store.run("r").state)
store.close()
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and fork")


@posix
def test_a_killed_run_keeps_every_acknowledged_trial_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    SqliteStore(path).close()
    chance = random.Random(7)
    acknowledged: list[str] = []
    for _ in range(20):
        process = _started(ADDS, path, "r", "8000")
        assert process.stdout is not None
        acknowledged.append(process.stdout.readline().strip())
        time.sleep(chance.uniform(0, 0.02))
        process.kill()
        acknowledged.extend(line.strip() for line in process.stdout if line.endswith("\n"))
        process.communicate()
    store = SqliteStore(path)
    kept = [trial.sample_id for trial in store.trials("r")]
    assert len(acknowledged) > 200
    assert set(acknowledged) <= set(kept)
    assert len(acknowledged) == len(set(acknowledged))  # nothing that was finished was run again
    assert len(kept) == len(set(kept)) == store.tallies("r", "exact")[""].scored
    store.close()


@posix
def test_a_run_is_open_in_one_process_and_the_message_names_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    process = _started(HOLDS, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    store = SqliteStore(path)
    with pytest.raises(BadInput, match=f"The run 'r' is open in process {process.pid}"):
        asyncio.run(store.begin(a_record()))
    with pytest.raises(BadInput, match=f"open in process {process.pid}"):
        store.delete("r")
    assert store.writer("r") == process.pid
    asyncio.run(fill(store, ["fr"], a_record("another")))
    process.kill()
    process.communicate()
    assert store.writer("r") is None
    asyncio.run(store.begin(a_record()))  # the lock died with it
    store.close()


@posix
def test_a_child_that_outlives_a_killed_run_does_not_lock_it(tmp_path: Path) -> None:
    process = _started(HOLDS_AND_FORKS, tmp_path / "runs.db", group=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.wait()
    store = SqliteStore(tmp_path / "runs.db")
    asyncio.run(store.begin(a_record()))
    store.close()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@posix
@pytest.mark.parametrize("name", ["runs.db", ":memory:"])
def test_a_forked_child_cannot_use_the_store_and_does_it_no_harm(tmp_path: Path, name: str) -> None:
    where = Path(name) if name == ":memory:" else tmp_path / name
    process = _started(FORKS, where, warnings="default")  # newer Pythons warn of a fork with threads
    told = process.communicate(timeout=30)[0].splitlines()
    assert told[0].endswith("was opened before a fork; open it again in the new process")
    assert told[1:] == ["finished"]


def test_several_processes_make_and_write_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    processes = [_started(ADDS, path, f"run{number}", "150") for number in range(5)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    store = SqliteStore(path)
    assert {record.id: record.state for record in store.runs()} == {f"run{number}": "finished" for number in range(5)}
    for number in range(5):
        assert [trial.sample_id for trial in store.trials(f"run{number}")] == [f"s{place}" for place in range(150)]
    store.close()


def test_a_store_that_appears_while_it_is_looked_for_is_a_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    class Slow:
        """A connection, overtaken by another process at each step."""

        def __init__(self) -> None:
            self.db = sqlite3.connect(path, isolation_level=None)

        def execute(self, statement: str) -> sqlite3.Cursor:
            found = self.db.execute(statement)
            rows = found.fetchall()
            open_file(path, 1.0).close()
            return self.db.execute(f"VALUES ({', '.join(map(str, rows[0]))})")

    slow = Slow()
    assert _version(slow, path) == 0  # type: ignore[arg-type]  # all that is used of one
    assert _version(slow, path) == VERSION  # type: ignore[arg-type]
    slow.db.close()


async def test_a_store_opened_twice_in_a_process_opens_a_run_once(tmp_path: Path) -> None:
    one, other = SqliteStore(tmp_path / "runs.db"), SqliteStore(tmp_path / "runs.db")
    await begun(one, [a_sample("fr")])
    with pytest.raises(BadInput, match=f"open in process {os.getpid()}"):
        await other.begin(a_record())
    await one.end(a_record())
    await other.begin(a_record())
    one.close()
    other.close()


def _started(
    script: str, path: Path, *arguments: str, group: bool = False, warnings: str = "error"
) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", warnings, "-c", script, str(path), *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=group)
