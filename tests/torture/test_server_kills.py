"""The server of a PostgreSQL store is killed again and again, or its disk is full, while several processes write one run."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from postgres_server import USER, PostgresServer

from proctor.core.errors import BadInput
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun
from proctor_adapters.postgresql import PostgresStore

KILLS, WRITERS, EACH = 20, 3, 3_000
FAKES = Path(__file__).parent.parent / "fakes"
WRITE = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from msgspec.structs import replace
from proctor.testing.records import a_sample, a_trial, a_verdict
from proctor.core.trajectory import Usage
from proctor_adapters.postgresql import PostgresStore

async def write(address, epoch, first, last):
    store = PostgresStore(address)
    await store.join("r", epoch)
    ids = [f"s{number}" for number in range(first, last)]
    for start in range(0, len(ids), 8):
        group = ids[start : start + 8]
        paid = Usage(requests=1, cost=0.5)
        await asyncio.gather(*(store.add(replace(a_trial(id), usage=paid), [a_verdict(id)], a_sample(id)) for id in group))
        print(*group, flush=True)
        await asyncio.sleep(0.03)
    await store.leave("r")
    store.close()

asyncio.run(write(sys.argv[2], *map(int, sys.argv[3:])))
"""


@pytest.mark.fault("server of the store killed 20 times", "kill -9, 3 writers of one run", "nothing lost or doubled")
def test_a_server_killed_at_random_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    server = PostgresServer(durable=True)
    try:
        address = server.database()
        driver = PostgresStore(address)
        asyncio.run(begun(driver, [a_sample(f"s{number}") for number in range(WRITERS * EACH)]))
        epoch = asyncio.run(driver.share("r"))
        command = [sys.executable, "-c", WRITE, str(FAKES), address, str(epoch)]
        said = [tmp_path / f"said{number}" for number in range(WRITERS)]
        writers = []
        for number, file in enumerate(said):
            with file.open("w") as output:
                share = (str(number * EACH), str((number + 1) * EACH))
                writers.append(subprocess.Popen([*command, *share], stdout=output))
        until = time.monotonic() + 60
        while not all(file.stat().st_size for file in said):  # who opens a store whose server is away learns it at once
            assert time.monotonic() < until
            time.sleep(0.01)
        chance, killed = random.Random(7), 0
        while killed < KILLS and any(writer.poll() is None for writer in writers):
            size = sum(file.stat().st_size for file in said)
            until = time.monotonic() + 20
            while sum(file.stat().st_size for file in said) == size and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(chance.random() / 2)  # anywhere in a transaction
            server.kill()
            server.start()
            killed += 1
            acknowledged = {id for file in said for id in file.read_text().rpartition("\n")[0].split()}
            assert {(id, 0) for id in acknowledged} <= driver.finished("r", samples=acknowledged)
        assert killed == KILLS
        assert [writer.wait(120) for writer in writers] == [0] * WRITERS
        asyncio.run(driver.end(a_record(state="finished")))
        count = WRITERS * EACH
        assert driver.outcomes("r") == {"scored": count}
        assert driver.usage("r").cost == 0.5 * count
        assert sum(1 for _ in driver.history("r")) == 2 * count
        driver.close()
    finally:
        server.stop()


@pytest.mark.fault("disk of the database full", "a tablespace of 24 MB", "named; what was acknowledged is kept")
def test_a_disk_of_the_server_that_is_full_is_named() -> None:
    server = PostgresServer(durable=True)
    small = server.folder / "small"
    small.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(small)], check=True)
        (small / "space").mkdir()
        shutil.chown(small / "space", USER)
        with psycopg.connect(server.address("postgres"), autocommit=True) as db:
            db.execute(f"CREATE TABLESPACE small LOCATION '{small / 'space'}'")
            db.execute("CREATE DATABASE small TABLESPACE small")
        store = PostgresStore(server.address("small"))
        asyncio.run(begun(store, [a_sample(f"s{number}") for number in range(2_000)]))
        kept: list[str] = []

        async def add(ids: Iterable[str]) -> None:
            for id in ids:
                await store.add(a_trial(id, notes={"text": os.urandom(8_000).hex()}), [a_verdict(id)])
                kept.append(id)

        with pytest.raises(BadInput, match=r"The disk of the database .* is full"):
            asyncio.run(add(f"s{number}" for number in range(2_000)))
        assert len(kept) > 10
        assert store.finished("r") == {(id, 0) for id in kept}
        subprocess.run(["mount", "-o", "remount,size=200m", str(small)], check=True)
        asyncio.run(add(f"s{number}" for number in range(len(kept), 2_000)))
        assert store.outcomes("r") == {"scored": 2_000}
        store.close()
    finally:
        with suppress(subprocess.CalledProcessError):
            server.stop()
        subprocess.run(["umount", "-l", str(small)], check=False)


@pytest.mark.fault(
    "disk of the log of the database full",
    "the log of writes on a disk of 40 MB, until the server ends itself",
    "named after the patience; what was acknowledged is kept, goes on when there is room",
)
def test_a_log_of_the_server_that_is_full_loses_nothing() -> None:
    server = PostgresServer(durable=True)
    server.settings = " -c checkpoint_timeout=1h -c max_wal_size=4GB"
    log, small = server.folder / "data" / "pg_wal", server.folder / "small"
    small.mkdir()
    try:
        address = server.database()
        server.kill()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(small)], check=True)
        shutil.copytree(log, small / "log")
        subprocess.run(["chown", "-R", USER, str(small)], check=True)
        shutil.rmtree(log)
        log.symlink_to(small / "log")
        server.start()
        store = PostgresStore(address, patience=3)
        asyncio.run(begun(store, [a_sample(f"s{number}") for number in range(4_000)]))
        kept: list[str] = []

        async def add(ids: Iterable[str]) -> None:
            for id in ids:
                await store.add(a_trial(id, notes={"text": os.urandom(8_000).hex()}), [a_verdict(id)])
                kept.append(id)

        with pytest.raises(BadInput, match=r"is full|cannot be reached"):
            asyncio.run(add(f"s{number}" for number in range(4_000)))
        assert len(kept) > 10
        subprocess.run(["mount", "-o", "remount,size=400m", str(small)], check=True)
        with suppress(ProcessLookupError, FileNotFoundError):
            server.kill()
        server.start()
        assert {(id, 0) for id in kept} <= store.finished("r")
        asyncio.run(add(f"s{number}" for number in range(len(kept), 4_000)))
        assert store.outcomes("r") == {"scored": 4_000}
        store.close()
    finally:
        with suppress(subprocess.CalledProcessError):
            server.stop()
        subprocess.run(["umount", "-l", str(small)], check=False)
