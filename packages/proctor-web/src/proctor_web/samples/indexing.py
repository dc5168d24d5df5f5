"""Write the file by which the samples of a run are found: a process of low priority that reads the store, or a thread for a small run.

`python -m proctor_web.samples.indexing STORE RUN FILE`
"""

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from proctor.core.task import Store
from proctor.core.trial import StoredTrial
from proctor_web.samples.index_file import ATTEMPT_BITS, FORMAT, SCHEMA, Entries, IndexEntry, connect, entry, meta_of

CHUNK = 2_000  # trials in a transaction; the first ones are few, so that something is there soon
FIRST_CHUNK = 100
CHUNK_CHARACTERS = 8_000_000
STALE_SHARE, LEAST_STALE = 0.1, 100  # of rows that were entered again; with more, the file is rewritten
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}  # codes of files that are no such file
CACHE_KIB = 64_000
PAGE_BYTES = 16_384  # rows that are looked through are among others on the disk; so fewer reads bring them
NICENESS = 15


def bring_up(store: Store, run_id: str, path: Path) -> None:
    """Enter what was stored since the file was written; one that cannot be read, or is of another version, is rewritten.

    Nothing happens while another process is at it.
    """
    from filelock import FileLock, Timeout

    with suppress(Timeout), FileLock(f"{path}.lock", timeout=0):
        try:
            _bring_up(store, run_id, path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in DAMAGED:
                raise
            remove(path)
            _bring_up(store, run_id, path)


def remove(path: Path) -> None:
    """Delete the file with what SQLite keeps next to it."""
    for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        name.unlink(missing_ok=True)


def _bring_up(store: Store, run_id: str, path: Path) -> None:
    created = f"{store.run(run_id).created}"
    with closing(connect(path)) as db:
        db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        meta = meta_of(db)
        if meta.get("created") != created or int(meta["stale"]) > LEAST_STALE + STALE_SHARE * int(meta["rows"]):
            _start(db, created)
        while _pass(store, run_id, Entries(db)):
            pass


def _pass(store: Store, run_id: str, entries: Entries) -> bool:
    """Enter what was stored after the last whole pass; return True if that was the rest of a pass which was cut off."""
    meta = entries.meta
    version = store.version(run_id)  # what is stored from here on makes it another one
    if meta["version"] == version:
        return False
    entries.enter((), {"total": sum(store.outcomes(run_id).values())})
    after, start = int(meta["after"]), int(meta["position"])
    passing = int(meta["passing"])
    size = CHUNK if int(meta["rows"]) else FIRST_CHUNK
    for chunk in _chunks(store.stored(run_id, after=after, start=start), size=size):
        passing = passing or chunk.mark
        entries.enter(chunk.entries, {"position": chunk.last + 1, "passing": passing})
    state = {"version": "" if start else version, "after": passing or after, "passing": 0, "position": 0}
    entries.enter((), state)
    if not after:
        entries.optimise()
    return start > 0


def _start(db: sqlite3.Connection, created: str) -> None:
    db.execute("BEGIN IMMEDIATE")
    for (name,) in db.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('meta', 'facets', 'trials', 'shown', 'documents')"
    ).fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in SCHEMA.split(";\n"):
        db.execute(statement)
    first = {"format": FORMAT, "created": created, "version": "", "scorers": "[]"}
    counts = dict.fromkeys(("after", "passing", "position", "rows", "stale", "total"), "0")
    db.executemany("INSERT INTO meta VALUES (?, ?)", (first | counts).items())
    db.execute("COMMIT")


class _Chunk(NamedTuple):
    """Trials that are entered together, the mark of their reading, and the position of the last."""

    entries: list[IndexEntry]
    mark: int
    last: int


def _chunks(stored: Iterable[StoredTrial], *, size: int) -> Iterator[_Chunk]:
    """Yield trials in chunks that end with a sample, so that a pass which is cut off can go on there."""
    chunk = _Chunk([], 0, 0)
    characters = 0
    for trial in stored:
        if (len(chunk.entries) >= size or characters > CHUNK_CHARACTERS) and trial.position != chunk.last:
            yield chunk
            chunk, size, characters = _Chunk([], 0, 0), CHUNK, 0
        if trial.trial.attempt < 1 << ATTEMPT_BITS:
            chunk.entries.append(entry(trial))
            characters += len(chunk.entries[-1].words)
        chunk = _Chunk(chunk.entries, trial.mark, trial.position)
    if chunk.entries:
        yield chunk


def main() -> None:
    from proctor.stores import open_store

    url, run_id, path = sys.argv[1:]
    if sys.platform != "win32":
        os.nice(NICENESS)
    with closing(open_store(url)) as store:
        bring_up(store, run_id, Path(path))


if __name__ == "__main__":
    main()
