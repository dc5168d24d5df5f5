"""The pages about users: one's own sessions and tokens, and for admins those of all and the audit log."""

from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor_web.app import page
from proctor_web.auth import Access, FormFields, person_name, post, session_of
from proctor_web.operations import convert, read_filter
from proctor_web.team.log import AuditFilter, PassId, ledger_of, list_audit, list_sessions, revoke_session
from proctor_web.users.roles import ROLE_NAMES, ROLES, VIA_NAMES, Role, is_enough, lesser
from proctor_web.workspace import NotFound, Workspace

MOST_DAYS = 365
USUAL_DAYS = 90
MOST_LABEL = 80
MOST_OWN = 50  # tokens of a user
WHAT_NAMES = {
    "LOGIN": say("signed in"),
    "LOGIN REFUSED": say("was refused: no role"),
    "POST /logout": say("signed out"),
    "ENTER": say("came in by a link"),
}


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """What a token is for, how many days it is valid, and the most that it may do."""

    label: str
    days: int = USUAL_DAYS
    role: Role = "reader"


def routes(workspace: Workspace, access: Access) -> Sequence[BaseRoute]:
    pages = _TeamPages(workspace, access)
    return [
        Route("/account", pages.account),
        post("/account/tokens", pages.make_token),
        post("/account/revoke", pages.revoke_own),
        post("/logout", pages.log_out),
        Route("/team", pages.team),
        post("/team/revoke", pages.revoke),
    ]


class _TeamPages:
    def __init__(self, workspace: Workspace, access: Access) -> None:
        self._workspace = workspace
        self._access = access

    def make_token(self, request: Request, fields: FormFields) -> Response:
        """Make a token and show it: once, as only its digest is stored."""
        try:
            token = self._token(request, convert({name: text for name, text in fields.items() if text}, NewToken))
        except BadInput as error:
            return self.account(request, wrong=error)
        return self.account(request, token=token)

    def _token(self, request: Request, given: NewToken) -> str:
        session = session_of(request)
        if not session.csrf:
            raise BadInput("A token cannot make tokens. Make it in the browser.")
        if not given.label.strip() or len(given.label) > MOST_LABEL or not given.label.isprintable():
            raise BadInput("Say in 1 to {most} characters what the token is for.", most=MOST_LABEL)
        if not 1 <= given.days <= MOST_DAYS:
            raise BadInput("A token is valid for 1 to {most} days.", most=MOST_DAYS)
        own = self._access.ledger.issued(session.person.name)
        if sum(one.kind == "token" for one in own) >= MOST_OWN:
            raise BadInput("You have {most} tokens. Revoke one first.", most=MOST_OWN)
        role = lesser(given.role, session.person.role)
        person = msgspec.structs.replace(session.person, role=role)
        return self._access.token(person, label=given.label.strip(), seconds=given.days * 86_400.0)

    def account(self, request: Request, *, token: str = "", wrong: BadInput | None = None) -> Response:
        """Show who one is here, and one's own sessions and tokens; also a new token, or why there is none."""
        person = session_of(request).person
        return page(
            request,
            "team/account.html.jinja",
            status=400 if wrong is not None else 200,
            issued=self._access.ledger.issued(person.name),
            token=token,
            wrong=wrong.sentence if wrong is not None else None,
            roles=[role for role in ROLES if is_enough(person.role, role)],
            role_names=ROLE_NAMES,
            via_names=VIA_NAMES,
            days=USUAL_DAYS,
            most_days=MOST_DAYS,
        )

    def revoke_own(self, request: Request, fields: FormFields) -> Response:
        """End a session or a token of one's own."""
        if not session_of(request).csrf:
            raise BadInput("A token ends no sessions and no tokens. Do it in the browser.")
        id = fields.get("id", "")
        if not self._access.ledger.revoke(id, name=person_name(request)):
            raise NotFound("There is no session or token '{id}'; it may have ended.", id=id)
        return RedirectResponse("/account", 303)

    def log_out(self, request: Request, _: FormFields) -> Response:
        self._access.close_session(request.headers)
        gone = page(request, "message.html.jinja", said=say("You are signed out."))
        gone.delete_cookie(self._access.cookie, path="/", secure=self._access.is_secure, httponly=True)
        return gone

    def team(self, request: Request) -> Response:
        given = read_filter(request, AuditFilter)
        return page(
            request,
            "team/team.html.jinja",
            sessions=list_sessions(self._workspace) if not given.after else [],
            log=list_audit(self._workspace, given),
            filter=given,
            is_kept=ledger_of(self._workspace).is_shared,
            role_names=ROLE_NAMES,
            via_names=VIA_NAMES,
            what_names=WHAT_NAMES,
        )

    def revoke(self, _: Request, fields: FormFields) -> Response:
        revoke_session(self._workspace, PassId(id=fields.get("id", "")))
        return RedirectResponse("/team", 303)
