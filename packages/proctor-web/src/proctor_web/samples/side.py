"""Keep next to a store what makes its pages quick; all of it can be deleted at any time, and is made again.

Next to `runs.db` that is the folder `runs.db.index`: `numbers.db` with the figures that were computed of each run, and a file for
each run by which its samples are found.
"""

import sqlite3
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.core.digest import digest_bytes
from proctor.core.task import Store
from proctor.core.version import WEB_FIGURES, __version__
from proctor_web.workspace import Found, Workspace

T = TypeVar("T")
FORMAT = f"{__version__}.{WEB_FIGURES}"  # of figures; those of another version are computed again
PATIENT_SECONDS = 0.2
COMPUTING = 2  # figures at once that no page waits for
_SCHEMA = """
CREATE TABLE IF NOT EXISTS numbers (run TEXT, name TEXT, version TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, name))
"""
_SAVE = "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)"
_READ = "SELECT value FROM numbers WHERE run = ? AND name = ? AND version = ?"


class Side:
    """The folders next to the stores of a workspace: `workspace.kept(Side)`."""

    def __init__(self, workspace: Workspace) -> None:
        self._folders: dict[str, Path] = {}
        self._numbers: dict[str, sqlite3.Connection | None] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="proctor-index-")
        self._lock = threading.RLock()  # protects the dictionaries and the connections
        self._underway: dict[tuple[str, str, str, str], Future[object]] = {}
        self._pool = ThreadPoolExecutor(COMPUTING, thread_name_prefix="proctor-numbers")
        for store in workspace.stores.values():
            with suppress(Exception):  # a broken store; its pages say so
                self._prune(store)

    def folder(self, store: Store) -> Path:
        """Return the folder next to a store; a temporary one where the store is no file, or nothing can be written there."""
        with self._lock:
            if store.url not in self._folders:
                self._folders[store.url] = self._make_folder(store)
            return self._folders[store.url]

    def file(self, store: Store, run_id: str) -> Path:
        return self.folder(store) / file_name(run_id)

    def cached(self, found: Found, name: str, kind: type[T], compute: Callable[[], T]) -> T:
        """Return a figure of a run as it was computed before, if the run holds the same trials and verdicts; else compute it."""
        value, future, is_mine = self._begin(found, name, kind)
        if future is None:
            assert value is not None
            return value
        if is_mine:
            self._compute(found, name, future, compute)
        return future.result()  # type: ignore[return-value]  # `compute` made it, here or in another thread

    def soon(
        self, found: Found, name: str, kind: type[T], compute: Callable[[], T], *, seconds: float = PATIENT_SECONDS
    ) -> T | None:
        """Return a figure like `cached`, or None while it is being computed, where that takes longer than a page can wait."""
        value, future, is_mine = self._begin(found, name, kind)
        if future is None:
            return value
        if is_mine:
            self._pool.submit(self._compute, found, name, future, compute)
        with suppress(TimeoutError):
            return future.result(seconds)  # type: ignore[return-value]
        return None

    def close(self) -> None:
        """Close the files; figures that are being computed are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for db in self._numbers.values():
                if db is not None:
                    db.close()
            self._numbers = {}
        self._temporary.cleanup()

    def _begin(self, found: Found, name: str, kind: type[T]) -> tuple[T | None, "Future[object] | None", bool]:
        """Return the stored figure, or else the future of the one being computed, and if the caller has to compute it."""
        version = f"{FORMAT}:{found.store.version(found.record.id)}"
        key = (found.store.url, found.record.id, name, version)
        with self._lock:
            if key in self._underway:
                return None, self._underway[key], False
            db = self._open(found.store)
            with suppress(sqlite3.Error, msgspec.MsgspecError):  # a file that cannot be read is as good as none
                row = db.execute(_READ, key[1:]).fetchone() if db is not None else None
                if row is not None:
                    return msgspec.json.decode(row[0], type=kind), None, False
            future: Future[object] = Future()
            self._underway[key] = future
            future.add_done_callback(lambda done: self._keep(found.store, key, done))
            return None, future, True

    def _compute(self, found: Found, name: str, future: "Future[object]", compute: Callable[[], object]) -> None:
        try:
            future.set_result(compute())
        except BaseException as error:  # noqa: BLE001 - raised in each caller
            future.set_exception(error)

    def _keep(self, store: Store, key: tuple[str, str, str, str], done: "Future[object]") -> None:
        with self._lock:
            self._underway.pop(key, None)
            if done.cancelled() or done.exception() is not None or store.url not in self._numbers:
                return
            with suppress(sqlite3.Error):
                if (db := self._open(store)) is not None:
                    db.execute(_SAVE, (*key[1:], msgspec.json.encode(done.result())))

    def _open(self, store: Store) -> sqlite3.Connection | None:
        """Return the file of figures; None where there can be none."""
        if store.url not in self._numbers:
            path = self.folder(store) / "numbers.db"
            self._numbers[store.url] = _connect(path) or _connect(path, fresh=True)
        return self._numbers[store.url]

    def _make_folder(self, store: Store) -> Path:
        path = Path(store.url).expanduser()
        if path.is_file():
            folder = path.with_name(f"{path.name}.index")
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
                (folder / ".writable").touch()
                return folder
        folder = Path(self._temporary.name, digest_bytes(store.url.encode(errors="replace")))
        folder.mkdir(exist_ok=True)
        return folder

    def _prune(self, store: Store) -> None:
        """Delete what belongs to runs that are gone."""
        known = {record.id for record in store.runs()}
        names = {file_name(run_id) for run_id in known} | {"numbers.db"}
        for file in self.folder(store).glob("*.db"):
            if file.name not in names:
                for path in (file, *(file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm", ".lock"))):
                    path.unlink(missing_ok=True)
        stems = {name.removesuffix(".db") for name in names}
        for file in self.folder(store).glob("report-*.*"):
            if file.name.split("-")[1] not in stems:
                file.unlink(missing_ok=True)
        if (db := self._open(store)) is not None:
            gone = {run_id for (run_id,) in db.execute("SELECT DISTINCT run FROM numbers")} - known
            db.executemany("DELETE FROM numbers WHERE run = ?", [(run_id,) for run_id in gone])


def file_name(run_id: str) -> str:
    """Return the name of the file by which the samples of a run are found."""
    return f"{digest_bytes(run_id.encode(errors='replace'))[:16]}.db"


def _connect(path: Path, *, fresh: bool = False) -> sqlite3.Connection | None:
    if fresh:
        path.unlink(missing_ok=True)
    try:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")
        db.execute(_SCHEMA)
    except (sqlite3.Error, OSError):
        return None
    return db
