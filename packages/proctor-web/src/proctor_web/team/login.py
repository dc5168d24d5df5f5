"""The pages of a login by OpenID Connect: off to the provider, and back.

What is compared on the way back is in a signed cookie of the browser, so that nothing is stored for strangers, and a login that
one browser began cannot be finished by another.
"""

import base64
import hmac
import time
from collections.abc import Mapping, Sequence

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from proctor.core.sentence import Sentence, say
from proctor_web.app import page
from proctor_web.auth import Access, cookies_of
from proctor_web.guard import no_role, set_session_cookie
from proctor_web.team.oidc import Begun, LoginFailed, LoginRefused, Provider
from proctor_web.users.ledger import AuditEntry, Person

LOGIN_SECONDS = 600
MOST_NEXT = 2_000  # characters of an address to come back to
MOST_UNDERWAY = 4  # logins that a browser has begun: each is a cookie in all of its requests


class Underway(msgspec.Struct, frozen=True, array_like=True):
    """A login that a browser began."""

    state: str
    nonce: str
    verifier: str
    next: str
    until: float


class Login:
    """A login that asks a provider."""

    def __init__(self, provider: Provider, access: Access) -> None:
        self._provider = provider
        self._access = access
        self._key = access.ledger.key("login")
        self._redirect = f"{access.url}/login/callback"

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/login", self.begin), Route("/login/callback", self.finish)]

    async def begin(self, request: Request) -> Response:
        """Send the browser to the provider."""
        try:
            begun = await self._provider.begin(self._redirect)
        except LoginFailed as error:
            return _message(request, 502, error.sentence)
        until = time.time() + LOGIN_SECONDS
        next = local_address(request.query_params.get("next", ""))
        kept = Underway(begun.state, begun.nonce, begun.verifier, next, until)
        answer = RedirectResponse(begun.url, 303)
        answer.set_cookie(
            self._cookie(begun.state),
            self._signed(kept),
            max_age=LOGIN_SECONDS,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self._access.is_secure,
        )
        for name in self._too_old(cookies_of(request.headers)):
            self._forget(answer, name)
        return answer

    async def finish(self, request: Request) -> Response:
        """Take the browser back, and let its user in."""
        given = dict(request.query_params)
        state = given.get("state", "")
        kept = self._read(cookies_of(request.headers).get(self._cookie(state), ""))
        if kept is None or not hmac.compare_digest(kept.state.encode(), state.encode(errors="replace")):
            why = say("This login was begun in another browser, or took too long. Sign in again.")
            return _message(request, 400, why)
        try:
            user = await self._provider.finish(given, Begun("", kept.state, kept.nonce, kept.verifier), self._redirect)
        except LoginFailed as error:
            return _message(request, 403 if isinstance(error, LoginRefused) else 502, error.sentence)
        role = self._access.role(user.name, user.groups)
        await run_in_threadpool(self._note, request, user.name, role or "")
        if role is None:
            return _message(request, 403, no_role(user.name))
        person = Person(name=user.name, groups=user.groups, via="login")
        key = await run_in_threadpool(self._access.open_session, person)
        answer = RedirectResponse(kept.next, 303)
        set_session_cookie(answer, self._access, key)
        self._forget(answer, self._cookie(state))
        return answer

    def _note(self, request: Request, name: str, role: str) -> None:
        entry = AuditEntry(
            name=name,
            role=role or "-",
            via="login",
            address=request.state.address,
            what="LOGIN" if role else "LOGIN REFUSED",
            status=303 if role else 403,
        )
        self._access.ledger.note(entry)

    def _too_old(self, cookies: Mapping[str, str]) -> Sequence[str]:
        """Return the cookies of logins that were begun before the newest ones, and those that are none."""
        begun = {name: self._read(value) for name, value in cookies.items() if name.startswith(self._cookie(""))}
        newest = sorted(begun, key=lambda name: kept.until if (kept := begun[name]) is not None else 0.0, reverse=True)
        return [name for rank, name in enumerate(newest) if rank >= MOST_UNDERWAY - 1 or begun[name] is None]

    def _forget(self, answer: Response, name: str) -> None:
        answer.delete_cookie(name, path="/", secure=self._access.is_secure, httponly=True)

    def _cookie(self, state: str) -> str:
        name = "".join(character for character in state[:8] if character.isascii() and character.isalnum())
        return f"{self._access.cookie}-login-{name}"  # a tab each

    def _signed(self, kept: Underway) -> str:
        body = base64.urlsafe_b64encode(msgspec.json.encode(kept)).decode()
        return f"{body}.{hmac.digest(self._key, body.encode(), 'sha256').hex()}"

    def _read(self, cookie: str) -> Underway | None:
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(hmac.digest(self._key, body.encode(), "sha256").hex().encode(), signature.encode()):
            return None
        kept = msgspec.json.decode(base64.urlsafe_b64decode(body), type=Underway)
        return kept if kept.until > time.time() else None


def local_address(text: str) -> str:
    r"""Return an address of this server to come back to; the first page if it would lead elsewhere.

    >>> local_address("/runs/a?x=1"), local_address("//evil.example"), local_address("/\\evil.example"), local_address("https://a")
    ('/runs/a?x=1', '/', '/', '/')
    """
    is_local = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_local and len(text) <= MOST_NEXT and not text.startswith("/login") else "/"


def _message(request: Request, status: int, said: Sentence) -> Response:
    return page(request, "message.html.jinja", status=status, said=said)
