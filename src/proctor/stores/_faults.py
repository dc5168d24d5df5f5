"""Turn errors of SQLite into messages that the user can act on.

Codes: https://www.sqlite.org/rescode.html, of SQLite 3.40.
"""

import sqlite3
from pathlib import Path

from proctor.core.errors import BadInput


def explain(error: sqlite3.Error, path: Path) -> Exception:
    """Return the error as a `BadInput`; one that the user cannot mend is returned unchanged."""
    code = getattr(error, "sqlite_errorcode", None)
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
                "The store {path} is damaged: {error}. Put back a copy of it, or name another file with --store.",
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
