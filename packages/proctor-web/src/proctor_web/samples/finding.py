"""Find samples of a run in its file: bring the file up, and ask it for keys in the order of the list."""

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from heapq import merge
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor_web.samples.index_file import GROUPS, key, meta_of, place, scorers_of
from proctor_web.samples.indexing import DAMAGED, bring_up, remove
from proctor_web.samples.side import Side
from proctor_web.workspace import Found, Workspace

SMALL = 2_000  # trials of a run that is entered in this process, in some 0.3 s
WAITS_SECONDS = 0.25  # for a file that is being brought up; what it has by then is shown
SMALL_WAITS_SECONDS = 2.0  # for that of a small run, which takes as long on a busy machine only
PAUSE = 5.0  # after a pass, times what it took
MOST_SECONDS = 8.0  # of one search; those of a million trials take a tenth of one
STEPS = 20_000  # of SQLite between two looks at the clock
FEW = 2_000  # keys that are looked up one by one
EVERYTHING = key(GROUPS, 0, 0)
SORTED_BY = {  # what a list can be sorted by, besides its key; what has no points is last of all
    "sample": "trials.sample",
    "-sample": "trials.sample",
    "points": "IFNULL(trials.low, 2)",
    "-points": "IFNULL(trials.low, -1)",
    "seconds": "trials.seconds",
    "-seconds": "trials.seconds",
    "tokens": "trials.tokens",
    "-tokens": "trials.tokens",
}


class Index:
    """The file of a run, open for one request. `share` says how much of the run is in it."""

    def __init__(self, db: sqlite3.Connection, version: str) -> None:
        self.db = db
        db.execute("BEGIN")  # one state of the file, while trials are entered
        self.meta = meta_of(db)
        self.share = 1.0
        if self.meta.get("version") != version:
            self.share = min(int(self.meta.get("rows", 0)) / max(int(self.meta.get("total", 0)), 1), 0.999)
        self.scorers = scorers_of(self.meta)
        until = time.monotonic() + MOST_SECONDS
        db.set_progress_handler(lambda: time.monotonic() > until, STEPS)

    def facet(self, kind: str, name: str) -> int | None:
        """Return the number of what trials are counted under; None if there are none."""
        row = self.db.execute(
            "SELECT id FROM facets WHERE kind = ? AND name = ? AND count > 0", (kind, name)
        ).fetchone()
        return row[0] if row else None

    def key_of(self, sample: str, attempt: int) -> int | None:
        """Return the key of a trial; None if it is not in the file."""
        rows = self.db.execute("SELECT id FROM trials WHERE sample = ?", (sample,))
        return next((id for (id,) in rows if place(id)[1] == attempt), None)


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for: words, conditions on `trials` with their values, and keys to choose among; None is no bound.

    `exact` conditions are those that words nearly ensure, `where` those that words say nothing about.
    """

    match: str | None = None
    exact: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    values: dict[str, object] = {}
    keys: Sequence[int] | None = None


def keys(index: Index, search: Search, *, order: str, after: int | None, most: int, back: bool = False) -> list[int]:
    """Return the keys that are found, at most `most` of them, after one of them or (`back`) before it; the nearest first."""
    search = _narrowed(index, search)
    if (column := SORTED_BY.get(order)) is not None:
        return _sorted_keys(index, search, column, after, most, is_up=not order.startswith("-"), back=back)
    if order == "failures":
        first, last = (-1, EVERYTHING) if after is None else (-1, after) if back else (after, EVERYTHING)
        return _keys(index, search, first, last, most, back=back)
    groups = []
    for group in range(GROUPS):
        first, last = key(group, 0, 0) - 1, key(group + 1, 0, 0)
        if after is not None and back:
            last = key(group, *place(after))
        elif after is not None:
            first = key(group, *place(after))
        groups.append(_keys(index, search, first, last, most, back=back))
    return list(merge(*groups, key=place, reverse=back))[:most]


def _sorted_keys(
    index: Index, search: Search, column: str, after: int | None, most: int, *, is_up: bool, back: bool
) -> list[int]:
    """Return keys in the order of a column; those of equal values in the order of the list."""
    if after is not None:
        row = index.db.execute(f"SELECT {column} FROM trials WHERE id = ?", (after,)).fetchone()  # noqa: S608 - a constant
        if row is None:
            return []
        beyond, then = ">" if is_up != back else "<", "<" if back else ">"
        search = msgspec.structs.replace(
            search,
            where=(*search.where, f"({column} {beyond} :at OR ({column} = :at AND trials.id {then} :after))"),
            values={**search.values, "at": row[0], "after": after},
        )
    order = f"{column} {'ASC' if is_up != back else 'DESC'}, trials.id {'DESC' if back else 'ASC'}"
    return _keys(index, search, -1, EVERYTHING, most, order=order)


def _narrowed(index: Index, search: Search) -> Search:
    """Look first for what few trials have, if words are looked for too: their list may be long."""
    if search.match is None or not search.where or search.keys is not None:
        return search
    few = _keys(index, msgspec.structs.replace(search, match=None, exact=()), -1, EVERYTHING, FEW + 1)
    return search if len(few) > FEW else msgspec.structs.replace(search, keys=few)


def _keys(
    index: Index, search: Search, first: int, last: int, most: int, *, back: bool = False, order: str = ""
) -> list[int]:
    tables = "trials"
    where = ["trials.id > :first", "trials.id < :last", *search.where, *search.exact]
    values = {"first": first, "last": last, "most": most, "match": search.match, **search.values}
    by_key = "trials.id"
    if search.keys is not None:
        tables = "json_each(:keys) AS chosen CROSS JOIN trials ON trials.id = chosen.value"
        values["keys"] = msgspec.json.encode([number for number in search.keys if first < number < last]).decode()
    if search.match is not None:
        where.append("documents MATCH :match")
        if search.keys is not None:
            tables += " CROSS JOIN documents ON documents.rowid = trials.id"
        else:
            tables, by_key = "documents CROSS JOIN trials ON trials.id = documents.rowid", "documents.rowid"
            where += ["documents.rowid > :first", "documents.rowid < :last"]
    order = order or f"{by_key} {'DESC' if back else ''}"
    query = f"SELECT trials.id FROM {tables} WHERE {' AND '.join(where)} ORDER BY {order} LIMIT :most"  # noqa: S608 - constants, with values bound
    return [id for (id,) in index.db.execute(query, values)]


class Indexes:
    """Brings up the files of a workspace: `workspace.kept(Indexes)`. Large runs are entered by a process, one after another."""

    def __init__(self, workspace: Workspace) -> None:
        self._side = workspace.kept(Side)
        self._lock = threading.Lock()  # protects the dictionaries
        self._underway: dict[Path, Future[None]] = {}
        self._rests_until: dict[Path, float] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._small = ThreadPoolExecutor(1, thread_name_prefix="proctor-index")
        self._large = ThreadPoolExecutor(1, thread_name_prefix="proctor-index-large")

    @contextmanager
    def open(self, found: Found) -> Iterator[Index]:
        """Open the file of a run, brought up to what the store has, or on the way there.

        Raises:
            BadInput: the file cannot be made or read, or a search in it takes too long.
        """
        path = self._side.file(found.store, found.record.id)
        db, is_whole = _open(path), False
        try:
            version = found.store.version(found.record.id)
            if db is not None:
                is_whole = meta_of(db).get("version") == version
            if not is_whole:
                self._bring_up(found, path)
                db = db or _open(path)
            if db is None:
                db = sqlite3.connect(":memory:")
            yield Index(db, version)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise BadInput(
                    "The search took more than {seconds:g} s. Add words or filters.", seconds=MOST_SECONDS
                ) from None
            if error.sqlite_errorcode & 0xFF in DAMAGED:
                remove(path)
            raise BadInput("The samples cannot be searched: {error}. Load the page again.", error=error) from error
        finally:
            if db is not None:
                db.close()

    def close(self) -> None:
        """Stop entering; what was entered stays."""
        with self._lock:
            self._closed = True
            if self._child is not None:
                self._child.terminate()
        self._large.shutdown(wait=True, cancel_futures=True)
        self._small.shutdown(wait=True, cancel_futures=True)

    def _bring_up(self, found: Found, path: Path) -> None:
        """Have the file brought up, and wait a little for it."""
        is_small = found.record.planned <= SMALL
        with self._lock:
            future = self._underway.get(path)
            if future is None:
                if time.monotonic() < self._rests_until.get(path, 0) or self._closed:
                    return
                pool = self._small if is_small else self._large
                future = self._underway[path] = pool.submit(self._work, found, path, is_small=is_small)
        with suppress(TimeoutError):
            future.result(SMALL_WAITS_SECONDS if is_small else WAITS_SECONDS)

    def _work(self, found: Found, path: Path, *, is_small: bool) -> None:
        started = time.monotonic()
        try:
            if is_small or not Path(found.store.url).expanduser().is_file():
                bring_up(found.store, found.record.id, path)
            else:
                self._enter_in_process(found, path)
        except (OSError, msgspec.MsgspecError) as error:
            raise BadInput("The samples cannot be searched: {error}. Load the page again.", error=error) from error
        finally:
            ended = time.monotonic()
            with self._lock:
                del self._underway[path]
                self._rests_until[path] = 0 if is_small else ended + PAUSE * min(ended - started, 60)

    def _enter_in_process(self, found: Found, path: Path) -> None:
        command = [sys.executable, "-m", "proctor_web.samples.indexing", found.store.url, found.record.id, str(path)]
        with self._lock:
            if self._closed:
                return
            self._child = child = subprocess.Popen(  # noqa: S603 - this very program
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        _, trouble = child.communicate()
        if child.returncode and not self._closed:
            error = trouble.decode(errors="replace")[-400:]
            raise BadInput("The samples cannot be searched: {error}. Load the page again.", error=error)


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
        )
        meta_of(db)
    except sqlite3.Error:  # it is not there yet, or is made again
        return None
    return db
