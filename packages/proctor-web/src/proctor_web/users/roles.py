"""Who may do what: a reader looks, a runner also writes and starts, an admin also deletes runs and sees who did what.

`role_needed` is the one table. The guard asks it for every request, of pages and of programs alike, before anything reads the body.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from starlette.routing import compile_path

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.registry import unknown

Role = Literal["reader", "runner", "admin"]
ROLES: Sequence[Role] = ("reader", "runner", "admin")  # each may do what those before it may
ROLE_NAMES: Mapping[Role, Sentence] = {"reader": say("reader"), "runner": say("runner"), "admin": say("admin")}
VIA_NAMES: Mapping[str, Sentence] = {  # how users come in
    "link": say("link"),
    "login": say("login"),
    "proxy": say("proxy"),
    "token": say("token"),
}
SAFE_METHODS = frozenset({"GET", "HEAD"})
EVERYBODY = "*"
USER = "user:"
OF_ADMINS = (
    ("POST", "/runs/{run}/delete"),
    ("DELETE", "/api/v1/runs/{run}"),
    ("*", "/team"),
    ("*", "/team/{rest:path}"),
    ("*", "/api/v1/team/{rest:path}"),
)
OF_READERS = (  # writes that concern the user alone, or that a queue of reviews named the user for
    ("POST", "/logout"),
    ("POST", "/account/{rest:path}"),
    ("POST", "/review/{queue}/items-of/{rest:path}"),
)

OF_PASSES = (  # writes that a server that is read-only takes all the same: users sign out, and what was lost is revoked
    ("POST", "/logout"),
    ("POST", "/account/{rest:path}"),
    ("POST", "/team/revoke"),
    ("DELETE", "/api/v1/team/sessions/{id}"),
)


def _compiled(table: Sequence[tuple[str, str]]) -> Sequence[tuple[str, re.Pattern[str]]]:
    return [(method, compile_path(path)[0]) for method, path in table]  # as the routes themselves are compared


_OF_ADMINS, _OF_READERS, _OF_PASSES = _compiled(OF_ADMINS), _compiled(OF_READERS), _compiled(OF_PASSES)


def role_needed(method: str, path: str) -> Role:
    """Return the least role that may send a request; what is not listed is safe by its method, or a write of runners.

    >>> role_needed("GET", "/runs"), role_needed("POST", "/runs"), role_needed("DELETE", "/api/v1/runs/a")
    ('reader', 'runner', 'admin')
    """
    if _is_in(_OF_ADMINS, method, path):
        return "admin"
    return "reader" if method in SAFE_METHODS or _is_in(_OF_READERS, method, path) else "runner"


def is_about_passes(method: str, path: str) -> bool:
    """True if a write makes or ends what lets users in, and changes nothing that they look at."""
    return _is_in(_OF_PASSES, method, path)


def _is_in(table: Sequence[tuple[str, re.Pattern[str]]], method: str, path: str) -> bool:
    return any(allowed in ("*", method) and pattern.match(path) for allowed, pattern in table)


def is_enough(role: Role, needed: Role) -> bool:
    """True if a role may do what needs another one.

    >>> is_enough("admin", "runner"), is_enough("reader", "runner")
    (True, False)
    """
    return ROLES.index(role) >= ROLES.index(needed)


def lesser(one: Role, other: Role) -> Role:
    return one if is_enough(other, one) else other


class Grant(NamedTuple):
    """A role for a group, for a user (`user:NAME`), or for everybody whom the login lets in (`*`)."""

    role: Role
    who: str


class Grants:
    """The roles that were granted."""

    def __init__(self, grants: Sequence[Grant]) -> None:
        self._grants = grants

    def __bool__(self) -> bool:
        return bool(self._grants)

    def role(self, name: str, groups: Collection[str]) -> Role | None:
        """Return the highest role of a user; None for one who has none."""
        whose = {EVERYBODY, USER + name, *(group for group in groups if not group.startswith(USER))}
        return max((grant.role for grant in self._grants if grant.who in whose), key=ROLES.index, default=None)


def read_grants(texts: Sequence[str]) -> Grants:
    """Return the grants that options write as ROLE=WHO.

    Raises:
        BadInput: one cannot be read.

    >>> read_grants(["reader=*", "runner=ml-team", "admin=user:ann"]).role("ann", ["ml-team"])
    'admin'
    """
    grants: list[Grant] = []
    for text in texts:
        asked, separator, who = text.partition("=")
        if not separator or not who.strip() or who == USER:
            raise BadInput(
                "'{text}' is no grant. Write it as runner=GROUP, admin=user:NAME, or reader=* for everybody whom the login lets in.",
                text=text,
            )
        role = next((one for one in ROLES if one == asked), None)
        if role is None:
            raise BadInput(unknown("role", asked, [*ROLES], paths=False).sentence)
        grants.append(Grant(role, who.strip()))
    return Grants(grants)
