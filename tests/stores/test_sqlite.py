"""What a store in SQLite promises beyond the contract: durability, and one clear sentence for each bad file."""

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.core.digest import digest
from proctor.core.errors import BadInput, StoreUnreadable
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory, Usage
from proctor.stores import schema, sqlite
from proctor.stores._accept import accept
from proctor.stores._opening import open_file
from proctor.stores.encoding import Addition
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun, fill


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def test_a_new_store_is_made_with_its_folder_and_is_durable(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "runs.db"
    SqliteStore(path).close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    db.close()
    writing = open_file(path, 1.0)
    assert writing.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    writing.close()


async def test_what_waits_goes_into_one_transaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(db: sqlite3.Connection, additions: Sequence[Addition]) -> Sequence[Exception | None]:
        sizes.append(len(additions))
        return accept(db, additions)

    monkeypatch.setattr(sqlite, "accept", counted)
    store = SqliteStore(path)
    await fill(store, [f"s{number}" for number in range(200)])
    store.close()
    assert sum(sizes) == 200
    assert len(sizes) <= 7


async def test_each_trial_and_verdict_keeps_its_own_record_in_a_group_of_any_size(path: Path) -> None:
    ids = [f"s{number}" for number in range(150)]
    store = SqliteStore(path)
    await begun(store, [a_sample(id) for id in ids])
    long = "a long word " * 200  # compressed
    await asyncio.gather(
        *(
            store.add(
                a_trial(id, notes={"of": id, "long": long if place % 7 == 0 else ""}),
                [a_verdict(id, scorer=f"scorer {number}", points=number / 4) for number in range(place % 5)],
                a_sample(id, tags={"long": long if place % 3 == 0 else ""}),
            )
            for place, id in enumerate(ids)
        )
    )
    store.close()
    store = SqliteStore(path)
    for place, id in enumerate(ids):
        (trial,) = store.trials("r", sample_id=id)
        verdicts = list(store.verdicts("r", sample_id=id))
        sample = store.sample("r", id)
        assert trial.notes["of"] == trial.sample_id == id
        assert [verdict.sample_id for verdict in verdicts] == [id] * (place % 5)
        results = {verdict.scorer: verdict.result for verdict in verdicts}
        assert results == {f"scorer {number}": Score(points=number / 4) for number in range(place % 5)}
        assert sample is not None
        assert (sample.id, bool(sample.tags["long"])) == (id, place % 3 == 0)
    store.close()


async def test_a_cancelled_wait_is_no_lost_trial(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr"), a_sample("de")])
    waiting = asyncio.ensure_future(store.add(a_trial("fr")))
    await asyncio.sleep(0)
    waiting.cancel()
    await store.add(a_trial("de"))
    assert store.finished("r") == {("fr", 0), ("de", 0)}
    store.close()


def test_several_loops_and_threads_use_one_store(path: Path) -> None:
    store = SqliteStore(path)
    seen: list[int] = []

    def work(run: str) -> None:
        asyncio.run(fill(store, [f"s{number}" for number in range(50)], a_record(run)))
        seen.append(sum(1 for _ in store.trials(run)))

    threads = [threading.Thread(target=work, args=(f"run{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [50] * 6
    store.close()


async def test_reading_goes_on_while_there_is_writing(path: Path) -> None:
    store = SqliteStore(path)
    await fill(store, [f"s{number}" for number in range(200)])
    await store.begin(a_record())
    for trial in store.trials("r"):
        await store.judge([a_verdict(trial.sample_id, points=0)])
    assert store.tallies("r", "exact")[""].total == 0
    store.close()


async def test_a_sample_is_kept_once_for_all_runs_and_goes_with_the_last(path: Path) -> None:
    store = SqliteStore(path)
    await fill(store, ["fr", "de"], a_record("one"))
    await fill(store, ["fr"], a_record("two"))
    assert _rows(path, "SELECT count(*), count(DISTINCT digest) FROM contents") == [(2, 2)]
    assert _rows(path, "SELECT hex(digest) FROM contents WHERE name = 'fr'") == [(digest(a_sample("fr")).upper(),)]
    store.delete("one")
    assert _rows(path, "SELECT name FROM contents") == [("fr",)]
    store.delete("two")
    assert _rows(path, "SELECT count(*) FROM contents") == [(0,)]
    store.close()


async def test_a_deleted_run_leaves_no_row_and_gives_its_room_back(path: Path) -> None:
    store = SqliteStore(path)
    ids = [f"s{number}" for number in range(300)]
    await begun(store, [a_sample(id) for id in ids])
    for outcome in ("skipped", "scored"):  # of a sample that was changed in between
        await asyncio.gather(
            *(store.add(a_trial(id, 0, outcome), (), a_sample(id, tags={"before": outcome})) for id in ids)
        )
    await store.judge([a_verdict(f"s{number}", points=points) for number in range(300) for points in (0, 1)])
    await store.end(a_record())
    full = _rows(path, "PRAGMA page_count")[0][0]
    store.delete("r")
    assert _rows(path, "PRAGMA page_count")[0][0] < full / 5
    store.close()
    tables = ["runs", "samples", "contents", "records", "trials", "scores", "superseded"]
    assert {table: _rows(path, f"SELECT count(*) FROM {table}")[0][0] for table in tables} == dict.fromkeys(tables, 0)


async def test_a_long_record_is_compressed_and_a_short_one_is_not(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("short"), a_sample("long")])
    long = a_trial("long", trajectory=Trajectory.of("word " * 10_000))
    await store.add(a_trial("short"))
    await store.add(long)
    sizes = [size for (size,) in _rows(path, "SELECT length(data) FROM records ORDER BY id")]
    assert 300 < sizes[0] <= 1_000
    assert sizes[1] < 2_000
    assert next(store.trials("r", sample_id="long")) == long
    store.close()


async def test_half_a_character_breaks_no_writing(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr")])
    trial = a_trial("fr", trajectory=Trajectory.of("a\ud800b"), notes={"\udc00": "\ud83d\ude00"})
    await store.add(trial, [a_verdict("fr", scorer="ex\ud800act")])
    found = next(store.trials("r"))
    assert (found.trajectory.answer, found.notes) == ("a�b", {"�": "😀"})
    assert store.tallies("r", "ex\ud800act")[""].scored == 1
    store.close()


async def test_an_id_with_half_a_character_is_refused(path: Path) -> None:
    store = SqliteStore(path)
    await store.begin(a_record())
    with pytest.raises(BadInput, match="lone surrogate"):
        await store.plan("r", [a_sample("\ud800")])
    store.close()


async def test_what_json_does_not_know_is_kept_as_text(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr", notes={"path": Path("a/b"), "set": {1}, "pairs": {(1, 2): 3}}))
    assert next(store.trials("r")).notes == {"path": "a/b", "set": [1], "pairs": {"(1, 2)": 3}}
    store.close()


async def test_a_provider_that_claims_absurd_usage_breaks_no_sum(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr"), a_sample("de")])
    for id in ("fr", "de"):
        await store.add(a_trial(id, usage=Usage(input_tokens=10**30, cost=0.5)))
    assert (store.usage("r").input_tokens, store.usage("r").cost) == (2 * 10**12, 1.0)
    store.close()


async def test_costs_that_no_number_holds_are_an_unknown_cost(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample(id) for id in "abc"])
    for id in "abc":
        await store.add(msgspec.structs.replace(a_trial(id), usage=Usage(requests=1, cost=1e308)))
    assert store.usage("r").cost is None
    store.close()


async def test_other_samples_than_planned_are_refused_once_there_are_trials(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr"), a_sample("de")])
    await store.add(a_trial("fr"))
    for samples in (["de", "fr"], ["fr"], ["fr", "it"]):
        with pytest.raises(BadInput, match="not those that the run was planned with"):
            await store.plan("r", [a_sample(id) for id in samples])
    store.close()


async def test_a_run_that_was_not_begun_cannot_be_written(path: Path) -> None:
    store = SqliteStore(path)
    await fill(store, ["fr"])
    with pytest.raises(BadInput, match="'r' is not open for writing"):
        await store.add(a_trial("fr"))
    store.close()


async def test_a_verdict_of_no_trial_is_refused_and_none_beside_it_is_kept(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr"))
    with pytest.raises(BadInput, match="no trial of sample 'fr', attempt 1"):
        await store.judge([a_verdict("fr"), a_verdict("fr", 1)])
    assert list(store.verdicts("r")) == []
    store.close()


async def test_closing_keeps_what_was_queued_and_lets_go_of_runs(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr"))
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="is closed"):
        store.runs()
    with pytest.raises(RuntimeError, match="is closed"):
        await store.add(a_trial("fr"))
    again = SqliteStore(path)
    await again.begin(a_record())
    again.close()
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


async def test_closing_writes_what_waits_behind_other_work(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample(f"s{number}") for number in range(40)])
    gate = threading.Event()
    store._writer.call(lambda _: gate.wait())
    adding = [asyncio.ensure_future(store.add(a_trial(f"s{number}"))) for number in range(40)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    threading.Timer(0.1, gate.set).start()
    store.close()
    await asyncio.gather(*adding)
    again = SqliteStore(path)
    assert len(again.finished("r")) == 40
    again.close()


def test_a_store_that_is_forgotten_closes_itself(path: Path) -> None:
    store = SqliteStore(path)
    asyncio.run(fill(store, ["fr"]))
    assert len(list(store.trials("r"))) == 1
    del store
    gc.collect()
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


def test_a_store_that_its_own_thread_is_the_last_to_know_closes_itself(path: Path) -> None:
    store = SqliteStore(path)
    asyncio.run(fill(store, ["fr"]))
    gate = threading.Event()

    def wait(_: object, known: SqliteStore = store) -> None:
        gate.wait()

    store._writer.call(wait)
    thread = store._writer._thread
    assert thread is not None
    del store, wait
    gc.collect()
    gate.set()
    thread.join(60)
    assert not thread.is_alive()
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]


@pytest.mark.parametrize(("name", "synchronous"), [("runs.db", 2), (":memory:", 0)])
def test_only_a_store_that_is_kept_waits_for_the_disk(
    name: str, synchronous: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is made, too: a dozen times."""
    seen = []

    def create(db: sqlite3.Connection) -> None:
        seen.extend(db.execute("PRAGMA synchronous").fetchall())
        schema.create(db)

    monkeypatch.setattr("proctor.stores._opening.create", create)
    monkeypatch.chdir(tmp_path)
    SqliteStore(name).close()
    assert seen == [(synchronous,)]


def test_a_store_in_memory_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = SqliteStore(":memory:")
    asyncio.run(fill(store, ["fr"]))
    assert store.finished("r") == {("fr", 0)}
    assert store.url == ":memory:"
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_text("This is a letter, and a long one at that. " * 100)
    with pytest.raises(BadInput, match=r"runs\.db is no store of Proctor: it is no SQLite file"):
        SqliteStore(path)
    assert path.read_text().startswith("This is a letter")


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()
    with pytest.raises(BadInput, match=r"runs\.db is no store of Proctor but another SQLite file"):
        SqliteStore(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder"):
        SqliteStore(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"folder of the store .* cannot be made"):
        SqliteStore(tmp_path / "file" / "runs.db")


def test_a_store_of_a_newer_version_is_refused(path: Path) -> None:
    SqliteStore(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    db.close()
    with pytest.raises(BadInput, match=r"runs\.db was written by a newer version .* Update Proctor"):
        SqliteStore(path)


def test_a_damaged_store_is_named(path: Path) -> None:
    store = SqliteStore(path)
    asyncio.run(fill(store, [f"s{number}" for number in range(200)]))
    store.close()
    with path.open("r+b") as file:
        file.seek(8_192)
        file.write(b"\xff" * (path.stat().st_size - 8_192))
    damaged = SqliteStore(path)
    with pytest.raises(BadInput, match=r"runs\.db is damaged"):
        list(damaged.trials("r"))
    damaged.close()


async def test_a_full_disk_loses_nothing_that_was_acknowledged(path: Path) -> None:
    store = SqliteStore(path)
    await begun(store, [a_sample(f"s{number}") for number in range(100)])
    pages = _rows(path, "PRAGMA page_count")[0][0]
    await store._write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 20}"))
    kept: set[tuple[str, int]] = set()

    async def fill_up() -> None:
        for number in range(100):
            await store.add(a_trial(f"s{number}", notes={"noise": os.urandom(4_000).hex()}))
            kept.add((f"s{number}", 0))

    with pytest.raises(BadInput, match=r"disk of the store .*runs\.db is full.*continue the run"):
        await fill_up()
    assert 0 < len(kept) < 100
    assert store.finished("r") == kept
    await store._write(lambda db: db.execute("PRAGMA max_page_count = 100000"))  # room was made
    await store.add(a_trial("s99"))
    assert store.finished("r") == kept | {("s99", 0)}
    store.close()


FILLS_THE_DISK = """
import asyncio, resource, sys
from proctor.testing.records import a_sample, a_trial, begun
from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor.stores.sqlite import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1])
    await begun(store, [a_sample(f"s{number}") for number in range(2000)])
    resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))
    try:
        for number in range(2000):
            await store.add(a_trial(f"s{number}"))
            print(f"s{number}", flush=True)
    except BadInput as error:
        print(error, file=sys.stderr)
    store.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_disk_that_fills_while_committing_loses_nothing_that_was_acknowledged(path: Path) -> None:
    done = _python(FILLS_THE_DISK, path)
    kept = {(id, 0) for id in done.stdout.split()}
    assert "could not be read or written" in done.stderr
    assert "runs.db" in done.stderr
    store = SqliteStore(path)
    assert 0 < len(kept) < 2000
    assert store.finished("r") == kept
    assert _rows(path, "PRAGMA integrity_check") == [("ok",)]
    store.close()


READ_ONLY = """
import asyncio, filelock, os, sys  # the rights to read packages go with those of root
from proctor.testing.records import a_record
from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor.stores.sqlite import SqliteStore

if os.getuid() == 0:  # root may write everything
    os.setuid(65534)
store = SqliteStore(sys.argv[1])
print(len(list(store.trials("r"))))
try:
    asyncio.run(store.begin(a_record()))
except BadInput as error:
    print(error)
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs rights as POSIX has them")
def test_a_read_only_store_can_be_read_and_says_so_when_written() -> None:
    with tempfile.TemporaryDirectory() as folder:  # one that another user may enter
        path = Path(folder, "runs.db")
        store = SqliteStore(path)
        asyncio.run(fill(store, ["fr"]))
        store.close()
        path.chmod(0o444)
        path.parent.chmod(0o777)
        lines = _python(READ_ONLY, path).stdout.splitlines()
    assert lines[0] == "1"
    assert "cannot be written: it is read-only" in lines[1]


async def test_a_store_locked_by_another_process_says_so(path: Path) -> None:
    store = SqliteStore(path, busy_seconds=0.1)
    await fill(store, ["fr"])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BadInput, match=r"runs\.db is locked by another process"):
        await store.begin(a_record())
    assert len(list(store.trials("r"))) == 1  # reading goes on
    other.execute("ROLLBACK")
    await store.begin(a_record())
    store.close()
    other.close()


async def test_a_busy_store_is_waited_for(path: Path) -> None:
    store = SqliteStore(path)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, other.execute, ["ROLLBACK"]).start()
    await fill(store, ["fr"])
    assert store.finished("r") == {("fr", 0)}
    store.close()
    other.close()


def _rows(path: Path, query: str) -> list[Any]:
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def _python(script: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", script, str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_read_from_or_written_to_a_file_that_was_removed(replaced: bool, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    await begun(store, [a_sample("a")])
    path.unlink()
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(StoreUnreadable, match="not there any more"):
        store.runs()
    with pytest.raises(StoreUnreadable, match="not there any more"):
        await store.add(a_trial("a"))
    store.close()
    assert path.exists() == replaced, "looking at it makes no file"
