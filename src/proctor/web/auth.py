"""Who may ask for a page, and what every answer says to the browser.

The app listens on this machine only, unless the user opens it to the network, where anybody can send it requests. Pages of
other sites in the same browser can do so everywhere. So: only the names of this machine are answered (a foreign name would be
DNS rebinding), everybody needs a token, a write needs a second one that other sites cannot know, and a page may load nothing but
what lies here.
"""

import asyncio
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from proctor.core.sentence import Sentence, say
from proctor.i18n import LANGUAGES, speak
from proctor.web.attempts import Attempts
from proctor.web.login_proxy import LoginProxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_BYTES = 256_000  # of a request, if its path is not given more
BODY_SECONDS = 20.0  # from its head to its end
MOST_FIELDS = 2_000
LANGUAGE_COOKIE = "proctor-lang"
THEME_COOKIE = "proctor-theme"
THEMES = ("auto", "light", "dark")
KEPT_SECONDS = 31_536_000  # how long a browser remembers them
API = "/api/"
KIND_BY_STATUS = {
    400: "bad_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    422: "invalid",
    429: "too_many_attempts",
    500: "internal",
}
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

    def __init__(
        self,
        port: int,
        hosts: Iterable[str] = (),
        *,
        aliases: Iterable[str] = (),
        login_proxy: LoginProxy | None = None,
    ) -> None:
        """Make the tokens of a server.

        Args:
            port: where it listens.
            hosts: its names on the network, next to those of this machine; none where it listens on this machine only.
            aliases: names by which a proxy passes requests on.
            login_proxy: who names the users, so that they need no link.
        """
        self._is_open = not HOSTS.issuperset(host.lower() for host in hosts)
        self._hosts = HOSTS | {host.lower() for host in (*hosts, *aliases)}
        self._login_proxy = login_proxy
        self._secret = secrets.token_bytes(32)
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

    def session(self, headers: Headers, client: str = "") -> Session | None:
        """Return the session of a request; a program with a token has no `csrf`, as no browser sends its token by itself."""
        token = bearer(headers)
        if token is not None:
            person = self._person_by_token.get(token)
            return Session(person, "") if person is not None else None
        user = self._login_proxy.user(headers, client) if self._login_proxy is not None else None
        if user is not None:
            return Session(Person(name=user), hmac.digest(self._secret, user.encode(), "sha256").hex())
        return self._sessions.get(cookies_of(headers).get(self.cookie, ""))


def cookies_of(headers: Headers) -> Mapping[str, str]:
    """Return the cookies of a request; none if they cannot be read."""
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def bearer(headers: Headers) -> str | None:
    """Return the token of a program, '' if it sent none of use; None for a browser."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


class Guard:
    """Wraps the whole app: it refuses what may not pass, and adds the security headers to every response."""

    def __init__(
        self,
        app: "ASGIApp",
        access: Access,
        lang: str,
        *,
        follows_browser: bool = False,
        read_only: bool = False,
        most_bytes: Mapping[str, int] | None = None,
    ) -> None:
        """Wrap an app.

        Args:
            read_only: refuse every write.
            most_bytes: of a request, by what its path begins with.
        """
        self._app = app
        self._access = access
        self._lang = lang
        self._follows_browser = follows_browser
        self._read_only = read_only
        self._most_bytes = most_bytes or {}
        self._attempts = Attempts()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                for name, value in chosen.items():
                    headers.append(
                        "set-cookie", f"{name}={value}; HttpOnly; Max-Age={KEPT_SECONDS}; Path=/; SameSite=strict"
                    )
            await send(message)

        cookies = cookies_of(Headers(scope=scope))
        scope.setdefault("state", {})["lang"] = self._language(scope, cookies)
        scope["state"]["theme"] = _first_known(THEMES, _query(scope, "theme"), cookies.get(THEME_COOKIE, ""))
        chosen: Mapping[str, str] = {}
        body = b""
        answer = self._answer(scope)  # before the body: of a stranger nothing is read
        if answer is None:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await _body(scope, receive, self._most(scope["path"]))
            except _NotWhole as error:
                answer = _refusal(scope, error.status, error.why)
            except TimeoutError:
                answer = _refusal(scope, 408, say("The request took too long."))
            else:
                answer = self._answer_to_write(scope, body)
        if answer is not None:
            if scope["method"] not in SAFE_METHODS:
                answer.headers["connection"] = "close"  # what is left of the body is not waited for
            await answer(scope, receive, send_guarded)
            return
        chosen = _choices(scope)
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
        client: str = (scope.get("client") or ("", 0))[0]
        if not self._access.answers(headers.get("host", ""), (scope.get("server") or ("", 0))[0]):
            return _refusal(scope, 400, say("This host name is not answered here."))
        path: str = scope["path"]
        if path.startswith("/static/"):
            return None
        if path == "/enter" and not _is_opened(scope, headers):
            return _refusal(scope, 405, say("This cannot be done here (status {status}).", status=405))
        token = _query(scope, "token") if path == "/enter" else bearer(headers)
        waits = self._attempts.seconds_to_wait(client) if token is not None else 0
        if waits:
            refused = _refusal(scope, 429, say("Too many wrong tokens. Try again in {seconds} seconds.", seconds=waits))
            refused.headers["retry-after"] = str(waits)
            return refused
        session = self._access.session(headers, client)
        answer = self._enter(token or "", came_in=session is not None) if path == "/enter" else None
        if answer is None and session is None:
            if token:
                self._attempts.count(client, token)
            return _refusal(
                scope,
                401,
                say("This link was used already, or is of an earlier start. Press Enter in the terminal for a new one.")
                if path == "/enter"
                else say("Open the link that the terminal shows. Press Enter there for a new one."),
            )
        scope["state"]["session"] = session
        return answer

    def _answer_to_write(self, scope: "Scope", body: bytes) -> Response | None:
        session: Session | None = scope["state"].get("session")
        if scope["method"] in SAFE_METHODS or session is None:
            return None
        if self._read_only:
            return _refusal(scope, 403, say("Nothing can be changed here: the server was started with --read-only."))
        if not session.csrf or _is_ours(Headers(scope=scope), body, session.csrf):
            return None
        return _refusal(scope, 403, say("This write did not come from a page of this server."))

    def _most(self, path: str) -> int:
        return max((most for prefix, most in self._most_bytes.items() if path.startswith(prefix)), default=MOST_BYTES)

    def _enter(self, token: str, *, came_in: bool) -> Response | None:
        key = self._access.enter(token)
        if key is None and not came_in:
            return None
        home = RedirectResponse("/", 303)
        if key is not None:
            home.set_cookie(self._access.cookie, key, httponly=True, samesite="strict", path="/")
        return home

    def _language(self, scope: "Scope", cookies: Mapping[str, str]) -> str:
        """Return the language asked for in the address, else the one chosen before, that of the browser, or that of the server."""
        accepted = accepted_language(Headers(scope=scope).get("accept-language", "")) if self._follows_browser else ""
        return _first_known(LANGUAGES, _query(scope, "lang"), cookies.get(LANGUAGE_COOKIE, ""), accepted, self._lang)


def _refusal(scope: "Scope", status: int, why: Sentence) -> Response:
    """Return an answer that says why not: JSON to programs, else a line of text."""
    text = speak(why, scope["state"]["lang"])
    if scope["path"].startswith(API):
        return JSONResponse({"error": {"message": text, "kind": KIND_BY_STATUS.get(status, "refused")}}, status)
    return PlainTextResponse(text, status)


def _is_opened(scope: "Scope", headers: Headers) -> bool:
    """True if a link was opened by a user: no preview, and no picture or frame in a page of another site."""
    return (
        scope["method"] == "GET"
        and "prefetch" not in headers.get("sec-purpose", "")
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _first_known(known: Sequence[str], *asked: str) -> str:
    return next((one for one in asked if one in known), known[0])


def _choices(scope: "Scope") -> Mapping[str, str]:
    """Return the cookies of what a user chooses with this request: a language, a theme."""
    asked = {LANGUAGE_COOKIE: (_query(scope, "lang"), LANGUAGES), THEME_COOKIE: (_query(scope, "theme"), THEMES)}
    return {name: value for name, (value, known) in asked.items() if value in known}


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


async def _body(scope: "Scope", receive: "Receive", most: int) -> bytes:
    """Return all of the body.

    Raises:
        _NotWhole: it is too large, or ended before its length: half a comment is no comment.
    """
    length = Headers(scope=scope).get("content-length")
    if length is not None and (not (length.isascii() and length.isdigit()) or int(length[:20]) > most):
        raise _NotWhole(413, say("The request is too large."))
    body = bytearray()
    more = True
    while more:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            raise _NotWhole(400, say("The request broke off."))
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
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
