"""Who may ask for a page: links, tokens, sessions, and the names the server answers to."""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser

from proctor.web.login_proxy import LoginProxy

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
MOST_FIELDS = 2_000


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the pages: `decides` is for an adjudicator, who sees all labels; `only` begins the addresses they may open."""

    name: str
    reviews: bool = True
    decides: bool = False
    only: str = ""


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
    """Return the cookies of a request, as browsers write them: those of other servers of this machine may hold anything."""
    return cookie_parser(headers.get("cookie", ""))


def bearer(headers: Headers) -> str | None:
    """Return the token of a program, '' if it sent none of use; None for a browser."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def session_of(request: Request) -> Session:
    """Return the session of a request."""
    session: Session = request.state.session
    return session


async def form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form, each once."""
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


def form_fields(body: bytes) -> Mapping[str, str]:
    """Return the fields of a form; none if there are more than any of our forms has."""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}
