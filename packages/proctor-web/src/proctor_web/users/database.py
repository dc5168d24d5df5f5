"""Where a ledger is kept: a file next to a store in SQLite, or tables of their own in the database of a store."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "proctor_web"
LOCK = 0x50726F6300000001  # of the tables of a ledger, next to those of a store
SUFFIX = ".team"
_TABLES = """
CREATE TABLE IF NOT EXISTS keys (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE IF NOT EXISTS passes (
    digest text PRIMARY KEY, id text NOT NULL, kind text NOT NULL, name text NOT NULL,
    record text NOT NULL, created {real} NOT NULL, expires {real} NOT NULL
);
CREATE TABLE IF NOT EXISTS audit (
    id text PRIMARY KEY, at {real} NOT NULL, name text NOT NULL, role text NOT NULL, via text NOT NULL,
    address text NOT NULL, what text NOT NULL, run text NOT NULL
);
CREATE TABLE IF NOT EXISTS audit_ends (id text PRIMARY KEY, at {real} NOT NULL, status integer NOT NULL, run text NOT NULL);
CREATE INDEX IF NOT EXISTS audit_at ON audit (at, id);
"""
_REFUSED = "an audit log is only added to"
_APPEND_ONLY = """
CREATE TRIGGER IF NOT EXISTS {table}_{deed} BEFORE {deed} ON {table} BEGIN SELECT RAISE(ABORT, '{refused}'); END;
"""
_POSTGRES_APPEND_ONLY = """
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{refused}'; END $$;
CREATE OR REPLACE TRIGGER kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION refuse();
CREATE OR REPLACE TRIGGER kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_ends EXECUTE FUNCTION refuse();
"""


class LedgerFailed(BadInput):
    """A ledger cannot be read or written. Why is for the log of the server: it has the address of the database."""


class Database(Protocol):
    """Runs statements, each a transaction that is durable when it returns; any thread may call it."""

    def rows(self, query: str, **values: object) -> Sequence[tuple[Any, ...]]:
        """Run a statement that has `:name` for each value, and return its rows.

        Raises:
            LedgerFailed: the database cannot be reached or written.
        """

    def close(self) -> None:
        """Close it."""


def open_database(url: str, *, creates: bool = True) -> Database:
    """Open the database of the ledger that belongs to a store; it is made if it is not there.

    Raises:
        BadInput: it cannot be opened, or is not there and may not be made.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        return _InPostgres(url, creates=creates)
    path = rest if separator else url
    path = path if path == ":memory:" else f"{Path(path).expanduser()}{SUFFIX}"
    if not creates and not Path(path).is_file():
        raise _no_ledger(path)
    return InFile(path)


def _no_ledger(where: str) -> BadInput:
    return BadInput(
        "There is no ledger of users at {where}: proctor web makes it where a login proxy or a login provider names users.",
        where=where,
    )


class InFile:
    """A ledger in a file of SQLite, or in memory."""

    def __init__(self, path: str = ":memory:") -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            if path != ":memory:":
                Path(path).touch(mode=0o600)  # it holds who may come in
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=20)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            triggers = (
                _APPEND_ONLY.format(table=table, deed=deed, refused=_REFUSED)
                for table in ("audit", "audit_ends")
                for deed in ("UPDATE", "DELETE")
            )
            self._db.executescript(_TABLES.format(real="real") + "".join(triggers))
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from None

    def rows(self, query: str, **values: object) -> Sequence[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._explained(error) from None

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _explained(self, error: Exception) -> LedgerFailed:
        return LedgerFailed("The ledger of users {path} cannot be used: {error}.", path=self._path, error=error)


class _InPostgres:
    """A ledger in the schema `proctor_web`, through a connection that is made again when the line was cut."""

    def __init__(self, url: str, *, creates: bool) -> None:
        self._url = url
        self._creates = creates
        self._lock = threading.Lock()
        self._db: Connection[Any] | None = None
        self.rows("SELECT 1")

    def rows(self, query: str, **values: object) -> Sequence[tuple[Any, ...]]:
        import psycopg

        from proctor_adapters.postgresql.connection import explain, shown

        with self._lock:
            try:
                try:
                    return _fetched(self._connected(), query, values)
                except psycopg.OperationalError:
                    if self._db is not None and not self._db.closed:
                        raise
                    return _fetched(self._connected(), query, values)  # each statement of a ledger may be repeated
            except psycopg.Error as error:
                why = explain(error, self._url)
                if isinstance(why, BadInput):
                    raise LedgerFailed(why.sentence) from None
                raise LedgerFailed(
                    "The ledger of users {path} cannot be used: {error}.",
                    path=shown(self._url),
                    error=shown(str(error).splitlines()[0]),
                ) from None

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()

    def _connected(self) -> "Connection[Any]":
        from proctor_adapters.postgresql.connection import connect, shown

        if self._db is None or self._db.closed:
            db = connect(self._url)
            try:
                with db.transaction():
                    db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                    if db.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,)).fetchone() is None:
                        if not self._creates:
                            raise _no_ledger(shown(self._url))
                        db.execute(f"CREATE SCHEMA {SCHEMA}; SET LOCAL search_path TO {SCHEMA};")
                        db.execute(_TABLES.format(real="float8") + _POSTGRES_APPEND_ONLY.format(refused=_REFUSED))
                db.execute(f"SET search_path TO {SCHEMA}")
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db


def _fetched(db: "Connection[Any]", query: str, values: Mapping[str, object]) -> Sequence[tuple[object, ...]]:
    from proctor_adapters.postgresql.connection import execute

    cursor = execute(db, query, values)
    return cursor.fetchall() if cursor.description is not None else []
