"""What admins can ask for: who is signed in, who did what; and to end a session."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from proctor.core.errors import BadInput
from proctor_web.users.ledger import MOST_ENTRIES, AuditEntry, Issued, Ledger
from proctor_web.workspace import NotFound, Workspace


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter of the audit log: by user, by run, and after the last line of the previous page."""

    name: str = ""
    run: str = ""
    after: str = ""
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_ENTRIES)] = 100


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of the audit log, the newest first; `next` is `after` of the next page, '' where there is none."""

    entries: Sequence[AuditEntry]
    next: str = ""


class PassId(msgspec.Struct, frozen=True, kw_only=True):
    """A session or a token, by its id."""

    id: str


def ledger_of(workspace: Workspace) -> Ledger:
    """Return the ledger of the server that serves a workspace.

    Raises:
        BadInput: no server does.
    """
    if workspace.ledger is None:
        raise BadInput("No server keeps users here.")
    return workspace.ledger


def list_audit(workspace: Workspace, given: AuditFilter) -> AuditPage:
    """Return who changed what, the newest first."""
    ledger = ledger_of(workspace)
    entries = ledger.entries(name=given.name, run=given.run, since=given.after, most=given.count)
    return AuditPage(entries=entries, next=entries[-1].id if len(entries) == given.count else "")


def list_sessions(workspace: Workspace) -> list[Issued]:
    """Return the sessions and tokens that are valid, the newest first; none of their secrets is stored."""
    return [*ledger_of(workspace).issued()]


def revoke_session(workspace: Workspace, given: PassId) -> None:
    """End a session or a token at once, on every server of the ledger.

    Raises:
        NotFound: there is none of this id.
    """
    if not ledger_of(workspace).revoke(given.id):
        raise NotFound("There is no session or token '{id}'; it may have ended.", id=given.id)
