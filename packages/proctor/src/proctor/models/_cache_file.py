"""The file of the reply cache: SQLite in WAL mode, for several processes at once, bounded by its size.

Nothing is lost that could not be asked for again, so commits do not wait for the disk. What was used least recently goes
first.
"""

import sqlite3
import time
from pathlib import Path

BUSY_SECONDS = 5.0
USED_SECONDS = 3_600  # a row that was used within the last hour is not marked again: reading seldom writes
AT_ONCE = 64  # rows that go at a time
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: a schema that is not ours

_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,
    used INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS replies_by_use ON replies (used);
"""


class CacheFile:
    """Bytes by key. Any error of SQLite goes up; to be used by one thread at a time.

    Args:
        most_bytes: how large the file may become.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # what a model said may be private
        self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._begin()
        except BaseException:
            self._db.close()
            raise

    def get(self, key: str) -> bytes | None:
        row = self._db.execute("SELECT data, used FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        data, used = row
        if time.time() - used > USED_SECONDS:
            self._db.execute("UPDATE replies SET used = ? WHERE key = ?", (int(time.time()), key))
        return bytes(data)

    def put(self, key: str, data: bytes) -> None:
        """Keep the data, and remove the least recently used if there is no room."""
        if len(data) > self._most_bytes // 10:
            return
        self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, int(time.time()), data))
        while self._bytes() > self._most_bytes:
            gone = self._db.execute(
                "DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies ORDER BY used, rowid LIMIT ?)",
                (AT_ONCE,),
            )
            if not gone.rowcount:
                break

    def remove(self, key: str) -> None:
        self._db.execute("DELETE FROM replies WHERE key = ?", (key,))

    def close(self) -> None:
        self._db.close()

    def _begin(self) -> None:
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = OFF")
                self._db.executescript(_TABLE)
            except sqlite3.OperationalError as error:  # for the change to WAL, SQLite itself does not wait
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _bytes(self) -> int:
        """Return the size of the pages in use; those that are free are used again."""
        count, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((count - free) * size)


def set_aside(path: Path) -> Path:
    """Rename a damaged file, and remove SQLite's files next to it; return the new name."""
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    path.rename(aside)
    for suffix in ("-wal", "-shm"):  # of the old file: a new one must not be given them
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    return aside
