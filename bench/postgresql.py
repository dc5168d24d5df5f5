"""What a trial costs the client in PostgreSQL and in SQLite; needs the server's programs on this machine."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from proctor.core.task import Store
from proctor.stores.sqlite import SqliteStore

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "fakes"))

TRIALS, AT_ONCE, ROUNDS = 20_000, 64, 3


def measure() -> Iterator[Figure]:
    """CPU of this process for each accepted trial, in groups of 64: the best of three rounds of each."""
    from postgres_server import PostgresServer

    from proctor.stores.postgresql import PostgresStore

    server = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            in_file = min(_milliseconds(SqliteStore(Path(folder, f"{place}.db"))) for place in range(ROUNDS))
        in_database = min(_milliseconds(PostgresStore(server.database())) for _ in range(ROUNDS))
    finally:
        server.stop()
    yield Figure(what="SQLite, groups of 64: CPU a trial", value=in_file, unit="ms")
    yield Figure(what="PostgreSQL, groups of 64: CPU a trial of the client", value=in_database, unit="ms")
    yield Figure(what="ratio", value=in_database / in_file, unit="x", at_most=1.0)


def _milliseconds(store: Store) -> float:
    from stored_runs import a_record, a_sample, a_trial, a_verdict

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
