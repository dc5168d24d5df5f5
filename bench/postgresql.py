"""PostgreSQL next to SQLite: accepting, adding, summing up, deleting; needs the server's programs on this machine."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.figure import Figure
from proctor.core.task import Store
from proctor.stores.sqlite import SqliteStore

FAKES = Path(__file__).parent.parent / "tests" / "fakes"
sys.path.insert(0, str(FAKES))

TRIALS, AT_ONCE, ROUNDS = 20_000, 64, 3
WRITERS, EACH, GROUP = 4, 8_000, 256
IN_FLIGHT, ADDED = 32, 4_000
FILLED = 1_000_000
LARGEST = int(os.environ.get("BENCH_LARGEST", "0"))  # trials of a further run; 10,000,000 take 5 minutes and 5 GB
WRITE = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from proctor.testing.records import a_sample, a_trial, a_verdict
from proctor_adapters.postgresql import PostgresStore

async def write(address, epoch, writer, each, group):
    store = PostgresStore(address)
    await store.join("r", epoch)
    ids = [f"s{number}" for number in range(writer * each, (writer + 1) * each)]
    rows = [(a_trial(id, notes={"text": "x" * 500}), [a_verdict(id)], a_sample(id)) for id in ids]
    print("ready", flush=True)
    sys.stdin.readline()
    for start in range(0, each, group):
        await asyncio.gather(*(store.add(*row) for row in rows[start : start + group]))
    print("done", flush=True)
    sys.stdin.readline()
    store.close()

asyncio.run(write(sys.argv[2], *map(int, sys.argv[3:])))
"""


def measure() -> Iterator[Figure]:
    """CPU of this process for each accepted trial, the rate of several writers, and what readers of a large run wait for."""
    from postgres_server import PostgresServer

    from proctor_adapters.postgresql import PostgresStore

    server = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as folder:

            def in_file(name: str) -> Store:
                return SqliteStore(Path(folder, f"{name}.db"))

            file = min(_milliseconds(in_file(f"cpu{place}")) for place in range(ROUNDS))
            database = min(_milliseconds(PostgresStore(server.database())) for _ in range(ROUNDS))
            yield Figure(what="SQLite, groups of 64: CPU a trial", value=file, unit="ms")
            yield Figure(what="PostgreSQL, groups of 64: CPU a trial of the client", value=database, unit="ms")
            yield Figure(what="ratio", value=database / file, unit="x", at_most=1.0)
            pairs = [
                (_wait(in_file(f"add{place}")), _wait(PostgresStore(server.database()))) for place in range(ROUNDS)
            ]
            yield Figure(what="SQLite, 32 in flight: median wait of add", value=min(one for one, _ in pairs), unit="ms")
            yield Figure(what="PostgreSQL, the same", value=min(one for _, one in pairs), unit="ms")
            ratio = min(second / first for first, second in pairs)
            yield Figure(what="ratio", value=ratio, unit="x", at_most=1.5)
        rate = max(_rate(server.database()) for _ in range(ROUNDS))
        what = f"{WRITERS} processes that write one run, groups of {GROUP}"
        yield Figure(what=what, value=rate, unit="trials/s", at_least=10_000)
        yield from _large(server.database())
    finally:
        server.stop()


def _milliseconds(store: Store) -> float:
    from proctor.testing.records import a_record, a_sample, a_trial, a_verdict

    async def accept() -> float:
        await store.begin(a_record("r"))
        samples = [a_sample(f"s{place}", tags={"level": str(place % 3)}) for place in range(TRIALS)]
        await store.plan("r", samples)
        rows = [(a_trial(one.id, notes={"text": "x" * 500}), [a_verdict(one.id)], one) for one in samples]
        begin = time.process_time()
        for start in range(0, TRIALS, AT_ONCE):
            await asyncio.gather(*(store.add(*row) for row in rows[start : start + AT_ONCE]))
        return (time.process_time() - begin) / TRIALS * 1000

    try:
        return asyncio.run(accept())
    finally:
        store.close()


def _wait(store: Store) -> float:
    """Return the median of the milliseconds until a trial is on disk, with 32 callers at once."""
    from proctor.testing.records import a_record, a_sample, a_trial, a_verdict

    waits: list[float] = []

    async def add(ids: list[str]) -> None:
        for id in ids:
            begin = time.perf_counter()
            await store.add(a_trial(id, notes={"text": "x" * 500}), [a_verdict(id)], a_sample(id))
            waits.append((time.perf_counter() - begin) * 1000)

    async def go() -> None:
        await store.begin(a_record("r"))
        ids = [f"s{place}" for place in range(ADDED)]
        await store.plan("r", [a_sample(id) for id in ids])
        await asyncio.gather(*(add(ids[place::IN_FLIGHT]) for place in range(IN_FLIGHT)))

    try:
        asyncio.run(go())
    finally:
        store.close()
    return median(waits)


def _rate(address: str) -> float:
    """Return the trials a second of several processes that joined one run, each with a quarter of it."""
    from proctor.testing.records import a_record, a_sample
    from proctor_adapters.postgresql import PostgresStore

    store = PostgresStore(address)

    async def begin() -> int:
        await store.begin(a_record("r"))
        await store.plan("r", (a_sample(f"s{place}") for place in range(WRITERS * EACH)))
        return await store.share("r")

    epoch = asyncio.run(begin())
    command = [sys.executable, "-c", WRITE, str(FAKES), address, str(epoch)]
    writers = [
        subprocess.Popen(
            [*command, str(number), str(EACH), str(GROUP)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(WRITERS)
    ]

    def each(act: Callable[["subprocess.Popen[str]"], object]) -> None:
        for writer in writers:
            act(writer)

    def say(writer: "subprocess.Popen[str]") -> None:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()

    def hear(writer: "subprocess.Popen[str]") -> None:
        assert writer.stdout is not None
        assert writer.stdout.readline()

    each(hear)
    started = time.perf_counter()
    each(say)
    each(hear)
    seconds = time.perf_counter() - started
    each(say)
    each(lambda writer: writer.wait())
    assert store.outcomes("r") == {"scored": WRITERS * EACH}
    store.close()
    return WRITERS * EACH / seconds


def _large(address: str) -> Iterator[Figure]:
    import psycopg

    from bench.filled import fill
    from proctor_adapters.postgresql import PostgresStore

    store = PostgresStore(address)
    with psycopg.connect(address, autocommit=True) as db:
        fill(db, "r", FILLED, records=True)
        db.execute("VACUUM")
    summed = min(_seconds(lambda: store.tallies("r", "exact")) for _ in range(ROUNDS))
    yield Figure(what="summary of 1,000,000 trials", value=summed, unit="s", at_most=0.3)
    chosen = [f"s{place}" for place in range(0, FILLED, 100)]
    found = min(_seconds(lambda: store.finished("r", samples=chosen)) for _ in range(ROUNDS))
    yield Figure(what="what is finished of 10,000 samples of 1,000,000", value=found, unit="s")
    yield Figure(what="deleting 1,000,000 trials", value=_seconds(lambda: store.delete("r")), unit="s", at_most=8.0)
    if LARGEST:
        with psycopg.connect(address, autocommit=True) as db:
            fill(db, "largest", LARGEST, records=False)
            db.execute("VACUUM")
        summed = min(_seconds(lambda: store.tallies("largest", "exact")) for _ in range(ROUNDS))
        yield Figure(what=f"summary of {LARGEST:,} trials", value=summed, unit="s", at_most=1.5)
    store.close()


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started
