"""The ledger of a server: what lets people in (links, sessions, tokens), and who did what.

A secret is stored as its digest only. Servers on one ledger share its sessions, and what is revoked is refused by all at once.
"""

import hashlib
import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from proctor_web.users.database import Database, InFile
from proctor_web.users.roles import Role

Kind = Literal["link", "session", "token"]
LINK_SECONDS = 30 * 86_400.0
MOST_ENTRIES = 1_000  # of the audit log that are read at once
_ENTRIES = """
SELECT audit.id, audit.at, audit.name, role, via, address, what, coalesce(nullif(audit_ends.run, ''), audit.run), coalesce(status, 0)
FROM audit LEFT JOIN audit_ends ON audit_ends.id = audit.id
WHERE (CAST(:name AS text) = '' OR audit.name = :name)
AND (CAST(:run AS text) = '' OR :run IN (audit.run, audit_ends.run)
    OR :in_a_store IN (substr(audit.run, 1, CAST(:most_of_it AS integer)), substr(audit_ends.run, 1, CAST(:most_of_it AS integer))))
AND (CAST(:since AS text) = '' OR (audit.at, audit.id) < (SELECT at, id FROM audit WHERE id = :since))
ORDER BY audit.at DESC, audit.id DESC LIMIT :most
"""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the pages: `decides` is for an adjudicator, who sees all labels; `only` begins the addresses they may open.

    Attributes:
        role: the most that they may do; a user with groups may do no more than is granted to those.
        groups: those that the login named; None for one that came in by a link of the server.
        via: how they came in.
    """

    name: str
    reviews: bool = True
    decides: bool = False
    only: str = ""
    role: Role = "admin"
    groups: tuple[str, ...] | None = None
    via: str = "link"


class Pass(Person, frozen=True, kw_only=True):
    """What lets the browser or a program of a user in.

    Attributes:
        label: what a token is for.
        csrf: is in every form that a browser is sent; '' for a program.
    """

    label: str = ""
    csrf: str = ""


class Issued(msgspec.Struct, frozen=True, kw_only=True):
    """A session or a token that is valid, or a link that was not used yet; its secret is known to its user only."""

    id: str
    kind: Kind
    name: str
    via: str
    label: str
    created: float
    expires: float


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the audit log: who asked for what, from where, on which run, and how it ended.

    Attributes:
        via: how the user came in: by a link, a login, a token or a proxy.
        status: of the answer; 0 while there is none, or when the server ended before it.
    """

    id: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex)
    at: float = msgspec.field(default_factory=time.time)
    name: str
    role: str
    via: str
    address: str
    what: str
    run: str = ""
    status: int


class Ledger:
    """Any thread may use it; a server without a team has one in memory, and keeps no audit log."""

    def __init__(
        self,
        database: Database | None = None,
        *,
        session_seconds: float = float("inf"),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.is_shared = database is not None
        self._database = database or InFile()
        self.session_seconds = min(session_seconds, 1e10)
        self._clock = clock

    def issue(self, kind: Kind, given: Pass, *, seconds: float | None = None) -> str:
        """Store a pass and return its secret."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        self._database.rows("DELETE FROM passes WHERE expires <= :now", now=now)
        self._database.rows(
            "INSERT INTO passes VALUES (:digest, :id, :kind, :name, :record, :now, :expires) ON CONFLICT DO NOTHING",
            digest=_digest(secret),
            id=secrets.token_hex(6),
            kind=kind,
            name=given.name,
            record=msgspec.json.encode(given).decode(),
            now=now,
            expires=now + (self.session_seconds if seconds is None else seconds),
        )
        return secret

    def find(self, kind: Kind, secret: str) -> Pass | None:
        """Return a pass that is valid."""
        query = "SELECT record FROM passes WHERE digest = :digest AND kind = :kind AND expires > :now"
        return self._pass(query, kind, secret)

    def take(self, kind: Kind, secret: str) -> Pass | None:
        """Return a pass and use it up: of several that ask at once, one gets it."""
        query = "DELETE FROM passes WHERE digest = :digest AND kind = :kind AND expires > :now RETURNING record"
        return self._pass(query, kind, secret)

    def _pass(self, query: str, kind: Kind, secret: str) -> Pass | None:
        rows = self._database.rows(query, digest=_digest(secret), kind=kind, now=self._clock()) if secret else []
        return msgspec.json.decode(rows[0][0], type=Pass) if rows else None

    def issued(self, name: str | None = None) -> Sequence[Issued]:
        """Return the valid sessions and tokens, of a user or of all, the newest first."""
        return [one for one, _ in self._issued() if one.kind != "link" and name in (None, one.name)]

    def issued_for(self, only: str) -> Sequence[Issued]:
        """Return the links and sessions that let people in to these addresses only, the newest first."""
        return [one for one, record in self._issued() if record.only == only]

    def _issued(self) -> Iterator[tuple[Issued, Pass]]:
        rows = self._database.rows(
            "SELECT id, kind, name, record, created, expires FROM passes WHERE expires > :now ORDER BY created DESC, id",
            now=self._clock(),
        )
        for id, kind, whose, record, created, expires in rows:
            one = msgspec.json.decode(record, type=Pass)
            yield (
                Issued(id=id, kind=kind, name=whose, via=one.via, label=one.label, created=created, expires=expires),
                one,
            )

    def revoke(self, id: str, *, name: str | None = None) -> bool:
        """End a session or a token, of a user or of anybody; False if there was none."""
        query = "DELETE FROM passes WHERE id = :id AND (:any = 1 OR name = :name) RETURNING id"
        return bool(self._database.rows(query, id=id, any=int(name is None), name=name or ""))

    def key(self, name: str) -> bytes:
        """Return a random key that all servers on the ledger share."""
        value = secrets.token_hex(32)
        self._database.rows("INSERT INTO keys VALUES (:name, :value) ON CONFLICT DO NOTHING", name=name, value=value)
        return bytes.fromhex(self._database.rows("SELECT value FROM keys WHERE name = :name", name=name)[0][0])

    def note(self, entry: AuditEntry) -> None:
        """Add a line to the audit log, before what it says is done."""
        self._database.rows(
            "INSERT INTO audit VALUES (:id, :at, :name, :role, :via, :address, :what, :run) ON CONFLICT DO NOTHING",
            **{name: value for name, value in msgspec.structs.asdict(entry).items() if name != "status"},
        )
        if entry.status:
            self.note_end(entry.id, entry.status)

    def note_end(self, id: str, status: int, run: str = "") -> None:
        query = "INSERT INTO audit_ends VALUES (:id, :at, :status, :run) ON CONFLICT DO NOTHING"
        self._database.rows(query, id=id, at=self._clock(), status=status, run=run)

    def entries(self, *, name: str = "", run: str = "", since: str = "", most: int = 100) -> Sequence[AuditEntry]:
        """Return lines of the audit log, the newest first; `since` is the id of the last one that was returned before.

        A run without a store is looked for in all: `a` is also `a@STORE`.
        """
        in_a_store = f"{run}@"
        rows = self._database.rows(
            _ENTRIES,
            name=name,
            run=run,
            in_a_store=in_a_store,
            most_of_it=len(in_a_store),
            since=since,
            most=max(1, min(most, MOST_ENTRIES)),
        )
        return [AuditEntry(**dict(zip(AuditEntry.__struct_fields__, row, strict=True))) for row in rows]

    def check(self) -> None:
        """Ask the database for an answer.

        Raises:
            LedgerFailed: it gives none.
        """
        self._database.rows("SELECT 1")

    def close(self) -> None:
        self._database.close()


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
