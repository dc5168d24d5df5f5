"""Let requests in or refuse them, and tell the browser what it may do.

The app listens on this machine only, unless the user opens it to the network, where anybody can send it requests. Pages of
other sites in the same browser can do so everywhere. So: only the names of this machine are answered (a foreign name would be
DNS rebinding), everybody needs a token, a write needs a second one that other sites cannot know, and a page may load nothing but
what lies here.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.core.sentence import Sentence, say
from proctor.i18n import LANGUAGES, speak
from proctor.runtime.visible import visible
from proctor_web.attempts import Attempts
from proctor_web.auth import MOST_FIELDS, Access, WebSession, bearer, cookies_of, is_ours
from proctor_web.failures import API, failure, is_for_programs
from proctor_web.users.audit import AuditRecord, note_entry
from proctor_web.users.database import LedgerFailed
from proctor_web.users.roles import ROLE_NAMES, SAFE_METHODS, is_about_passes, is_enough, role_needed

T = TypeVar("T")
_LOG = logging.getLogger("proctor_web")
MOST_BYTES = 256_000  # of a request, if its path is not given more
BODY_SECONDS = 20.0  # from its head to its end
MOST_BYTES_BY_PATH = dict.fromkeys(  # below which a whole eval-set file comes in, or what a user attaches to a message
    (f"{API}/evalsets", f"{API}/chats", "/evalsets", "/chat", "/apps", "/dev/apps", "/run", "/run_sse"), 16_000_000
)
AGAIN_SECONDS = 10.0  # after which a user is looked up again while an answer is being sent
LANGUAGE_COOKIE = "proctor-lang"
THEME_COOKIE = "proctor-theme"
THEMES = ("auto", "light", "dark")
KEPT_SECONDS = 31_536_000  # how long a browser remembers them
PUBLIC = ("/login", "/login/callback")  # where an app has such pages, they are for those who have no session yet
HEALTH = "/healthz"
HEALTH_SECONDS = 5.0
FOR = {"reader": say("readers"), "runner": say("runners"), "admin": say("admins")}
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


class Guard:
    """Wraps the whole app: it refuses what may not pass, and adds the security headers to every response."""

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        lang: str,
        *,
        follows_browser: bool = False,
        read_only: bool = False,
        most_bytes: Mapping[str, int] | None = None,
        page: "Callable[[Scope, int, Sentence], Response] | None" = None,
    ) -> None:
        """Wrap an app.

        Args:
            read_only: refuse every write, but those about sessions and tokens.
            most_bytes: of a request, by the path that it is below.
            page: makes the page that says to a browser, with a status, why it is refused; None is a line of text.
        """
        self._app = app
        self._access = access
        self._lang = lang
        self._follows_browser = follows_browser
        self._read_only = read_only
        self._most_bytes = most_bytes or {}
        self._page = page
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-cache"  # kept, and asked for again only whether it changed
                for name, value in chosen.items():
                    headers.append(
                        "set-cookie", f"{name}={value}; HttpOnly; Max-Age={KEPT_SECONDS}; Path=/; SameSite=strict"
                    )
            await send(message)

        cookies = cookies_of(Headers(scope=scope))
        scope.setdefault("state", {})["lang"] = self._language(scope, cookies)
        scope["state"]["theme"] = _first_known(THEMES, _query(scope, "theme"), cookies.get(THEME_COOKIE, ""))
        chosen: Mapping[str, str] = {}
        answer, body = await self._read(scope, receive)
        answer, record = await self._note(scope, answer)
        if answer is not None:
            if scope["method"] not in SAFE_METHODS:
                answer.headers["connection"] = "close"  # what is left of the body is not waited for
            await answer(scope, receive, send_guarded)
            return
        session: WebSession | None = scope["state"].get("session")
        if session is not None and session.csrf:  # a browser
            chosen = _choices(scope)
        read = False

        async def receive_again() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        try:
            await self._serve(
                scope, receive_again, record.watching(send_guarded) if record is not None else send_guarded
            )
        finally:
            if record is not None:
                with suppress(LedgerFailed):  # its beginning is noted
                    await run_in_threadpool(record.end)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer; what it sends for long, such as events, ends when the user may not see it any more."""
        asked = time.monotonic()
        is_over = False

        async def send_to_user(message: Message) -> None:
            nonlocal asked, is_over
            if not is_over and message["type"] == "http.response.body" and time.monotonic() - asked > AGAIN_SECONDS:
                is_over = not await self._may_go_on(scope)
                asked = time.monotonic()
            if not is_over:
                await send(message)
            elif not limit.expired():
                limit.reschedule(0)

        try:
            async with asyncio.timeout(None) as limit:
                await self._app(scope, receive, send_to_user)
        except TimeoutError:
            if not is_over:
                raise
        if is_over:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _may_go_on(self, scope: Scope) -> bool:
        """True if the user of a request may still send it; also while the ledger cannot be read."""
        if scope["state"].get("session") is None:
            return True
        client: str = (scope.get("client") or ("", 0))[0]
        with suppress(LedgerFailed):
            session = await self._ask(self._access.session, Headers(scope=scope), client)
            return session is not None and is_enough(session.person.role, role_needed(scope["method"], scope["path"]))
        return True

    async def _read(self, scope: Scope, receive: Receive) -> tuple[Response | None, bytes]:
        """Return the answer to a request that does not reach the app, or None and its body."""
        try:
            answer = await self._answer(scope)  # before the body: of a stranger nothing is read
        except LedgerFailed as error:
            return self._refusal(scope, 503, unanswered(error)), b""
        if answer is not None:
            return answer, b""
        path = f"{scope['path']}/"
        most = max((most for part, most in self._most_bytes.items() if path.startswith(f"{part}/")), default=MOST_BYTES)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _body(scope, receive, most)
        except _NotWhole as error:
            return self._refusal(scope, error.status, error.why), b""
        except TimeoutError:
            return self._refusal(scope, 408, say("The request took too long.")), b""
        return self._answer_to_write(scope, body), body

    async def _note(self, scope: Scope, answer: Response | None) -> tuple[Response | None, AuditRecord | None]:
        """Begin the line of a write in the audit log; what cannot be noted is not done."""
        if not self._access.ledger.is_shared or not AuditRecord.is_needed(scope):
            return answer, None
        record = AuditRecord(self._access.ledger, scope)
        try:
            await run_in_threadpool(record.begin, answer.status_code if answer is not None else 0)
        except LedgerFailed as error:
            return self._refusal(scope, 503, unanswered(error)), None
        return answer, record

    async def _ask(self, call: "Callable[..., T]", *given: object) -> T:
        """Call what reads the ledger: in a thread, if it may have to wait for a database."""
        return await run_in_threadpool(call, *given) if self._access.ledger.is_shared else call(*given)

    async def _health(self, scope: Scope) -> Response:
        """Answer whether the server can serve: its ledger has to answer, where it has one of its own."""
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                await self._ask(self._access.ledger.check)
        except TimeoutError:
            return self._refusal(scope, 503, say("The request took too long."))
        return PlainTextResponse("ok")

    async def _answer(self, scope: Scope) -> Response | None:
        """Return the refusal of a request that may not come in, or the answer to a link; None lets it in."""
        headers = Headers(scope=scope)
        client: str = (scope.get("client") or ("", 0))[0]
        scope["state"]["address"] = address = self._access.address(headers, client)
        if not self._access.answers(headers.get("host", ""), (scope.get("server") or ("", 0))[0]):
            return self._refusal(scope, 400, say("This host name is not answered here."))
        path: str = scope["path"]
        is_public = self._access.has_login and path in PUBLIC and scope["method"] in SAFE_METHODS
        if path.startswith("/static/") or is_public:
            return None
        if path == HEALTH:
            return await self._health(scope)
        if path == "/enter" and not _is_opened(scope, headers):
            return self._refusal(scope, 405, say("This cannot be done here (status {status}).", status=405))
        token = _query(scope, "token") if path == "/enter" else bearer(headers)
        waits = self._attempts.seconds_to_wait(address) if token is not None else 0
        if waits:
            why = say("Too many wrong tokens. Try again in {seconds} seconds.", seconds=waits)
            refused = self._refusal(scope, 429, why)
            refused.headers["retry-after"] = str(waits)
            return refused
        session = await self._ask(self._access.session, headers, client)
        answer = await self._enter(scope, token or "", came_in=session is not None) if path == "/enter" else None
        if answer is None and session is None:
            return self._answer_to_stranger(scope, headers, token or "")
        scope["state"]["session"] = session  # also of one that is refused below: that is noted
        if answer is not None or session is None:
            return answer
        person, needed = session.person, role_needed(scope["method"], path)
        if not f"{path}/".startswith(f"{person.only}/"):
            return RedirectResponse(f"{person.only}/", 303)
        if is_enough(person.role, needed):
            return None
        why = say("Your role here is {role}; this is for {needed}.", role=ROLE_NAMES[person.role], needed=FOR[needed])
        return self._refusal(scope, 403, why)

    def _answer_to_stranger(self, scope: Scope, headers: Headers, token: str) -> Response:
        """Send a browser to the login, where there is one; refuse all else, and count the tokens that were wrong."""
        path, has_login = scope["path"], self._access.has_login
        if token:
            self._attempts.count(scope["state"]["address"], token)
        elif has_login and path != "/enter" and not is_for_programs(path) and _is_opened(scope, headers):
            query = str(scope["query_string"], "latin-1")
            came_to = quote(path) + (f"?{query}" if query else "")  # a sample may be called a?b
            return RedirectResponse(f"/login?next={quote(came_to, safe='')}", 303)
        elif (user := self._access.proxied(headers, (scope.get("client") or ("", 0))[0])) is not None:
            return self._refusal(scope, 403, no_role(user.name))
        if path == "/enter":
            why = say(
                "This link was used already, or is of an earlier start. Press Enter in the terminal for a new one."
            )
        elif has_login:
            why = say("You are not signed in, or your session has ended. Sign in at {url}.", url=self._access.url)
        else:
            why = say("Open the link that the terminal shows. Press Enter there for a new one.")
        return self._refusal(scope, 401, why)

    def _answer_to_write(self, scope: Scope, body: bytes) -> Response | None:
        session: WebSession | None = scope["state"].get("session")
        if scope["method"] in SAFE_METHODS or session is None:
            return None
        if self._read_only and not is_about_passes(scope["method"], scope["path"]):
            why = say("Nothing can be changed here: the server was started with --read-only.")
            return self._refusal(scope, 403, why)
        if not session.csrf or is_ours(Headers(scope=scope), body, session.csrf):
            return None
        return self._refusal(scope, 403, say("This write did not come from a page of this server."))

    async def _enter(self, scope: Scope, token: str, *, came_in: bool) -> Response | None:
        key = await self._ask(self._access.enter, token)
        if key is None and not came_in:
            return None
        home = RedirectResponse("/", 303)
        if key is not None:
            set_session_cookie(home, self._access, key)
            if self._access.ledger.is_shared:
                await run_in_threadpool(note_entry, self._access.ledger, scope, key)
        return home

    def _refusal(self, scope: Scope, status: int, why: Sentence) -> Response:
        """Return an answer that says why not: JSON to programs, a page to a browser that opens one, else a line of text."""
        headers = Headers(scope=scope)
        if is_for_programs(scope["path"]):
            return failure(status, speak(why, scope["state"]["lang"]))
        if self._page is not None and "text/html" in headers.get("accept", "") and "hx-request" not in headers:
            return self._page(scope, status, why)
        return PlainTextResponse(speak(why, scope["state"]["lang"]), status)

    def _language(self, scope: Scope, cookies: Mapping[str, str]) -> str:
        """Return the language asked for in the address, else the one chosen before, that of the browser, or that of the server."""
        accepted = accepted_language(Headers(scope=scope).get("accept-language", "")) if self._follows_browser else ""
        return _first_known(LANGUAGES, _query(scope, "lang"), cookies.get(LANGUAGE_COOKIE, ""), accepted, self._lang)


def no_role(name: str) -> Sentence:
    """Say to a user whom a login named that nothing is granted to them."""
    return say("{name} has no role here. Ask an admin for one, or sign in as another user.", name=name)


def set_session_cookie(response: Response, access: Access, key: str) -> None:
    """Have a browser keep its session, until it is closed."""
    response.set_cookie(access.cookie, key, httponly=True, samesite=access.same_site, secure=access.is_secure, path="/")


def unanswered(error: LedgerFailed) -> Sentence:
    """Log why the ledger cannot be used, and return what anybody may know."""
    _LOG.error("%s", visible(str(error)))
    return say("The database of the server does not answer. Try again soon.")


def _is_opened(scope: Scope, headers: Headers) -> bool:
    """True if a link was opened by a user: no preview, and no picture or frame in a page of another site."""
    return (
        scope["method"] == "GET"
        and "prefetch" not in headers.get("sec-purpose", "")
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _first_known(known: Sequence[str], *asked: str) -> str:
    return next((choice for choice in asked if choice in known), known[0])


def _choices(scope: Scope) -> Mapping[str, str]:
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


def _query(scope: Scope, name: str) -> str:
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


async def _body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return all of the body, unless it is too large or ended before its length: half a comment is no comment."""
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
