"""Parse the address that a request goes to, and name the proxy on the way there."""

import os
import re
import sys
from base64 import b64encode
from urllib.parse import quote, unquote, urlsplit

import msgspec

from proctor.core.errors import BadInput
from proctor.transport.faults import shown

PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._~-]+|[0-9a-f:.]+(%[a-z0-9._~-]+)?")
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed URL; as text it is that URL, normalised and without user and password.

    Attributes:
        host: in lower case and ASCII; an IPv6 address has no brackets.
        path, query: as they go over the wire; the query begins with its question mark.
        authorization: the header value that user and password make; '' without them.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    query: str = ""
    authorization: str = ""

    @property
    def authority(self) -> str:
        """The host, and the port unless it is the scheme's default."""
        host = f"[{self.host.partition('%')[0]}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """The path and query, as the first line of a request has them."""
        return (self.path or "/") + self.query

    def __str__(self) -> str:
        path = self.target if self.query else self.path
        return f"{self.scheme}://{self.authority}{path}"


def parse(url: str) -> Address:
    """Return the address that a URL names; the fragment is dropped.

    Raises:
        ValueError: the URL is not one of HTTP, or names no host.

    >>> str(parse("HTTPS://me:secret@API.example:443/a b?c=é#d"))
    'https://api.example/a%20b?c=%C3%A9'
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    if parts.scheme not in PORTS or not _HOST.fullmatch(host):
        raise ValueError("not the address of an HTTP server")
    port = parts.port
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return Address(
        scheme=parts.scheme,
        host=host,
        port=PORTS[parts.scheme] if port is None else port,
        path=_quoted(parts.path, "/"),
        query="?" + _quoted(parts.query, "/?") if parts.query else "",
        authorization="" if user == ":" else f"Basic {b64encode(user.encode()).decode()}",
    )


def proxy_of(address: Address) -> Address | None:
    """Return the proxy that the environment names for an address; loopback addresses never have one.

    Raises:
        BadInput: it is not the address of an HTTP proxy.
    """
    if address.host in _LOOPBACK or not _may_have_proxies():
        return None
    from urllib.request import getproxies, proxy_bypass

    named = None if proxy_bypass(address.host) else getproxies().get(address.scheme)
    if not named:
        return None
    try:
        return parse(named if "://" in named else f"http://{named}")
    except ValueError:
        raise BadInput(
            "The proxy in {variable} cannot be used: '{proxy}'. It has to be the address of an HTTP proxy, such as http://127.0.0.1:8080.",
            variable=f"{address.scheme.upper()}_PROXY",
            proxy=shown(named),
        ) from None


def _may_have_proxies() -> bool:
    """False where the import of `urllib.request`, which takes as long as a hundred requests, would find nothing."""
    return sys.platform in ("darwin", "win32") or any(name.lower().endswith("_proxy") for name in os.environ)


def _quoted(text: str, safe: str) -> str:
    return quote(_LONE_PERCENT.sub("%25", text), safe=f"{safe}%:@!$&'()*+,;=~")
