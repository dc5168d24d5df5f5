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
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from proctor.core.annotation import Annotation, AnnotationKind
from proctor.core.errors import BadInput
from proctor.core.parts import StorePart
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.tally import Tally
from proctor.core.trajectory import Usage
from proctor.core.trial import INFRASTRUCTURE, RETRYABLE, Outcome, StoredTrial, Trial, Value, Verdict
from proctor.registry import unknown
from proctor.stores import _annotations, _following, _plan, _queries, _tallies
from proctor.stores._accept import append_verdict, encode_trial, encode_verdict, spend, spent_columns
from proctor.stores._locks import RunLock, writer_of
from proctor.stores._opening import connect, explain, open_file
from proctor.stores._queries import decode
from proctor.stores._writer import Writer
from proctor.stores.blobs import clean, encode
from proctor.stores.schema import SPENT, first_sample
from proctor.transport.redact import keys_of_the_environment

T = TypeVar("T")
BUSY_SECONDS = 30.0
MEMORY = ":memory:"  # a file too, in a temporary folder: one kind of store is enough
PLAN_CHUNK = 2_000


def open_store(url: str) -> "SqliteStore":
    """Open the store in a file; `:memory:` is one that is deleted when it is closed."""
    return SqliteStore(url)


class _Held(NamedTuple):
    """A run that is open for writing here."""

    number: int
    lock: RunLock


class SqliteStore:
    """Implements `core.task.Store`. Any number of threads and event loops may use one.

    Writes are queued to a thread of its own, and `add` returns when its transaction is on disk. Each read
    takes a connection for as long as it lasts; lazy reads take pages, and none between them.

    Raises:
        BadInput: the file is no store, is from a newer version, or cannot be opened.
    """

    def __init__(self, path: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.url = str(path)
        folder = tempfile.mkdtemp(prefix="proctor-") if self.url == MEMORY else None
        self._path = Path(folder, "memory.db") if folder else Path(path).expanduser()
        self._busy_seconds = busy_seconds
        self._pid = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._held: dict[str, _Held] = {}
        self._keys: tuple[bytes, ...] = ()  # of the user; they are not written
        where = self._path
        db = open_file(where, busy_seconds)
        if folder is not None:
            db.execute("PRAGMA synchronous = OFF")
        self._writer = Writer(db, lambda error: explain(error, where))
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
        place, rest = 0, iter(samples)
        while chunk := list(islice(rest, PLAN_CHUNK)):
            await self._write(partial(_plan.extend, run=run, place=place, samples=chunk))
            place += len(chunk)
        await self._write(lambda db: _plan.finish(db, run, place))
        return place

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

    def runs(self) -> list[RunRecord]:
        with self._reading() as db:
            found = [decode(row[0], RunRecord) for row in db.execute("SELECT record FROM runs")]
        return sorted(found, key=lambda record: -record.created)

    def run(self, run_id: str) -> RunRecord:
        return self._find(run_id)[1]

    def finished(self, run_id: str, *, failed_too: bool = False) -> set[tuple[str, int]]:
        again = RETRYABLE - INFRASTRUCTURE if failed_too else RETRYABLE
        names = ", ".join(f"'{outcome}'" for outcome in sorted(again))
        return set(self._rows(_queries.FINISHED.format(again=names), self._range(run_id)))

    def outcomes(self, run_id: str) -> Mapping[Outcome, int]:
        return dict(self._rows(_queries.OUTCOMES, self._range(run_id)))

    def usage(self, run_id: str) -> Usage:
        (row,) = self._rows(_queries.USAGE, self._range(run_id))
        *tokens, cost = row
        if cost is not None and not isfinite(cost):  # earlier versions stored whatever a provider reported
            cost = None
        return Usage(**dict(zip(SPENT, (value or 0 for value in tokens), strict=False)), cost=cost)

    def trials(
        self,
        run_id: str,
        *,
        outcome: Outcome | None = None,
        sample_id: str | None = None,
        scorer: str | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Iterator[Trial]:
        named = None if scorer is None else clean(scorer)
        filters = {"outcome": outcome, "scorer": named, "min_value": min_value, "max_value": max_value}
        pages = self._pages(_queries.trials_query(filters), self._range(run_id, sample_id) | filters)
        return (decode(data, Trial) for _, _, data in pages)

    def verdicts(self, run_id: str, *, scorer: str | None = None, sample_id: str | None = None) -> Iterator[Verdict]:
        values = self._range(run_id, sample_id) | {"scorer": None if scorer is None else clean(scorer)}
        pages = self._pages(_queries.VERDICTS, values)
        return (decode(data, Verdict) for _, _, data in pages if data is not None)

    def values(self, run_id: str, scorer: str) -> Iterator[Value]:
        pages = self._pages(_queries.VALUES, self._range(run_id) | {"scorer": clean(scorer)}, size=_queries.NARROW_PAGE)
        return (_queries.value(*row[2:], attempt=row[1]) for row in pages)

    def sample(self, run_id: str, sample_id: str) -> Sample | None:
        rows = self._rows(_queries.SAMPLE, {"run": clean(run_id), "name": clean(sample_id)})
        if rows:
            return decode(rows[0][0], Sample)
        self._find(run_id)
        return None

    def planned(self, run_id: str) -> Iterator[Sample]:
        pages = self._pages(_queries.PLANNED, self._range(run_id))
        return (_queries.planned_sample(*row[2:]) for row in pages)

    def history(self, run_id: str) -> Iterator[Trial | Verdict]:
        pages = self._pages(_queries.HISTORY, self._range(run_id))
        return (decode(data, Verdict) if scorer else decode(data, Trial) for _, _, scorer, data in pages)

    def tallies(self, run_id: str, scorer: str) -> Mapping[str, Tally]:
        number, record = self._find(run_id)
        with self._reading() as db:
            return _tallies.tallies(db, number, record.spec.attempts, clean(scorer))

    def strata(self, run_id: str, scorer: str, tag: str) -> Mapping[str, Mapping[str, Tally]]:
        number, record = self._find(run_id)
        with self._reading() as db:
            return _tallies.strata(db, number, record.spec.attempts, clean(scorer), tag)

    def stored(self, run_id: str, *, after: int = 0, start: int = 0) -> Iterator[StoredTrial]:
        return _following.stored(self._reading, self._find(run_id)[0], after, start)

    def version(self, run_id: str) -> str:
        number, record = self._find(run_id)
        is_open = run_id in self._held or writer_of(self._path, run_id) is not None
        row = self._rows(f"SELECT at, ({_following.NEWEST}) FROM changes WHERE run = :run", {"run": number})  # noqa: S608
        changed, newest = row[0] if row else (record.created, 0)
        return f"{changed}.{newest}" if is_open else f"{changed}"

    def annotate(self, added: Sequence[Annotation], removed: Sequence[Annotation] = ()) -> None:
        numbers = {run: self._find(run)[0] for run in {one.run_id for one in (*added, *removed)}}
        rows = [[(numbers[one.run_id], one) for one in chosen] for chosen in (added, removed)]
        self._writer.call(lambda db: _annotations.annotate(db, *rows)).result()

    def annotations(
        self, run_id: str | None = None, *, kind: AnnotationKind | None = None, sample_id: str | None = None
    ) -> list[Annotation]:
        number = None if run_id is None else self._find(run_id)[0]
        with self._reading() as db:
            return _annotations.read(db, number, kind, sample_id)

    def writer(self, run_id: str) -> int | None:
        return os.getpid() if run_id in self._held else writer_of(self._path, run_id)

    def delete(self, run_id: str) -> None:
        number, _ = self._find(run_id)
        lock = RunLock(self._path, run_id)
        try:
            self._writer.call(lambda db: _delete(db, number)).result()
        finally:
            lock.release()

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

    def _find(self, run_id: str) -> tuple[int, RunRecord]:
        rows = self._rows("SELECT id, record FROM runs WHERE name = :run", {"run": clean(run_id)})
        if not rows:
            names = [row[0] for row in self._rows("SELECT name FROM runs ORDER BY id DESC", {})]
            raise unknown("run", run_id, names, paths=False, most=8)
        return rows[0][0], decode(rows[0][1], RunRecord)

    def _range(self, run_id: str, sample_id: str | None = None) -> dict[str, object]:
        """Return the numbers of the samples of a run, or of one sample: from `first` up to, but not including, `last`."""
        number, _ = self._find(run_id)
        if sample_id is None:
            return {"first": first_sample(number), "last": first_sample(number + 1)}
        rows = self._rows(_queries.NUMBER, {"run": number, "name": clean(sample_id)})
        return {"first": rows[0][0], "last": rows[0][0] + 1} if rows else {"first": 0, "last": 0}

    def _rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        with self._reading() as db:
            return db.execute(query, values).fetchall()

    def _pages(self, query: str, values: Mapping[str, object], *, size: int = _queries.PAGE) -> Iterator[Any]:
        """Yield rows that begin with (sample, attempt), page by page."""
        sample, attempt = values["first"], -1
        while rows := self._rows(query, {**values, "sample": sample, "attempt": attempt, "size": size}):
            yield from rows
            sample, attempt = rows[-1][:2]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        self._check_usable()
        db = None
        try:
            db = self._idle.pop() if self._idle else connect(self._path, self._busy_seconds)
            yield db
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
        finally:
            if db is not None:
                self._idle.append(db)

    def _check_usable(self) -> None:
        if not self._end.alive:
            raise RuntimeError(f"the store {self.url} is closed")
        if os.getpid() != self._pid:
            raise RuntimeError(f"the store {self.url} was opened before a fork; open it again in the new process")


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
        found = db.execute(_queries.ACCEPTED, (run, clean(verdict.sample_id), verdict.attempt)).fetchone()
        if found is None:
            raise BadInput(
                "There is no trial of sample '{id}', attempt {attempt}, that a verdict could be of.",
                id=verdict.sample_id,
                attempt=verdict.attempt,
            )
        append_verdict(db, found[0], verdict.attempt, encode_verdict(verdict, found[1], keys))
        if verdict.usage is not None:
            spend(db, (found[0], verdict.attempt), spent_columns(verdict.usage))


def _delete(db: sqlite3.Connection, run: int) -> None:
    for statement in _queries.DELETE:
        db.execute(statement, {"run": run, "first": first_sample(run), "last": first_sample(run + 1)})
    if db.execute("PRAGMA auto_vacuum").fetchone()[0]:
        for _ in range(db.execute("PRAGMA freelist_count").fetchone()[0]):
            db.execute("PRAGMA incremental_vacuum(1)")  # gives one page back, whatever number is asked for


def _close(
    pid: int, writer: Writer, idle: list[sqlite3.Connection], held: dict[str, _Held], folder: str | None
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
