"""Stores of older versions whose upgrade is killed, disturbed or done by several processes: they are the old or the new one."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from old_stores import make_version_1
from postgres_server import PostgresServer

from proctor.core.errors import BadInput
from proctor.stores.schema import VERSION
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_sample, a_trial, a_verdict, fill
from proctor_adapters.postgresql import PostgresStore, connection

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and rights as POSIX has them")

OPENS = """
import sys
from proctor.stores import open_store
print("opening", flush=True)
store = open_store(sys.argv[1])
print(sorted(store.outcomes("r").items()), flush=True)
store.close()
"""
OLD = "DROP TABLE proctor.shards, proctor.files; ALTER TABLE proctor.runs DROP plan_tags, DROP plan_samples, DROP plan_clustered; UPDATE proctor.layout SET version = 1"


def opens(store: str) -> "subprocess.Popen[str]":
    """Start a process that opens a store, which brings it up to date."""
    command = [sys.executable, "-c", OPENS, store]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_opening(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "opening\n"


def assert_opened(processes: list["subprocess.Popen[str]"], outcomes: object) -> None:
    for process in processes:
        out, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        assert out.splitlines()[-1] == str(outcomes)


@pytest.fixture
def old(tmp_path: Path, long: bool) -> Path:
    """A store of version 1."""
    ids = [f"s{number}" for number in range(2_000 if long else 200)]
    path = tmp_path / "old.db"
    make_version_1(path, [*map(a_sample, ids)], [*map(a_trial, ids)], [*map(a_verdict, ids)])
    return path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.fault(
    "kill -9 while an old store is brought up to date",
    "SIGKILL at 40 random moments (3 in the short form), then three processes at once",
    "the old store or the new one, whole; one copy of the old one",
)
def test_a_killed_upgrade_leaves_the_old_store_or_the_new_one(old: Path, long: bool) -> None:
    with closing(sqlite3.connect(old)) as db:
        samples = db.execute("SELECT count(*) FROM samples").fetchone()[0]
    store, draw = old.with_name("runs.db"), random.Random(5)
    shutil.copy(old, store)
    started = time.monotonic()
    SqliteStore(store).close()
    seconds = time.monotonic() - started
    for round in range(40 if long else 3):
        if round == 0 or version_of(store) == VERSION:
            for path in old.parent.glob("*runs.db*"):
                path.unlink()
            shutil.copy(old, store)
        process = opens(str(store))
        wait_for_opening(process)
        time.sleep(draw.random() * seconds)
        process.kill()
        process.communicate()
        assert version_of(store) in (1, VERSION)
    assert_opened([opens(str(store)) for _ in range(3)], [("scored", samples)])
    copies = [path for path in old.parent.iterdir() if ".bak" in path.name]
    assert [path.name for path in copies] == ["runs.db.v1.bak"]
    assert version_of(copies[0]) == 1
    with closing(SqliteStore(store)) as opened:
        assert opened.file_faults() == []
        assert sum(1 for _ in opened.history("r")) == 2 * samples


@pytest.mark.fault(
    "disk full while an old store is brought up to date",
    "limits on the size of files, before and after the copy",
    "exit with a sentence, the old store is unchanged; done when there is room",
)
def test_an_upgrade_without_room_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    kilobytes = len(before) // 1_000
    for most in (kilobytes // 2, kilobytes + kilobytes // 4):
        limited = ["sh", "-c", 'ulimit -f "$0"; exec "$@"', str(most * 2), sys.executable, "-c", OPENS, str(old)]
        done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1
        assert "BadInput" in done.stderr.splitlines()[-1], done.stderr
        assert "full" in done.stderr or "limits on file size" in done.stderr
        assert version_of(old) == 1
    with closing(SqliteStore(old)) as opened:
        assert opened.file_faults() == []
        assert sum(opened.outcomes("r").values()) > 0


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    started = PostgresServer()  # a killed process loses nothing that the system has
    yield started
    started.stop()


def an_old_database(server: PostgresServer) -> str:
    """Make a database whose tables are those of version 1, with one trial."""
    address = server.database()
    with closing(PostgresStore(address)) as store:
        asyncio.run(fill(store, ["fr"]))
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(OLD)
    return address


@pytest.mark.fault(
    "kill -9 while tables in PostgreSQL are brought up to date",
    "SIGKILL of clients, 40 times (4 in the short form), and of the server",
    "the old tables or the new ones; nothing lost",
)
def test_a_killed_upgrade_of_tables_leaves_the_old_or_the_new_ones(server: PostgresServer, long: bool) -> None:
    address, draw = an_old_database(server), random.Random(3)
    for round in range(40 if long else 4):
        processes = [opens(address) for _ in range(2)]
        for process in processes:
            wait_for_opening(process)
        time.sleep(draw.random() * 0.1)
        if round % 4 == 3:
            server.kill()
            server.start()
        for process in processes:
            process.kill()
            process.communicate()
        with psycopg.connect(address, autocommit=True) as db:
            ((version,),) = db.execute("SELECT version FROM proctor.layout").fetchall()
            assert version in (1, 3)
            if version == 3:
                db.execute(OLD)
    assert_opened([opens(address) for _ in range(3)], [("scored", 1)])
    with closing(PostgresStore(address)) as store:
        assert store.tallies("r", "exact")[""].planned == 1


@pytest.mark.fault(
    "tables in PostgreSQL that another client keeps locked",
    "a transaction that reads, while the tables have to change",
    "a sentence after a limit, nothing is changed; done when it is over",
)
def test_an_upgrade_that_is_locked_out_ends_with_a_sentence(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = an_old_database(server)
    monkeypatch.setattr(connection, "LAYOUT_SECONDS", 1)
    with psycopg.connect(address) as reading:
        reading.execute("SELECT count(*) FROM proctor.runs")
        with pytest.raises(BadInput, match="another client has kept them locked"):
            PostgresStore(address)
        with psycopg.connect(address) as db:
            assert db.execute("SELECT version FROM proctor.layout").fetchall() == [(1,)]
    assert_opened([opens(address)], [("scored", 1)])


@pytest.mark.fault(
    "server of the store that restarts while commands begin",
    "kill -9, back after a moment",
    "waited for; an address where nobody listens is named soon",
)
def test_a_command_that_begins_while_the_server_restarts_waits_for_it(server: PostgresServer) -> None:
    address = server.database()
    PostgresStore(address).close()
    server.kill()
    started = time.monotonic()
    with pytest.raises(BadInput, match="cannot be reached"):
        PostgresStore(address, patience=0.5)
    assert time.monotonic() - started < 5
    restarting = threading.Timer(0.5, server.start)
    restarting.start()
    with closing(PostgresStore(address)) as store:
        assert store.runs() == []
    restarting.join()
