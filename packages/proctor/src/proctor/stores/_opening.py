"""Open the file of a store: create it, check it, bring it to this version; and explain what SQLite reports.

Result codes: https://www.sqlite.org/rescode.html, of SQLite 3.40.
"""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.stores._arrivals import prepare
from proctor.stores._migrations import migrate
from proctor.stores.schema import APPLICATION_ID, VERSION, create


def connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Connect without implicit transactions; the caller ensures that only one thread uses the connection at a time."""
    db = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    db.execute("PRAGMA synchronous = FULL")
    return db


def open_file(path: Path, busy_seconds: float, *, durable: bool = True) -> sqlite3.Connection:
    """Open the store in a file, which is created or brought to this version first.

    Args:
        durable: False for a file that ends with this process: nothing waits for the disk.

    Raises:
        BadInput: it is no store, is from a newer version, or cannot be opened.
    """
    if path.is_dir():
        raise BadInput("{path} is a folder, not a store. Name a file in it.", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            "The folder of the store {path} cannot be made: {error}. Name another file with --store.",
            path=path,
            error=error.strerror or error,
        ) from None
    db = None
    try:
        db = connect(path, busy_seconds)
        if not durable:
            db.execute("PRAGMA synchronous = OFF")
        _bring_up(db, path, busy_seconds)
        db.execute("PRAGMA temp_store = MEMORY")  # else every group of trials writes what would undo it into a file
        prepare(db)
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise explain(error, path) from error
        raise
    return db


def _bring_up(db: sqlite3.Connection, path: Path, busy_seconds: float) -> None:
    if _version(db, path) == VERSION:
        return
    if _version(db, path) == 0:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that deleting a run gives its room back
    _patiently(lambda: db.execute("PRAGMA journal_mode = WAL"), busy_seconds)
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db, path)  # another process may have been first
        if version == 0:
            create(db)
        elif version < VERSION:
            migrate(db, path, version)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


_LOOK = """
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id, pragma_user_version
"""  # one statement, as another process may be making the store


def _version(db: sqlite3.Connection, path: Path) -> int:
    """Return the version of the layout, 0 for an empty file."""
    row: tuple[int, int, int] = db.execute(_LOOK).fetchone()
    application, version, tables = row
    if application == 0 and version == 0 and not tables:
        return 0
    if application != APPLICATION_ID or version < 1:
        raise BadInput(
            "{path} is no store of Proctor but another SQLite file. Name another file with --store.", path=path
        )
    if version > VERSION:
        raise BadInput(
            "The store {path} was written by a newer version of Proctor (layout {version}, this one knows {known}). Update Proctor, or name another file with --store.",
            path=path,
            version=version,
            known=VERSION,
        )
    return version


def _patiently(work: Callable[[], object], seconds: float) -> None:
    """Try again while another process does the same: for the change to WAL, SQLite itself does not wait."""
    until = time.monotonic() + seconds
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def explain(error: sqlite3.Error, path: Path) -> Exception:
    """Return the error as a `BadInput`; one that the user cannot mend is returned unchanged."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None and "decode to UTF-8" in str(error):  # a text that Python cannot read
        code = sqlite3.SQLITE_CORRUPT
    match code & 0xFF if code is not None else None:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BadInput(
                "The store {path} is locked by another process. Wait until it is done, or end it, and try again.",
                path=path,
            )
        case sqlite3.SQLITE_FULL:
            return BadInput(
                "The disk of the store {path} is full. What was acknowledged is kept; make room and continue the run.",
                path=path,
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return BadInput(
                "The store {path} cannot be written: it is read-only. Change its rights, or name another store with --store.",
                path=path,
            )
        case sqlite3.SQLITE_NOTADB:
            return BadInput(
                "{path} is no store of Proctor: it is no SQLite file. Name another file with --store.", path=path
            )
        case sqlite3.SQLITE_CORRUPT:
            return BadInput(
                "The store {path} is damaged: {error}. `proctor runs check` lists what is; put back a copy of it, or copy the runs that can be read to another store.",
                path=path,
                error=error,
            )
        case sqlite3.SQLITE_CANTOPEN:
            return BadInput(
                "The store {path} cannot be opened: {error}. Check that its folder exists and can be written.",
                path=path,
                error=error,
            )
        case sqlite3.SQLITE_IOERR:
            return BadInput(
                "The store {path} could not be read or written: {error}. Check its disk and the limits on file size; what was acknowledged is kept.",
                path=path,
                error=error,
            )
        case _:
            return error
