"""Note in the ledger who changed what: one line before it is done, one when it is answered; nothing of the body."""

import json
import re
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import Headers
from starlette.types import Message, Scope, Send

from proctor_web.users.ledger import AuditEntry, Ledger
from proctor_web.users.roles import SAFE_METHODS

MOST_CHARACTERS = 300  # of a path
MOST_BODY = 20_000  # of an answer in which the run is looked for


def note_entry(ledger: Ledger, scope: Scope, key: str) -> None:
    """Note that a user came in by a link, in a session of this key."""
    session = ledger.find("session", key)
    if session is not None:
        address = scope["state"]["address"]
        entry = AuditEntry(name=session.name, role=session.role, via="link", address=address, what="ENTER", status=303)
        ledger.note(entry)


class AuditRecord:
    """A write of a user that came in, as the audit log has it."""

    def __init__(self, ledger: Ledger, scope: Scope) -> None:
        self._ledger = ledger
        self._scope = scope
        self._id = ""  # of the line
        self._status = 500  # of an app that breaks before it answers
        self._location = ""
        self._body = b""

    @staticmethod
    def is_needed(scope: Scope) -> bool:
        """True for a write of a user; strangers are refused and not noted, or they could fill the log."""
        return scope["method"] not in SAFE_METHODS and scope["state"].get("session") is not None

    def begin(self, status: int) -> None:
        """Add the line; a status ends it, as that of a request that is refused."""
        person = self._scope["state"]["session"].person
        path: str = self._scope["path"]
        entry = AuditEntry(
            name=person.name,
            role=person.role,
            via=person.via,
            address=self._scope["state"]["address"],
            what=_in_a_line(f"{self._scope['method']} {path}")[:MOST_CHARACTERS],
            run=_in_a_line(_run_of(path)),
            status=status,
        )
        self._ledger.note(entry)
        self._id = entry.id

    def watching(self, send: Send) -> Send:
        """Return a `send` that also notes how the request is answered."""

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
                headers = Headers(raw=message["headers"])
                self._location = headers.get("location", "")
            elif len(self._body) < MOST_BODY:
                self._body += message.get("body", b"")
            await send(message)

        return watched

    def end(self) -> None:
        """Add how it was answered, and the run that it started."""
        is_start = self._scope["path"] in ("/runs", "/api/v1/runs", "/evalsets/run", "/api/v1/evalsets/runs")
        started = _run_of(unquote(urlsplit(self._location).path)) or _started(self._body) if is_start else ""
        self._ledger.note_end(self._id, self._status, started if self._status < 400 else "")


def _run_of(path: str) -> str:
    """Return the run that an address names, without its percent signs.

    >>> _run_of("/runs/a@b/stop"), _run_of("/api/v1/runs/a"), _run_of("/runs")
    ('a@b', 'a', '')
    """
    match = re.match(r"(?:/api/v1)?/runs/([^/]{1,200})(?:/|$)", path)
    return match[1] if match else ""


def _in_a_line(text: str) -> str:
    r"""Return a text without what ends a line or cannot be seen, as an address writes it: nobody makes up lines of the log.

    >>> _in_a_line("POST /runs/a\n2026 eve")
    'POST /runs/a%0A2026 eve'
    """
    return "".join(one if one.isprintable() else quote(one, errors="replace") for one in text)


def _started(body: bytes) -> str:
    try:
        data: Any = json.loads(body)
    except ValueError:
        return ""
    run = data.get("run") if isinstance(data, dict) else None
    return run if isinstance(run, str) else ""
