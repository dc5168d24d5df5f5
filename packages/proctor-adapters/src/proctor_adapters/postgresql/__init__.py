"""Store runs in PostgreSQL: any number of clients, on any number of machines.

A run is open in one process at a time, which may let others join it: they write trials and verdicts at the same time.
"""

import asyncio
import os
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.trial import StoredTrial, Trial, Verdict
from proctor.stores import annotations as _annotations
from proctor.stores.blobs import clean, encode
from proctor.stores.encoding import encode_trial, encode_verdict, spent_columns
from proctor.stores.rows import decode, planned_sample
from proctor.stores.schema import first_sample
from proctor.stores.tables import TableStore
from proctor.stores.writer import StoreWriter
from proctor.transport.redact import keys_of_the_environment
from proctor_adapters.postgresql import deletion, plan, queries
from proctor_adapters.postgresql.accept import Epochs, JudgedRow, check_epoch, judge, taken_over
from proctor_adapters.postgresql.connection import (
    PATIENCE_SECONDS,
    Pauses,
    WritingConnection,
    connect,
    execute,
    explain,
    holder,
    lock,
    open_tables,
    shown,
    unlock,
)

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

T = TypeVar("T")
PLAN_CHUNK = 10_000
JUDGED_CHUNK = 1_000
MOST_IDLE = 4  # connections that stay open for reading
SPAN = 5_000  # samples whose new keys are read at once


def open_store(url: str) -> "PostgresStore":
    """Open the store in a database, `postgresql://USER@HOST/DATABASE`; everything that libpq understands may follow."""
    return PostgresStore(url)


class HeldRun(NamedTuple):
    """A run that is open for writing here."""

    number: int
    keys: Sequence[bytes]  # of the user; they are not written
    is_shared: bool = False
    is_joined: bool = False  # begun by another process, which keeps its record


class PostgresStore(TableStore):
    """Implements `core.task.Store`. Any number of threads and event loops may use one.

    Writes are queued to a thread with a connection of its own, and `add` returns when its transaction is durable. When the
    server goes away, reading and writing wait for it and go on; nothing that was acknowledged is lost, and nothing is
    accepted twice.

    Args:
        patience: how many seconds the server may be away.

    Raises:
        BadInput: the database cannot be reached, or its tables are of a newer version.
    """

    _queries = queries

    def __init__(self, url: str, *, patience: float = PATIENCE_SECONDS) -> None:
        self.url, self.damaged = shown(url), set()
        self._address = url
        self._patience = patience
        self._pid = os.getpid()
        self._idle: list[Connection] = []
        self._held: dict[str, HeldRun] = {}
        self._beginning: set[str] = set()
        self._idle.append(open_tables(url, patience))
        self._client = WritingConnection(url, patience)
        self._writer = StoreWriter(self._client)
        self._end = weakref.finalize(self, _close, self._pid, self._writer, self._idle)

    def __repr__(self) -> str:
        return f"<PostgresStore {self.url}>"

    async def begin(self, record: RunRecord) -> None:
        self._check_usable()
        if record.id in self._held or record.id in self._beginning:
            raise is_open(record.id, os.getpid())
        keys = tuple(key.encode() for key in keys_of_the_environment())
        self._beginning.add(record.id)
        try:
            number = await self._write(lambda db: _begin(db, record, self._client.hold))
        except BaseException:  # also a cancellation, after which it is begun all the same
            self._writer.call(lambda db: let_go(db, record.id, self._client.drop))
            raise
        finally:
            self._beginning.discard(record.id)
        self._held[record.id] = HeldRun(number, keys)

    async def share(self, run_id: str) -> int:
        """Let other processes join a run that is open here; return the epoch that they need."""
        held = self._own(run_id)
        epoch = await self._write(lambda db: _share(db, held.number, self._client))
        self._held[run_id] = held._replace(is_shared=True)
        return epoch

    async def join(self, run_id: str, epoch: int) -> None:
        """Open a run that another process has begun and shares: here, too, `add` and `judge` write to it.

        What is written counts as long as that process has the run open: when it ends the run, or another one begins it, the
        next write fails.

        Args:
            epoch: what `share` returned there.

        Raises:
            BadInput: the run is open here already, is not shared, or was begun again since.
        """
        self._check_usable()
        if run_id in self._held or run_id in self._beginning:
            raise is_open(run_id, os.getpid())
        keys = tuple(key.encode() for key in keys_of_the_environment())
        number, _ = self._find(run_id)
        self._beginning.add(run_id)
        try:
            await self._write(lambda db: _join(db, number, run_id, epoch, self._client))
        except BaseException:
            self._writer.call(lambda db: let_go(db, run_id, self._client.drop))
            raise
        finally:
            self._beginning.discard(run_id)
        self._held[run_id] = HeldRun(number, keys, is_shared=True, is_joined=True)

    async def leave(self, run_id: str) -> None:
        """Close a run that was joined; all that was added is durable."""
        number = self._open(run_id).number
        del self._held[run_id]
        self._client.drop(number)
        await self._write(lambda db: unlock(db, number))

    async def plan(self, run_id: str, samples: Iterable[Sample]) -> int:
        run = self._own(run_id).number
        is_there = await self._write(lambda db: _start_plan(db, run, self._client.epochs))
        planned, rest = 0, iter(samples)
        while chunk := list(islice(rest, PLAN_CHUNK)):
            await self._write(partial(plan.extend, run=run, place=planned, samples=chunk, is_there=is_there))
            planned += len(chunk)
        await self._write(lambda db: plan.finish(db, run, planned))
        return planned

    def add(
        self, trial: Trial, verdicts: Sequence[Verdict] = (), sample: Sample | None = None
    ) -> "asyncio.Future[None]":
        held = self._open(trial.run_id)
        return self._writer.add(encode_trial(held.number, trial, verdicts, sample, held.keys))

    async def judge(self, verdicts: Sequence[Verdict]) -> None:
        rows = [self._judged(verdict) for verdict in verdicts]
        if rows:
            await self._write(lambda db: _judge(db, rows, self._client.epochs))

    async def save(self, record: RunRecord) -> None:
        number = self._own(record.id).number
        await self._write(lambda db: _save(db, number, record, self._client.epochs))

    async def end(self, record: RunRecord) -> None:
        number, _, is_shared, _ = self._own(record.id)
        try:
            await self._write(lambda db: _end(db, number, record, self._client.epochs, by=int(is_shared)))
        finally:
            del self._held[record.id]
            self._client.drop(number)
            await self._write(lambda db: unlock(db, number))

    def run(self, run_id: str) -> RunRecord:
        number, record = self._find(run_id)
        if record.state not in ("running", "stopped"):
            return record
        shards = self._rows("SELECT record FROM shards WHERE run = :run", {"run": number})
        lost = sum(decode(data, RunRecord).unbooked for (data,) in shards)  # also of those that were killed
        return replace(record, unbooked=max(record.unbooked, lost))

    def stored(self, run_id: str, *, after: int = 0, start: int = 0) -> Iterator[StoredTrial]:
        number, _ = self._find(run_id)
        return self._stored(number, after, start)

    def version(self, run_id: str) -> str:
        number, _ = self._find(run_id)
        ((changed, snapshot),) = self._rows(
            "SELECT changed, pg_current_snapshot()::text FROM runs WHERE id = :run", {"run": number}
        )
        return f"{changed}" if self.writer(run_id) is None else f"{changed}.{snapshot}"

    def annotate(self, added: Sequence[Annotation], removed: Sequence[Annotation] = ()) -> None:
        numbers = {run: self._find(run)[0] for run in {annotation.run_id for annotation in (*added, *removed)}}
        rows = [[(numbers[annotation.run_id], annotation) for annotation in chosen] for chosen in (added, removed)]
        self._writer.call(lambda db: _annotations.annotate(partial(execute, db), *rows)).result()

    def writer(self, run_id: str) -> int | None:
        if run_id in self._held:
            return os.getpid()
        rows = self._rows("SELECT id FROM runs WHERE name = :run", {"run": clean(run_id)})
        return self._read(lambda db: holder(db, rows[0][0])) if rows else None

    def delete(self, run_id: str) -> None:
        number, _ = self._find(run_id)
        if run_id in self._held:
            raise is_open(run_id, os.getpid())
        try:
            self._writer.call(lambda db: _remove(db, number, run_id)).result()
        finally:
            # on its own: in a failed transaction nothing can be unlocked
            self._writer.call(lambda db: unlock(db, number))
        deletion.purge_all(self._read)

    def close(self) -> None:
        """Write what is queued, unlock open runs, and close; calling it again does nothing."""
        self._end()

    def _stored(self, run: int, after: int, start: int) -> Iterator[StoredTrial]:
        ((mark,),) = self._rows(queries.SNAPSHOT, {})
        ((last,),) = self._rows(queries.LAST, {"run": run})
        base = first_sample(run)
        for first in range(base + start, (last or base - 1) + 1, SPAN):
            for sample, attempt in self._rows(queries.CHANGED, {"first": first, "last": first + SPAN, "after": after}):
                key = {"sample": sample, "attempt": attempt, "first": sample, "last": sample + 1, "scorer": None}
                rows = self._rows(queries.STORED, key)
                verdicts = self._rows(queries.VERDICTS, {**key, "attempt": attempt - 1, "size": 1})
                if rows:  # else the run was deleted meanwhile
                    yield StoredTrial(
                        mark=mark,
                        position=sample - base,
                        sample=planned_sample(*rows[0][3:]),
                        trial=self._trial(sample, rows[0][2]),
                        verdicts=tuple(decode(data, Verdict) for *_, data in verdicts if data is not None),
                    )

    def _judged(self, verdict: Verdict) -> JudgedRow:
        held = self._open(verdict.run_id)
        spent = (0, 0, 0, 0, 0, None) if verdict.usage is None else spent_columns(verdict.usage)
        row = encode_verdict(verdict, "scored", held.keys)
        return JudgedRow(held.number, clean(verdict.sample_id), verdict.attempt, row, spent)

    async def _write(self, work: "Callable[[Connection], T]") -> T:
        self._check_usable()
        return await asyncio.wrap_future(self._writer.call(work))

    def _open(self, run_id: str) -> HeldRun:
        self._check_usable()
        if run_id not in self._held:
            raise BadInput("The run '{run}' is not open for writing here; it has to be begun first.", run=run_id)
        return self._held[run_id]

    def _own(self, run_id: str) -> HeldRun:
        """Return a run that was begun here."""
        held = self._open(run_id)
        if held.is_joined:
            raise BadInput(
                "The run '{run}' was begun by another process, which alone can plan, save and end it.", run=run_id
            )
        return held

    def _rows(self, query: str, values: Mapping[str, object]) -> "list[TupleRow]":
        return self._read(lambda db: execute(db, query, values).fetchall())

    def _read(self, work: "Callable[[Connection], T]") -> T:
        """Read with a connection of our own; while the server is away, wait for it."""
        import psycopg

        self._check_usable()
        pauses = Pauses(self._patience)
        while True:
            db = None
            try:
                db = self._idle.pop() if self._idle else connect(self._address)
                return work(db)
            except psycopg.Error as error:
                is_away = isinstance(error, psycopg.OperationalError) and (db is None or db.closed)
                if not is_away or not pauses.wait():
                    raise explain(error, self._address) from error
            finally:
                if db is not None and (db.closed or len(self._idle) >= MOST_IDLE):
                    db.close()
                elif db is not None:
                    self._idle.append(db)


def _begin(db: "Connection", record: RunRecord, hold: Callable[[int, int], None]) -> int:
    name, data = clean(record.id), encode(record)
    db.execute(
        "INSERT INTO runs (name, record, changed, epoch) VALUES (%s, %s, 0, 0) ON CONFLICT DO NOTHING", (name, data)
    )
    ((number,),) = db.execute("SELECT id FROM runs WHERE name = %s", (name,)).fetchall()
    if not lock(db, number):
        raise is_open(record.id, holder(db, number))
    query = f"UPDATE runs SET record = %s, epoch = epoch + 1, {_CHANGED} WHERE id = %s RETURNING epoch"  # noqa: S608 - constants
    ((epoch,),) = db.execute(query, (data, time.time_ns(), number)).fetchall()
    hold(number, epoch)
    run: int = number
    return run


def _share(db: "Connection", number: int, client: WritingConnection) -> int:
    check_epoch(db, number, client.epochs)
    client.share(db, number)
    return client.epochs[number]


def _join(db: "Connection", number: int, run_id: str, epoch: int, client: WritingConnection) -> None:
    if not lock(db, number, is_shared=True):
        raise is_open(run_id, holder(db, number))
    if db.execute("SELECT epoch FROM runs WHERE id = %s", (number,)).fetchone() != (epoch,):
        raise taken_over(run_id)
    client.hold(number, epoch, is_shared=True)


def let_go(db: "Connection", run_id: str, drop: Callable[[int], None], part: int = 0) -> None:
    """Unlock a run whose opening failed."""
    for (number,) in db.execute("SELECT id FROM runs WHERE name = %s", (clean(run_id),)).fetchall():
        drop(number)
        unlock(db, number, part)


_CHANGED = "changed = greatest(changed + 1, %s)"


def _start_plan(db: "Connection", number: int, epochs: Epochs) -> bool:
    check_epoch(db, number, epochs)
    return plan.start(db, number)


def _judge(db: "Connection", rows: Sequence[JudgedRow], epochs: Epochs) -> None:
    for start in range(0, len(rows), JUDGED_CHUNK):
        judge(db, rows[start : start + JUDGED_CHUNK], epochs)


def _save(db: "Connection", number: int, record: RunRecord, epochs: Epochs) -> None:
    check_epoch(db, number, epochs)
    query = f"UPDATE runs SET record = %s, {_CHANGED} WHERE id = %s"  # noqa: S608 - constants
    db.execute(query, (encode(record), time.time_ns(), number))


def _end(db: "Connection", number: int, record: RunRecord, epochs: Epochs, *, by: int) -> None:
    """End a run; raising the epoch refuses what others would still write to it."""
    _save(db, number, record, epochs)
    db.execute("UPDATE runs SET epoch = epoch + %s WHERE id = %s", (by, number))
    db.execute("ANALYZE trials, scores, records, contents")  # else the first readers of a large run wait for minutes


def _remove(db: "Connection", number: int, run_id: str) -> None:
    if not lock(db, number):
        raise is_open(run_id, holder(db, number))
    deletion.remove(db, number)


def is_open(run_id: str, process: int | None) -> BadInput:
    """Return the error of a run that is open in a process; None or 0 where that is on another machine."""
    if process:
        return BadInput(
            "The run '{run}' is open in process {pid}. Wait for it or end it; a run with another id can run at the same time.",
            run=run_id,
            pid=process,
        )
    return BadInput(
        "The run '{run}' is open in a process on another machine. Wait for it or end it; a run with another id can run at the same time.",
        run=run_id,
    )


def _close(pid: int, writer: StoreWriter, idle: "list[Connection]") -> None:
    if os.getpid() != pid:  # a forked child must not touch the connections of its parent
        return
    writer.close()
    _close_all(idle)


def _close_all(idle: "list[Connection]") -> None:
    while idle:
        idle.pop().close()
