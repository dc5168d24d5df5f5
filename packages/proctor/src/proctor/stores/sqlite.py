"""Store runs in one SQLite file (WAL, synchronous=FULL): many readers, one writer, commits in groups."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput, StoreUnreadable
from proctor.core.parts import StorePart
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.trial import StoredTrial, Trial, Verdict
from proctor.stores import _following, _queries
from proctor.stores import annotations as _annotations
from proctor.stores import plan as _plan
from proctor.stores._accept import accept, append_verdict, spend
from proctor.stores._locks import RunLock, writer_of
from proctor.stores._opening import connect, explain, open_file
from proctor.stores.blobs import clean, encode
from proctor.stores.encoding import Addition, encode_trial, encode_verdict, spent_columns
from proctor.stores.schema import first_sample
from proctor.stores.tables import TableStore
from proctor.stores.writer import StoreWriter
from proctor.transport.redact import keys_of_the_environment

T = TypeVar("T")
BUSY_SECONDS = 30.0
MEMORY = ":memory:"  # a file too, in a temporary folder: one kind of store is enough
PLAN_CHUNK = 2_000


def open_store(url: str) -> "SqliteStore":
    """Open the store in a file; `:memory:` is one that is deleted when it is closed."""
    return SqliteStore(url)


class _File:
    """The connection that writes, as the writer needs it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._number = _number_of(path)
        self.close = db.close

    def check_there(self) -> None:
        """Raise a `StoreUnreadable` if the file was removed or replaced: what is written to it now would be lost."""
        if _number_of(self._path) != self._number:
            raise StoreUnreadable(
                "The store {path} is not there any more: its file was removed or replaced, or its folder is not mounted. Put it back, or open it again.",
                path=self._path,
            )

    def accept(self, additions: Sequence[Addition]) -> Sequence[Exception | None]:
        self.check_there()
        try:
            return accept(self._db, additions)
        except BaseException:
            self._roll_back()
            raise

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.check_there()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            result = work(self._db)
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        return result

    def explain(self, error: Exception) -> Exception:
        return explain(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # after some errors SQLite has rolled back already
            self._db.execute("ROLLBACK")


class _Held(NamedTuple):
    """A run that is open for writing here."""

    number: int
    lock: RunLock


class SqliteStore(TableStore):
    """Implements `core.task.Store`. Any number of threads and event loops may use one.

    Writes are queued to a thread of its own, and `add` returns when its transaction is on disk. Each read
    takes a connection for as long as it lasts; lazy reads take pages, and none between them.

    Raises:
        BadInput: the file is no store, is from a newer version, or cannot be opened.
    """

    _queries = _queries

    def __init__(self, path: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.url, self.damaged = str(path), set()
        folder = tempfile.mkdtemp(prefix="proctor-") if self.url == MEMORY else None
        self._path = Path(folder, "memory.db") if folder else Path(path).expanduser()
        self._busy_seconds = busy_seconds
        self._pid = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._held: dict[str, _Held] = {}
        self._keys: tuple[bytes, ...] = ()  # of the user; they are not written
        where = self._path
        self._file = _File(open_file(where, busy_seconds, durable=folder is None), where)
        self._writer = StoreWriter(self._file)
        self._end = weakref.finalize(self, _close, self._pid, self._writer, self._idle, self._held, folder)

    def __repr__(self) -> str:
        return f"<SqliteStore {self.url}>"

    async def begin(self, record: RunRecord) -> None:
        lock = RunLock(self._path, record.id)
        self._keys = tuple(key.encode() for key in keys_of_the_environment())
        try:
            number = await self._write(lambda db: _begin(db, record))
        except BaseException:
            lock.release()
            raise
        self._held[record.id] = _Held(number, lock)

    async def plan(self, run_id: str, samples: Iterable[Sample]) -> int:
        run = self._number(run_id)
        await self._write(lambda db: _plan.start(db, run))
        count, rest = 0, iter(samples)
        while chunk := list(islice(rest, PLAN_CHUNK)):
            await self._write(partial(_plan.extend, run=run, place=count, samples=chunk))
            count += len(chunk)
        await self._write(lambda db: _plan.finish(db, run, count))
        return count

    def add(
        self, trial: Trial, verdicts: Sequence[Verdict] = (), sample: Sample | None = None
    ) -> "asyncio.Future[None]":
        return self._writer.add(encode_trial(self._number(trial.run_id), trial, verdicts, sample, self._keys))

    async def judge(self, verdicts: Sequence[Verdict]) -> None:
        numbered = [(self._number(verdict.run_id), verdict) for verdict in verdicts]
        if numbered:
            await self._write(lambda db: _judge(db, numbered, self._keys))

    async def save(self, record: RunRecord) -> None:
        number = self._number(record.id)
        await self._write(lambda db: _save(db, number, record))

    async def end(self, record: RunRecord) -> None:
        self._number(record.id)  # a run that is not open cannot be ended
        try:
            await self.save(record)
        finally:
            self._held.pop(record.id).lock.release()

    def stored(self, run_id: str, *, after: int = 0, start: int = 0) -> Iterator[StoredTrial]:
        return _following.stored(self._reading, self._trial, self._find(run_id)[0], after, start)

    def version(self, run_id: str) -> str:
        number, record = self._find(run_id)
        is_open = run_id in self._held or writer_of(self._path, run_id) is not None
        row = self._rows(f"SELECT at, ({_following.NEWEST}) FROM changes WHERE run = :run", {"run": number})  # noqa: S608
        changed, newest = row[0] if row else (record.created, 0)
        return f"{changed}.{newest}" if is_open else f"{changed}"

    def annotate(self, added: Sequence[Annotation], removed: Sequence[Annotation] = ()) -> None:
        numbers = {run: self._find(run)[0] for run in {annotation.run_id for annotation in (*added, *removed)}}
        rows = [[(numbers[annotation.run_id], annotation) for annotation in chosen] for chosen in (added, removed)]
        self._writer.call(lambda db: _annotations.annotate(db.execute, *rows)).result()

    def writer(self, run_id: str) -> int | None:
        return os.getpid() if run_id in self._held else writer_of(self._path, run_id)

    def delete(self, run_id: str) -> None:
        number, _ = self._find(run_id)
        lock = RunLock(self._path, run_id)
        try:
            self._writer.call(lambda db: _delete(db, number)).result()
        finally:
            lock.release()

    def file_faults(self) -> list[str]:
        rows = self._rows("PRAGMA integrity_check(20)", {})
        return [str(row[0]) for row in rows if row[0] != "ok"]

    def close(self) -> None:
        """Write what is queued, unlock open runs, and close; calling it again does nothing."""
        self._end()

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check_usable()
        return await asyncio.wrap_future(self._writer.call(work))

    def _number(self, run_id: str) -> int:
        self._check_usable()
        if run_id not in self._held:
            raise BadInput("The run '{run}' is not open for writing here; it has to be begun first.", run=run_id)
        return self._held[run_id].number

    def _rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        with self._reading() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._check_usable()
        self._file.check_there()
        db = None
        try:
            db = self._idle.pop() if self._idle else connect(self._path, self._busy_seconds)
            yield db
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
        finally:
            if db is not None:
                self._idle.append(db)


def _number_of(path: Path) -> int | None:
    """Return the number by which the file system knows a file; None where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _begin(db: sqlite3.Connection, record: RunRecord) -> int:
    row = db.execute(
        "INSERT INTO runs (name, record) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET record = excluded.record RETURNING id",
        (clean(record.id), encode(record)),
    ).fetchone()
    number: int = row[0]
    _note_change(db, number)
    return number


def _save(db: sqlite3.Connection, number: int, record: RunRecord) -> None:
    db.execute("UPDATE runs SET record = ? WHERE id = ?", (encode(record), number))
    _note_change(db, number)


def _note_change(db: sqlite3.Connection, run: int) -> None:
    db.execute(
        "INSERT INTO changes VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET at = max(at + 1, excluded.at)",
        (run, time.time_ns()),
    )


def _judge(db: sqlite3.Connection, numbered: Sequence[tuple[int, Verdict]], keys: Sequence[bytes]) -> None:
    for run, verdict in numbered:
        row = db.execute(_queries.ACCEPTED, (run, clean(verdict.sample_id), verdict.attempt)).fetchone()
        if row is None:
            raise BadInput(
                "There is no trial of sample '{id}', attempt {attempt}, that a verdict could be of.",
                id=verdict.sample_id,
                attempt=verdict.attempt,
            )
        append_verdict(db, row[0], verdict.attempt, encode_verdict(verdict, row[1], keys))
        if verdict.usage is not None:
            spend(db, (row[0], verdict.attempt), spent_columns(verdict.usage))


def _delete(db: sqlite3.Connection, run: int) -> None:
    for statement in _queries.DELETE:
        db.execute(statement, {"run": run, "first": first_sample(run), "last": first_sample(run + 1)})
    if db.execute("PRAGMA auto_vacuum").fetchone()[0]:
        for _ in range(db.execute("PRAGMA freelist_count").fetchone()[0]):
            db.execute("PRAGMA incremental_vacuum(1)")  # gives one page back, whatever number is asked for


def _close(
    pid: int, writer: StoreWriter, idle: list[sqlite3.Connection], held: dict[str, _Held], folder: str | None
) -> None:
    if os.getpid() != pid:  # a forked child must not touch the files of its parent
        return
    writer.close()
    while idle:
        idle.pop().close()
    while held:
        held.popitem()[1].lock.release()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


PART = StorePart(open=open_store)
