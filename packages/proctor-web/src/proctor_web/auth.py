"""Who may ask for a page: links, tokens, sessions, and the names the server answers to."""

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.routing import Route

from proctor_web.login_proxy import LoginProxy, Proxies, ProxyUser, is_address
from proctor_web.users.ledger import LINK_SECONDS, Ledger, Pass, Person
from proctor_web.users.roles import Grants, Role, lesser, read_grants

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_FIELDS = 2_000
TYPED = "_typed"  # the end of a field that is typed where no choice of a list is taken


class WebSession(NamedTuple):
    """A browser that came in; `csrf` is in every form it is sent."""

    person: Person
    csrf: str


class UserNaming(msgspec.Struct, frozen=True, kw_only=True):
    """Who names the users, and what those may do.

    Attributes:
        login_proxy: names the users, so that they need no link.
        proxies: those that say for whom they ask.
        grants: the roles of users that a proxy or a login names; none means that they may do everything.
        has_login: a browser that has no session is sent to the login.
    """

    login_proxy: LoginProxy | None = None
    proxies: Proxies | None = None
    grants: Grants | None = None
    has_login: bool = False


class Access:
    """The users who may access a server, and the host names that it answers to.

    Attributes:
        cookie: the name of the cookie; the port is in it, as cookies do not tell two servers of a machine apart.
        is_secure: browsers reach the server by TLS only, at the address `url`.
    """

    def __init__(
        self,
        port: int,
        hosts: Iterable[str] = (),
        *,
        aliases: Iterable[str] = (),
        naming: UserNaming = UserNaming(),  # noqa: B008 - frozen
        ledger: Ledger | None = None,
        url: str = "",
    ) -> None:
        """Open the doors of a server.

        Args:
            port: where it listens.
            hosts: its names on the network, next to those of this machine; none where it listens on this machine only.
            aliases: names by which a proxy passes requests on.
            ledger: where links, sessions and tokens are kept; None is in memory, for as long as the server lives.
            url: the address at which browsers reach it through a proxy.
        """
        self._is_open = not HOSTS.issuperset(host.lower() for host in hosts)
        self._hosts = HOSTS | {host.lower() for host in (*hosts, *aliases, *filter(None, [urlsplit(url).hostname]))}
        self._login_proxy = naming.login_proxy
        self._proxies = naming.proxies
        self._grants = naming.grants or read_grants(["admin=*"])
        self.ledger = ledger or Ledger()
        self.url = url.rstrip("/")
        self.has_login = naming.has_login
        self.is_secure = urlsplit(url).scheme == "https"
        # a login comes back from another site
        self.same_site: Literal["lax", "strict"] = "lax" if naming.has_login else "strict"
        shared = "__Host-proctor" if self.is_secure else "proctor-team"
        self.cookie = shared if self.url else f"proctor-{port}"
        self._secret = self.ledger.key("csrf")

    def answers(self, host: str, server: str) -> bool:
        """True if the name in a request's Host header is one of this server.

        On the network, so is the address that the request was sent to: an attacker's page can make a browser send the
        attacker's name here, but no address other than this one.
        """
        name = _host_name(host)
        return name in self._hosts or (self._is_open and name == server)

    def address(self, headers: Headers, client: str) -> str:
        """Return the address that a request comes from; one that the operator named as a proxy says it of others."""
        said = ",".join(headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()  # what the proxy itself added
        if not said or self._proxies is None or not self._proxies.include(client):
            return client
        return said if is_address(said) else client

    def whole_link(self, request: Request, person: Person) -> str:
        """Return a link with the address at which browsers reach the server."""
        return (self.url or f"{request.url.scheme}://{request.headers['host']}") + self.link(person)

    def link(self, person: Person) -> str:
        """Return a path that signs a browser in, once."""
        seconds = LINK_SECONDS if person.only else min(LINK_SECONDS, self.ledger.session_seconds)
        return f"/enter?token={self.ledger.issue('link', _pass_of(person), seconds=seconds)}"

    def token(self, person: Person, *, label: str = "", seconds: float | None = None) -> str:
        """Return a token for programs, sent as `Authorization: Bearer`; it lasts as long as a session unless said otherwise."""
        return self.ledger.issue("token", _pass_of(person, via="token", label=label), seconds=seconds)

    def enter(self, token: str) -> str | None:
        """Use a link up and return the value of the cookie; None when the link is unknown or was used."""
        found = self.ledger.take("link", token)
        return self.open_session(_person_of(found)) if found is not None else None

    def open_session(self, person: Person) -> str:
        """Return the value of the cookie of a new session."""
        return self.ledger.issue("session", _pass_of(person, csrf=secrets.token_urlsafe(24)))

    def close_session(self, headers: Headers) -> None:
        self.ledger.take("session", cookies_of(headers).get(self.cookie, ""))

    def role(self, name: str, groups: Sequence[str], most: Role = "admin") -> Role | None:
        """Return the role of a user that a proxy or a login names; None for one who has none."""
        granted = self._grants.role(name, groups)
        return None if granted is None else lesser(granted, most)

    def session(self, headers: Headers, client: str = "") -> WebSession | None:
        """Return the session of a request; a program with a token has no `csrf`, as no browser sends its token by itself."""
        token = bearer(headers)
        if token is not None:
            return self._granted(self.ledger.find("token", token))
        user = self.proxied(headers, client)
        if user is not None:
            csrf = hmac.digest(self._secret, user.name.encode(), "sha256").hex()
            return self._granted(Pass(name=user.name, groups=user.groups, via="proxy", csrf=csrf))
        return self._granted(self.ledger.find("session", cookies_of(headers).get(self.cookie, "")))

    def proxied(self, headers: Headers, client: str) -> ProxyUser | None:
        """Return the user that a login proxy names, who may have no role."""
        return self._login_proxy.user(headers, client) if self._login_proxy is not None else None

    def _granted(self, found: Pass | None) -> WebSession | None:
        """Return the session of a pass, with the role that is granted now: it may have changed since the login."""
        if found is None:
            return None
        role = found.role if found.groups is None else self.role(found.name, found.groups, found.role)
        return None if role is None else WebSession(_person_of(found, role), found.csrf)


def _pass_of(person: Person, **more: str) -> Pass:
    return Pass(**{**msgspec.structs.asdict(person), **more})


def _person_of(found: Pass, role: Role | None = None) -> Person:
    given = {name: getattr(found, name) for name in Person.__struct_fields__}
    return Person(**{**given, "role": role or found.role})


def cookies_of(headers: Headers) -> Mapping[str, str]:
    """Return the cookies of a request, as browsers write them: those of other servers of this machine may hold anything."""
    return cookie_parser(headers.get("cookie", ""))


def bearer(headers: Headers) -> str | None:
    """Return the token of a program, '' if it sent none of use; None for a browser."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def session_of(request: Request) -> WebSession:
    session: WebSession = request.state.session
    return session


def person_name(request: Request) -> str:
    """Return the name of the user who sent a request."""
    return session_of(request).person.name


class FormFields(dict[str, str]):
    """The fields of a form; of one that was sent several times, such as a list of ticks, the last value."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        super().__init__(with_typed({name: texts[-1] for name, texts in values.items()}))
        self._values = values

    def several(self, name: str) -> Sequence[str]:
        """Return all values of a field."""
        return self._values.get(name, ())


def post(path: str, write: Callable[[Request, FormFields], Response]) -> Route:
    """Return the route of a form: a thread calls `write` with the fields that were sent."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(write, request, form_fields(await request.body()))

    return Route(path, answer, methods=["POST"])


async def form(request: Request) -> FormFields:
    """Return the fields of a form."""
    return form_fields(await request.body())


def _host_name(host: str) -> str:
    """Return the name without the port: `[::1]:80` is `::1`."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_ours(headers: Headers, body: bytes, csrf: str) -> bool:
    """True if a write comes from a page of this server, by its origin and the token of its session."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin", "null")  # browsers say "null" where no referrer is sent
    if origin != "null" and urlsplit(origin).netloc != headers.get("host"):
        return False
    given = headers.get("x-csrf-token")
    if given is None:
        given = form_fields(body).get("csrf", "")
    return secrets.compare_digest(given.encode(), csrf.encode())


def form_fields(body: bytes) -> FormFields:
    """Return the fields of a form; none if there are more than any of our forms has."""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        fields = {}
    return FormFields(fields)


def with_typed(fields: Mapping[str, str]) -> dict[str, str]:
    """Return fields of a form in which a choice that was left open has what was typed next to it.

    >>> with_typed({"agent": "", "agent_typed": "openai:x", "task": "t", "task_typed": ""})
    {'agent': 'openai:x', 'task': 't'}
    """
    typed = {name.removesuffix(TYPED): text for name, text in fields.items() if name.endswith(TYPED)}
    plain = {name: text for name, text in fields.items() if not name.endswith(TYPED)}
    return {**plain, **{name: text for name, text in typed.items() if not plain.get(name)}} if typed else plain
