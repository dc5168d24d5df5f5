"""Connect to PostgreSQL, create the tables, and write through one connection that survives a cut line.

Error codes: https://www.postgresql.org/docs/15/errcodes-appendix.html.
"""

import os
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput, MissingExtra
from proctor.stores.encoding import Addition
from proctor.transport.redact import HIDDEN, redact
from proctor_adapters.postgresql import accept as accepting
from proctor_adapters.postgresql import queries
from proctor_adapters.postgresql.schema import MIGRATIONS, TABLES, VERSION

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

T = TypeVar("T")
PATIENCE_SECONDS = 60.0  # how long a database may be away while a run goes on
NOBODY_SECONDS = 10.0  # how long one is waited for at whose address nobody listens, which may be mistyped
LAYOUT_SECONDS = 60  # how long another client may keep us from changing the tables
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
RUN_LOCK = (
    0x50726F63  # "Proc": the first half of the advisory lock on a run, plus that of a shard; the second is its number
)
LAYOUT_LOCK = 0x50726F6300000000
DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_RESTARTS = re.compile("starting up|shutting down|not yet accepting|recovery mode|closed the connection unexpectedly")
_NOBODY = re.compile("Connection refused|No such file or directory|reset by peer|timeout expired|[Tt]emporary failure")
_SETTINGS = """
SET search_path TO proctor; SET synchronous_commit TO on; SET statement_timeout TO 0; SET lock_timeout TO 0; SET jit TO off;
SET tcp_keepalives_idle TO 30; SET tcp_keepalives_interval TO 10; SET tcp_keepalives_count TO 3
"""  # a database may have been set up with less; a machine that vanishes keeps its locks until TCP notices


def connect(address: str) -> "Connection":
    """Connect without implicit transactions.

    Raises:
        psycopg.OperationalError: it cannot be reached, or refuses.
        BadInput: the address is none.
        MissingExtra: psycopg is not installed.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError:
        raise MissingExtra("postgres", "A store in PostgreSQL") from None
    from proctor_adapters.postgresql.text import Escaped, EscapedBinary, Unescaped, UnescapedBinary

    try:
        asked = conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise BadInput(
            "{url} is no address of a PostgreSQL database: {error}. Write postgresql://USER@HOST:PORT/DATABASE.",
            url=shown(address),
            error=shown(str(error).strip().splitlines()[0]),
        ) from None
    options: dict[str, Any] = {**DEFAULTS, **asked, "application_name": f"proctor {_machine()} {os.getpid()}"}
    db = psycopg.connect(make_conninfo("", **options), autocommit=True)
    db.execute(_SETTINGS)
    for dumper in (Escaped, EscapedBinary):
        db.adapters.register_dumper(str, dumper)
    for loader in (Unescaped, UnescapedBinary):
        db.adapters.register_loader("text", loader)
    return db


def open_tables(address: str, patience: float) -> "Connection":
    """Connect to a store, whose tables are created or changed first where need be.

    A server that restarts is waited for; one that nobody has at this address for a moment only.

    Raises:
        BadInput: it cannot be reached, refuses, or its tables are those of a newer version.
        MissingExtra: psycopg is not installed.
    """
    restarts, nobody = Pauses(patience), Pauses(min(patience, NOBODY_SECONDS))
    while True:
        db = None
        try:
            db = connect(address)
            bring_up(db)
        except BaseException as error:
            was_cut = db is not None and db.closed
            if db is not None:
                db.close()
            if not isinstance(error, Exception) or (explained := explain(error, address)) is error:
                raise
            if was_cut or _RESTARTS.search(str(error)):
                is_awaited = restarts.wait()
            else:
                is_awaited = _NOBODY.search(str(error)) is not None and nobody.wait()
            if not is_awaited:
                raise explained from error
        else:
            return db


def shown(address: str) -> str:
    """Return an address, or a text that holds it, without its password, whatever signs that has.

    >>> shown("postgresql://me:hunt/er@22@db.example.org/evals")
    'postgresql://[hidden]@db.example.org/evals'
    """
    return redact(re.sub(r"(://[^:/@?\s]*):\S*@", rf"\1:{HIDDEN}@", address))


def execute(db: "Connection", query: str, values: Mapping[str, object]) -> "Cursor":
    """Run a statement that has `:name` for each value."""
    return db.execute(_named(query), values, binary=True)


@cache
def _named(query: str) -> bytes:
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", query).encode()


def bring_up(db: "Connection") -> None:
    """Create the tables where there are none; any number of clients may do so at once.

    Raises:
        BadInput: they are those of a newer version.
    """
    if (version := _version(db)) is None or version < VERSION:
        with db.transaction():
            db.execute(f"SET LOCAL lock_timeout TO '{LAYOUT_SECONDS}s'")
            db.execute("SELECT pg_advisory_xact_lock(%s)", (LAYOUT_LOCK,))
            if (version := _version(db)) is None:  # else another client was first
                db.execute(TABLES)
                db.execute("INSERT INTO layout VALUES (%s)", (VERSION,))
            for step in range(version or VERSION, VERSION):
                db.execute(MIGRATIONS[step])
            db.execute("UPDATE layout SET version = %s WHERE version < %s", (VERSION, VERSION))
            version = max(version or 0, VERSION)
    if version != VERSION:
        raise BadInput(
            "The store was written by a newer version of Proctor (layout {version}, this one knows {known}). Update Proctor, or name another database with --store.",
            version=version,
            known=VERSION,
        )


def _version(db: "Connection") -> int | None:
    # not to_regclass: after the wait for a lock it answers from a stale cache
    table = "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'proctor' AND relname = 'layout'"
    if db.execute(table).fetchone() is None:
        return None
    row = db.execute("SELECT version FROM proctor.layout").fetchone()
    return None if row is None else int(row[0])


def process_of(application: str | None) -> int:
    """Return the process that a connection is of; 0 if it is on another machine, or cannot be seen."""
    match (application or "").split(" "):
        case ["proctor", machine, pid] if machine == _machine() and pid.isdecimal():
            return int(pid)
        case _:
            return 0


@cache
def _machine() -> str:
    here = socket.gethostname()
    with suppress(OSError):  # machines may share a name, and containers a machine
        here += Path("/proc/sys/kernel/random/boot_id").read_text() + str(Path("/proc/self/ns/pid").readlink())
    return digest_bytes(here.encode(errors="replace"))[:12]


class Pauses:
    """Waits longer each time, until the patience is used up."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._until: float | None = None  # from the first failure on
        self._next = FIRST_PAUSE

    def wait(self) -> bool:
        """Sleep, or return False when there is no time left."""
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._patience
        left = self._until - now
        if left <= 0:
            return False
        time.sleep(min(self._next, left))
        self._next = min(2 * self._next, LONGEST_PAUSE)
        return True


class WritingConnection:
    """The connection that writes: a `_writer.Database`. It connects at the first write, and again when the line was cut.

    A cut leaves open whether the last transaction was committed. So each also stores its number; after connecting again, one
    that is there is not sent twice.
    """

    def __init__(self, address: str, patience: float) -> None:
        self._address = address
        self._patience = patience
        self._db: Connection | None = None
        self._id = uuid.uuid4()
        self._sent = self._there = 0  # the last transaction as known here, and as stored there
        self.epochs: dict[int, int] = {}
        self._shared: set[int] = set()  # the runs that others write at the same time
        self._parts: dict[int, int] = {}  # the shard of a run that is played here
        self._scorers: dict[str, int] = {}

    def hold(self, run: int, epoch: int, *, is_shared: bool = False, part: int = 0) -> None:
        """Note a run, or a part of it, that is open here: after a cut it is locked again, if nobody has begun it since."""
        self.epochs[run] = epoch
        self._parts[run] = part
        if is_shared:
            self._shared.add(run)
        else:
            self._shared.discard(run)

    def share(self, db: "Connection", run: int) -> None:
        """Turn this connection's exclusive lock on a run into a shared one."""
        lock(db, run, is_shared=True)
        db.execute("SELECT pg_advisory_unlock(%s, %s)", (RUN_LOCK, run))
        self.hold(run, self.epochs[run], is_shared=True, part=self._parts[run])

    def drop(self, run: int) -> None:
        """Forget a run that is not open here any more."""
        self.epochs.pop(run, None)
        self._shared.discard(run)
        self._parts.pop(run, None)

    def accept(self, additions: Sequence[Addition]) -> list[BadInput | None]:
        """Write trials; return for each why it was not accepted, or None."""
        self._learn_scorers(verdict.scorer for addition in additions for verdict in addition.verdicts)
        backwards = reversed(list(enumerate(additions)))
        places = list(
            {(addition.run, addition.name, addition.attempt): index for index, addition in backwards}.values()
        )
        new = [additions[index] for index in places]
        accepted = self._commit(lambda db, sent: accepting.accept_new(db, new, self.epochs, self._scorers, sent))
        is_unsure = accepted is None  # it was committed, but the line was cut before the answer came
        left = sorted(set(range(len(additions))) - {places[index] for index in accepted or ()})
        errors: list[BadInput | None] = [None] * len(additions)
        if left:
            for index, error in zip(left, self.transact(lambda db: self._accept_again(db, [additions[index] for index in left], is_unsure=is_unsure)), strict=True):  # fmt: skip
                errors[index] = error
        return errors

    def transact(self, work: "Callable[[Connection], T]") -> T:
        """Run a function in a transaction, again if the line was cut before it was committed."""
        results: list[T] = []

        def run(db: "Connection", sent: Mapping[str, object]) -> None:
            with db.transaction():
                results.append(work(db))
                db.execute("UPDATE writers SET sent = %(sent)s WHERE id = %(writer)s", sent)

        self._commit(run)
        return results[-1]

    def explain(self, error: Exception) -> Exception:
        return explain(error, self._address)

    def close(self) -> None:
        """Close the connection, which unlocks every run."""
        if self._db is not None:
            with suppress(Exception):  # the database is away
                self._db.execute("DELETE FROM writers WHERE id = %s", (self._id,))
                self._db.execute("SELECT pg_advisory_unlock_all()")  # the server notices the end of a connection later
            self._db.close()

    def _commit(self, work: "Callable[[Connection, Mapping[str, object]], T]") -> T | None:
        """Run what commits one transaction; return None if it was committed and the line was cut before that was known."""
        import psycopg

        pauses, is_tried = Pauses(self._patience), False
        while True:
            try:
                db = self._connected(pauses)
                if self._there > self._sent:
                    self._sent = self._there
                    if is_tried:
                        return None  # else it is the one before, which failed as far as its caller knows
                is_tried = True
                result = work(db, self._mark())
            except (
                psycopg.errors.TransactionRollback,
                psycopg.errors.SerializationFailure,
                psycopg.errors.DeadlockDetected,
            ):  # it met another transaction
                if not pauses.wait():
                    raise
            except psycopg.OperationalError:
                if self._db is not None and not self._db.closed:
                    raise
                self._db = None
                if not pauses.wait():
                    raise
            else:
                self._sent = self._there = self._sent + 1
                return result

    def _connected(self, pauses: Pauses) -> "Connection":
        if self._db is not None and not self._db.closed:
            return self._db
        db = connect(self._address)
        try:
            db.execute("DELETE FROM writers WHERE since < now() - interval '30 days'")
            db.execute("INSERT INTO writers (id, sent) VALUES (%s, 0) ON CONFLICT DO NOTHING", (self._id,))
            for run, epoch in self.epochs.items():
                part = self._parts.get(run, 0)
                if not _lock_again(db, run, epoch, pauses, is_shared=run in self._shared, part=part):
                    self.epochs[run] = -1  # nothing is written to it any more
                    unlock(db, run, part)
            # after the locks: what our last connection still did is done
            row = db.execute("SELECT sent FROM writers WHERE id = %s", (self._id,)).fetchone()
            self._there = self._sent if row is None else int(row[0])
        except BaseException:
            db.close()
            raise
        self._db = db
        return db

    def _mark(self) -> Mapping[str, object]:
        return {"writer": self._id, "sent": self._sent + 1}

    def _accept_again(
        self, db: "Connection", additions: Sequence[Addition], *, is_unsure: bool
    ) -> list[BadInput | None]:
        return [
            accepting.accept_again(db, addition, self.epochs, self._scorers, self._mark(), is_unsure=is_unsure)
            for addition in additions
        ]

    def _learn_scorers(self, names: Iterable[str]) -> None:
        if new := sorted(set(names) - self._scorers.keys()):
            self._scorers |= self.transact(lambda db: accepting.number_scorers(db, new))


def _lock_again(db: "Connection", run: int, epoch: int, pauses: Pauses, *, is_shared: bool, part: int) -> bool:
    """Lock a run for a new connection; False if another process has begun it since."""
    while True:
        is_locked = lock(db, run, is_shared=is_shared) and (not part or lock(db, run, part=part))
        if db.execute("SELECT epoch FROM runs WHERE id = %s", (run,)).fetchone() != (epoch,):
            return False
        if is_locked or not pauses.wait():  # our last connection may not be gone yet
            return is_locked


def lock(db: "Connection", run: int, *, is_shared: bool = False, part: int = 0) -> bool:
    """Try to lock a run, or a part of it, for this connection; others may share it, but not lock it alone."""
    function = "pg_try_advisory_lock_shared" if is_shared else "pg_try_advisory_lock"
    row = db.execute(f"SELECT {function}(%s, %s)", (RUN_LOCK + part, run)).fetchone()
    return row == (True,)


def unlock(db: "Connection", run: int, part: int = 0) -> None:
    """Unlock a run and a part of it, however often and in which way this connection has locked them."""
    for kind in {RUN_LOCK + part, RUN_LOCK}:
        for function in ("pg_advisory_unlock", "pg_advisory_unlock_shared"):
            while db.execute(f"SELECT {function}(%s, %s)", (kind, run)).fetchone() == (True,):
                pass


def holder(db: "Connection", run: int, part: int = 0) -> int | None:
    """Return the process that has a run, or a part of it, open, 0 if it is on another machine or cannot be seen; None if none has."""
    row = execute(db, queries.WRITER, {"kind": RUN_LOCK + part, "run": run}).fetchone()
    return None if row is None else process_of(row[0])


def explain(error: Exception, address: str) -> Exception:
    """Return an error of the database as a `BadInput`; one that the user cannot mend is returned unchanged."""
    if isinstance(error, BadInput):  # such as a missing psycopg
        return error
    import psycopg
    from psycopg import errors

    if not isinstance(error, psycopg.Error):
        return error
    url, why = shown(address), shown((str(error).strip() or type(error).__name__).splitlines()[0].rstrip("."))
    match error:
        case errors.DiskFull():
            return BadInput(
                "The disk of the database {url} is full. What was acknowledged is kept; make room and continue the run.",
                url=url,
            )
        case errors.LockNotAvailable():
            return BadInput(
                "The tables in the database {url} are of an older version and cannot be changed: another client has kept them locked for {seconds} seconds, such as a backup or a long transaction. Wait until it is done, or end it, and try again.",
                url=url,
                seconds=LAYOUT_SECONDS,
            )
        case errors.InvalidPassword() | errors.InvalidAuthorizationSpecification():
            return BadInput("The database {url} refuses the user or the password: {error}", url=url, error=why)
        case errors.TooManyConnections():
            return BadInput(
                "The database {url} takes no more connections. End other clients, or raise max_connections.", url=url
            )
        case errors.InsufficientPrivilege():
            return BadInput(
                "The user may not do that in the database {url}: {error}. To write, it needs the rights to create a schema, or to write to the tables of the schema proctor.",
                url=url,
                error=why,
            )
        case errors.ReadOnlySqlTransaction():
            return BadInput("The database {url} cannot be written: it is read-only, such as a copy.", url=url)
        case errors.ProgramLimitExceeded():
            return BadInput("A name is longer than the database {url} allows: {error}.", url=url, error=why)
        case psycopg.OperationalError():
            return BadInput(
                "The database {url} cannot be reached: {error}. What was acknowledged is kept; check the address and the server, then continue.",
                url=url,
                error=why,
            )
        case _:
            return error
