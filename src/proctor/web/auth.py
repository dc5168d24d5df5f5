"""Who may ask for a page, and what every answer says to the browser.

The app listens on this machine only, unless the user opens it to the network, where anybody can send it requests. Pages of
other sites in the same browser can do so everywhere. So: only the names of this machine are answered (a foreign name would be
DNS rebinding), everybody needs a token, a write needs a second one that other sites cannot know, and a page may load nothing but
what lies here.
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from proctor.core.sentence import Sentence, say
from proctor.i18n import LANGUAGES, speak

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_BYTES = 256_000  # of a request
BODY_SECONDS = 20.0  # from its head to its end
MOST_FIELDS = 200
LANGUAGE_COOKIE = "proctor-lang"
SAFE_METHODS = frozenset({"GET", "HEAD"})
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the pages: `decides` is for an adjudicator, who sees all labels."""

    name: str
    reviews: bool = True
    decides: bool = False


class Session(NamedTuple):
    """A browser that came in by a link; `csrf` is in every form it is sent."""

    person: Person
    csrf: str


class Access:
    """The tokens of one server, which live as long as it does, and the names it answers to.

    Attributes:
        cookie: the name of the cookie; the port is in it, as cookies do not tell two servers of a machine apart.
    """

    def __init__(self, port: int, hosts: Iterable[str] = ()) -> None:
        """Make the tokens of a server.

        Args:
            port: where it listens.
            hosts: its names on the network, next to those of this machine; none where it listens on this machine only.
        """
        self._hosts = HOSTS | {host.lower() for host in hosts}
        self._is_open = self._hosts != HOSTS
        self.cookie = f"proctor-{port}"
        self._person_by_link: dict[str, Person] = {}
        self._person_by_token: dict[str, Person] = {}
        self._sessions: dict[str, Session] = {}

    def answers(self, host: str, server: str) -> bool:
        """True if the name in a request's Host header is one of this server.

        On the network, so is the address that the request was sent to: an attacker's page can make a browser send the
        attacker's name here, but no address other than this one.
        """
        name = _host_name(host)
        return name in self._hosts or (self._is_open and name == server)

    def link(self, person: Person) -> str:
        """Return a path that signs a browser in, once."""
        token = secrets.token_urlsafe(24)
        self._person_by_link[token] = person
        return f"/enter?token={token}"

    def token(self, person: Person) -> str:
        """Return a token for programs, sent as `Authorization: Bearer`."""
        token = secrets.token_urlsafe(32)
        self._person_by_token[token] = person
        return token

    def enter(self, token: str) -> str | None:
        """Use a link up: the value of the cookie, None when the link is unknown or was used."""
        person = self._person_by_link.pop(token, None)
        if person is None:
            return None
        key = secrets.token_urlsafe(32)
        self._sessions[key] = Session(person, secrets.token_urlsafe(24))
        return key

    def session(self, headers: Headers) -> Session | None:
        """Return the session of a request; a program with a token has no `csrf`, as no browser sends its token by itself."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            person = self._person_by_token.get(token.strip())
            return Session(person, "") if person is not None else None
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return self._sessions.get(morsel.value) if morsel is not None else None


class Guard:
    """Wraps the whole app: it refuses what may not pass, and adds the security headers to every response."""

    def __init__(self, app: "ASGIApp", access: Access, lang: str, *, follows_browser: bool = False) -> None:
        self._app = app
        self._access = access
        self._lang = lang
        self._follows_browser = follows_browser

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        scope.setdefault("state", {})["lang"] = self._language(scope)
        body = b""
        answer = self._answer(scope)  # before the body: of a stranger nothing is read
        if answer is None:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await _body(scope, receive)
            except _NotWhole as error:
                answer = PlainTextResponse(speak(error.why, scope["state"]["lang"]), error.status)
            except TimeoutError:
                answer = PlainTextResponse(speak(say("The request took too long."), scope["state"]["lang"]), 408)
            else:
                answer = self._answer_to_write(scope, body)
        if answer is not None:
            if scope["method"] not in SAFE_METHODS:
                answer.headers["connection"] = "close"  # what is left of the body is not waited for
            await answer(scope, receive, send_guarded)
            return
        read = False

        async def receive_again() -> "Message":
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive_again, send_guarded)

    def _answer(self, scope: "Scope") -> Response | None:
        """Return the refusal of a request that may not come in, or the answer to a link; None lets it in."""
        headers = Headers(scope=scope)

        def refuse(status: int, why: Sentence) -> Response:
            return PlainTextResponse(speak(why, scope["state"]["lang"]), status)

        if not self._access.answers(headers.get("host", ""), (scope.get("server") or ("", 0))[0]):
            return refuse(400, say("This host name is not answered here."))
        path: str = scope["path"]
        if path.startswith("/static/"):
            return None
        session = self._access.session(headers)
        if path == "/enter":
            if scope["method"] != "GET" or "prefetch" in headers.get("sec-purpose", ""):
                return PlainTextResponse("", 405)
            return self._enter(scope, came_in=session is not None) or refuse(
                401,
                say(
                    "This link was used already, or is of an earlier start. Press Enter in the terminal for a new one."
                ),
            )
        if session is None:
            return refuse(401, say("Open the link that the terminal shows. Press Enter there for a new one."))
        scope["state"]["session"] = session
        return None

    def _answer_to_write(self, scope: "Scope", body: bytes) -> Response | None:
        session: Session | None = scope["state"].get("session")
        if scope["method"] in SAFE_METHODS or session is None or not session.csrf:
            return None
        if _is_ours(Headers(scope=scope), body, session.csrf):
            return None
        why = say("This write did not come from a page of this server.")
        return PlainTextResponse(speak(why, scope["state"]["lang"]), 403)

    def _enter(self, scope: "Scope", *, came_in: bool) -> Response | None:
        token = _query(scope, "token")
        key = self._access.enter(token)
        if key is None and not came_in:
            return None
        home = RedirectResponse("/", 303)
        if key is not None:
            home.set_cookie(self._access.cookie, key, httponly=True, samesite="strict", path="/")
        return home

    def _language(self, scope: "Scope") -> str:
        """Return the language asked for in the address, else the one chosen before, that of the browser, or that of the server."""
        asked = _query(scope, "lang")
        headers = Headers(scope=scope)
        try:
            chosen = SimpleCookie(headers.get("cookie", "")).get(LANGUAGE_COOKIE)
        except CookieError:
            chosen = None
        accepted = accepted_language(headers.get("accept-language", "")) if self._follows_browser else ""
        known = (one for one in (asked, chosen.value if chosen else "", accepted, self._lang) if one in LANGUAGES)
        return next(known, "en")


def accepted_language(header: str) -> str:
    """Return the supported language that a browser prefers; '' for none.

    >>> accepted_language("zh-CN,zh;q=0.9,en;q=0.8"), accepted_language("fr, en;q=0.2, zh;q=0.1"), accepted_language("de")
    ('zh', 'en', '')
    """
    wanted = []
    for part in header[:1_000].split(","):
        name, _, weight = part.partition(";")
        try:
            share = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            share = 0.0
        lang = name.strip().lower().partition("-")[0]
        if lang in LANGUAGES and share > 0:
            wanted.append((-share, lang))
    return min(wanted, default=(0.0, ""), key=lambda one: one[0])[1]


def session_of(request: Request) -> Session:
    """Return the session of a request."""
    session: Session = request.state.session
    return session


async def form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form, each once."""
    return _fields(await request.body())


def _query(scope: "Scope", name: str) -> str:
    try:
        fields = parse_qs(str(scope["query_string"], "latin-1"), max_num_fields=MOST_FIELDS)
    except ValueError:
        return ""
    return fields.get(name, [""])[0]


class _NotWhole(Exception):
    """A body that is not taken."""

    def __init__(self, status: int, why: Sentence) -> None:
        self.status = status
        self.why = why


async def _body(scope: "Scope", receive: "Receive") -> bytes:
    """Return all of the body.

    Raises:
        _NotWhole: it is too large, or ended before its length: half a comment is no comment.
    """
    length = Headers(scope=scope).get("content-length")
    if length is not None and (not (length.isascii() and length.isdigit()) or int(length[:20]) > MOST_BYTES):
        raise _NotWhole(413, say("The request is too large."))
    body = bytearray()
    more = True
    while more:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            raise _NotWhole(400, say("The request broke off."))
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise _NotWhole(413, say("The request is too large."))
    if length is not None and len(body) != int(length):
        raise _NotWhole(400, say("The request broke off."))
    return bytes(body)


def _host_name(host: str) -> str:
    """Return the name without the port: `[::1]:80` is `::1`."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_ours(headers: Headers, body: bytes, csrf: str) -> bool:
    """True if a write comes from a page of this server, by its origin and the token of its session."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin", "null")  # browsers say "null" where no referrer is sent
    if origin != "null" and urlsplit(origin).netloc != headers.get("host"):
        return False
    given = headers.get("x-csrf-token")
    if given is None:
        given = _fields(body).get("csrf", "")
    return secrets.compare_digest(given.encode(), csrf.encode())


def _fields(body: bytes) -> Mapping[str, str]:
    """Return the fields of a form; none if there are more than any of our forms has."""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}
