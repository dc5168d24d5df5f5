"""Execute an agent's SQL in a worker process, on a MariaDB server that lives in the worker, or on SQLite; knows nothing of Proctor.

A server has no network, the worker's own temporary folder, and is gone with the worker. Every statement has a new connection
and is committed, as officially; an agent's user may only use its own database.
"""

import hashlib
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

MOST_CHARACTERS = 800  # of a reply; officially
DIGEST_CHARACTERS = 1024  # what MySQL's group_concat keeps
STATEMENT_SECONDS = float(os.environ.get("STATEMENT_SECONDS", "10"))
START_SECONDS = 60
LOOPBACK = "127.0.0.1"
SQLITE_PAGES = 16_384  # 64 MB
SQLITE_STEPS = 100_000  # between two looks at the clock
FILES = ("--innodb-log-file-size=4M", "--innodb-undo-tablespaces=0")
OPTIONS = (
    *FILES,
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_unicode_ci",
    f"--group-concat-max-len={DIGEST_CHARACTERS}",
    f"--max-statement-time={STATEMENT_SECONDS}",
    "--enforce-storage-engine=InnoDB",
    "--innodb-buffer-pool-size=16M",
    "--innodb-flush-log-at-trx-commit=0",
    "--max-connections=64",
    "--tmp-disk-table-size=64M",
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend:max:128M",  # a temporary table fills the disk else
    "--lock-wait-timeout=5",
)
_ids = count(1)
_server: "Server | None" = None


class Session(Protocol):
    """Where the statements about one table are executed."""

    def rows(self, sql: str) -> str: ...

    def close(self) -> None: ...


def open_table(table: Mapping[str, object], mariadbd: str | None, installer: str | None) -> "Table":
    """Return a new table, in MariaDB where there is a server program, else in SQLite."""
    return Table(table, mariadbd, installer)


class Table:
    """A table in a database of its own, which has the same name."""

    def __init__(self, table: Mapping[str, Any], mariadbd: str | None, installer: str | None) -> None:
        self._name: str = table["table_name"]
        self._columns = [column["name"] for column in table["table_info"]["columns"]]
        rows = table["table_info"]["rows"]
        self._session: Session = (
            InSqlite(self._name, self._columns, rows)
            if mariadbd is None or installer is None
            else InMariaDb(server(mariadbd, installer), self._name, self._columns, rows)
        )

    def execute(self, sql: str) -> str:
        """Return the official reply to a statement: the rows as Python writes them, or the error."""
        text = self._session.rows(sql)
        return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}[TRUNCATED]"

    def digest(self) -> str:
        """Return the digest of the table as it is now, in the form of a reply; rows without their nulls, in any order."""
        if isinstance(self._session, InSqlite):
            return self._session.digest(self._name, self._columns)
        return self.execute(digest_query(self._name, self._columns))

    def close(self) -> None:
        self._session.close()


def digest_query(name: str, columns: Sequence[str]) -> str:
    """Return the official query for the digest of a table."""
    listed = ",".join(map(_quoted, columns))
    return (
        "select md5(group_concat(rowhash order by rowhash)) as hash "  # noqa: S608
        f"from( SELECT substring(MD5(CONCAT_WS(',', {listed})), 1, 5) AS rowhash FROM {_quoted(name)}) as sub;"
    )


class Server:
    """A MariaDB server in the temporary folder."""

    def __init__(self, mariadbd: str, installer: str) -> None:
        folder = Path(os.environ.get("TMPDIR") or ".").absolute() / "mariadb"
        shutil.rmtree(folder, ignore_errors=True)  # of one that died
        folder.mkdir()
        self._where = _where(folder)
        log = folder / "log"
        own = [f"--datadir={folder / 'data'}", *(["--user=root"] if os.getuid() == 0 else [])]
        with log.open("wb") as said:
            made = subprocess.run([installer, "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", *own, *FILES], stdout=said, stderr=said, stdin=subprocess.DEVNULL, check=False)  # fmt: skip  # noqa: S603
            if made.returncode == 0:
                self._process = subprocess.Popen([mariadbd, "--no-defaults", *_listens(self._where), *own, *OPTIONS], stdout=said, stderr=said, stdin=subprocess.DEVNULL)  # fmt: skip  # noqa: S603
        until = time.monotonic() + START_SECONDS
        while made.returncode == 0 and time.monotonic() < until and self._process.poll() is None:
            with suppress(Exception), closing(self.connect("root")):
                return
            time.sleep(0.02)
        raise RuntimeError(f"MariaDB does not start: {log.read_text('utf-8', 'replace')[-1500:]}")

    def is_alive(self) -> bool:
        """True until the process has ended, for example of a full disk."""
        return self._process.poll() is None

    def kill_connection(self, number: int) -> None:
        """Kill the statement that a connection executes, because a statement can remove its own time limit."""
        with suppress(Exception), closing(self.connect("root")) as connection, connection.cursor() as cursor:
            _try(cursor, f"KILL {number}")

    def connect(self, user: str, database: str | None = None) -> Any:
        import pymysql

        where: dict[str, object] = {"unix_socket": self._where} if isinstance(self._where, str) else {"host": LOOPBACK, "port": self._where}  # fmt: skip
        return pymysql.connect(**where, user=user, database=database, charset="utf8mb4", ssl_disabled=True)


def _where(folder: Path) -> str | int:
    """Return where a server listens: a port of the loopback of a worker that has a network of its own, and no Unix sockets; else a socket in its folder, which nobody else may open."""
    try:
        socket.socket(socket.AF_UNIX).close()
    except OSError:
        with socket.create_server((LOOPBACK, 0)) as free:
            return int(free.getsockname()[1])
    return str(folder / "s")


def _listens(where: str | int) -> list[str]:
    if isinstance(where, str):
        return [f"--socket={where}", "--skip-networking"]
    return ["--socket=", f"--port={where}", f"--bind-address={LOOPBACK}"]


def server(mariadbd: str, installer: str) -> Server:
    """Return the server of this worker, started with its first table."""
    global _server  # noqa: PLW0603 (a worker is one process with one server)
    if _server is None or not _server.is_alive():
        _server = Server(mariadbd, installer)
    return _server


class InMariaDb:
    """A database of a server, and a user who may use only that."""

    def __init__(self, at: Server, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        self._server = at
        self._name = name
        self._user = f"agent{next(_ids)}"
        table, listed = _quoted(name), ",".join(map(_quoted, columns))
        pattern = table.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")  # of names, in a grant
        statements = [
            f"DROP DATABASE IF EXISTS {table}",
            f"CREATE DATABASE {table}",
            f"CREATE USER {self._user}@localhost",
            f"GRANT ALL ON {pattern}.* TO {self._user}@localhost",
            f"USE {table}",
            f"CREATE TABLE {table} ({','.join(f'{_quoted(column)} TEXT' for column in columns)})",
        ]
        marks = ",".join(f"({','.join(['%s'] * len(row))})" for row in rows)
        values = [_as_text(value) for row in rows for value in row]
        with closing(at.connect("root")) as connection, connection.cursor() as cursor:
            for sql in statements:
                _try(cursor, sql)
            _try(cursor, f"INSERT INTO {table} ({listed}) VALUES ".replace("%", "%%") + marks, values)  # noqa: S608
            connection.commit()

    def rows(self, sql: str) -> str:
        import pymysql

        with closing(self._connected()) as connection:
            watch = threading.Timer(STATEMENT_SECONDS + 1, self._server.kill_connection, (connection.thread_id(),))
            watch.start()
            try:
                with connection.cursor(pymysql.cursors.SSCursor) as cursor:
                    cursor.execute(f"use {_quoted(self._name)};")
                    cursor.execute(sql)
                    text = _head(cursor)
                connection.commit()
                return text
            except pymysql.MySQLError as error:
                return _official(error, _state(connection))
            except ValueError as error:  # a value that Python cannot hold, such as a date of the year 0
                return str(error)
            finally:
                watch.cancel()

    def _connected(self) -> Any:
        import pymysql

        try:
            return self._server.connect(self._user)
        except pymysql.OperationalError:  # the agent gave itself a password
            with closing(self._server.connect("root")) as connection, connection.cursor() as cursor:
                cursor.execute(f"ALTER USER {self._user}@localhost IDENTIFIED BY ''")
            return self._server.connect(self._user)

    def close(self) -> None:
        with closing(self._server.connect("root")) as connection, connection.cursor() as cursor:
            _try(cursor, f"DROP DATABASE IF EXISTS {_quoted(self._name)}")
            _try(cursor, f"DROP USER {self._user}@localhost")


def _try(cursor: Any, sql: str, values: Sequence[object] | None = None) -> None:
    """Execute a statement of ours; four official tables cannot be made, and are missing or empty officially too."""
    import pymysql

    with suppress(pymysql.MySQLError):
        cursor.execute(sql, values)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _state(connection: Any) -> str:
    """Return the SQLSTATE of the last error, which the client library does not tell."""
    import pymysql

    try:
        with connection.cursor() as cursor:
            cursor.execute("GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE")
            cursor.execute("SELECT @state")
            return str(cursor.fetchone()[0])
    except (pymysql.MySQLError, TypeError):
        return ""


def _official(error: Exception, state: str) -> str:
    """Return an error as the official client library writes it."""
    if len(error.args) < 2:
        return str(error)
    number, text = error.args[:2]
    return f"{number} ({state}): {text}" if state else f"{number}: {text}"


class InSqlite:
    """A table in memory; the dialect differs from that of MySQL."""

    def __init__(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._until = 0.0
        table = _quoted(name)
        self._database.execute(f"PRAGMA max_page_count={SQLITE_PAGES}")
        marks = ",".join("?" * len(columns))
        with suppress(sqlite3.Error):  # some official tables cannot be made, and some not filled, which are empty then
            self._database.execute(
                f"CREATE TABLE {table} ({','.join(f'{_quoted(column)} TEXT' for column in columns)})"
            )
            self._database.execute("BEGIN")
            self._database.executemany(f"INSERT INTO {table} VALUES ({marks})", [[_as_text(value) for value in row] for row in rows])  # fmt: skip  # noqa: S608
            self._database.execute("COMMIT")
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
        self._database.set_progress_handler(lambda: time.monotonic() > self._until, SQLITE_STEPS)
        self._database.set_authorizer(_allow)
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)

    def rows(self, sql: str) -> str:
        self._until = time.monotonic() + STATEMENT_SECONDS
        try:
            return _head(self._database.execute(sql.replace("\\'", "''")))
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            return str(error)
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    def digest(self, name: str, columns: Sequence[str]) -> str:
        """Return what the query of MariaDB would."""
        listed = ",".join(f"CAST({_quoted(column)} AS TEXT)" for column in columns)
        self._until = time.monotonic() + STATEMENT_SECONDS
        try:
            rows = self._database.execute(f"SELECT {listed} FROM {_quoted(name)}").fetchall()  # noqa: S608
        except sqlite3.Error as error:
            return str(error)
        hashes = sorted(_md5(",".join(value for value in row if value is not None))[:5] for row in rows)
        whole = _md5(",".join(hashes)[:DIGEST_CHARACTERS]) if hashes else None
        return str([(whole,)])

    def close(self) -> None:
        self._database.close()


def _as_text(value: object) -> object:
    """Return a number as the official client writes it; its 10.0 stays 10.0."""
    return value if value is None or isinstance(value, str) else repr(value)


def _head(rows: Iterable[object]) -> str:
    """Return the rows as Python writes them, as many as a reply can show."""
    read, characters = [], 0
    for row in rows:
        read.append(row)
        characters += len(str(row))
        if characters > MOST_CHARACTERS:
            break
    return str(read)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _allow(action: int, *_: object) -> int:
    """Deny what reaches files or the settings of the connection."""
    denied = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA)
    return sqlite3.SQLITE_DENY if action in denied else sqlite3.SQLITE_OK
