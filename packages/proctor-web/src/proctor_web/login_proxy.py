"""Believe a login proxy: it names the user in a header, and only it may.

A team puts a proxy that knows its people before `proctor web` (oauth2-proxy, Authelia, a company's own). The proxy sets the
header on every request and removes the one a browser sent.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from starlette.datastructures import Headers

from proctor.core.errors import BadInput

OF_BROWSERS = frozenset(
    {"host", "cookie", "authorization", "origin", "referer", "user-agent", "accept", "accept-language"}
)
MOST_CHARACTERS = 200  # of a name
MOST_GROUPS = 500
LOOPBACK = ("127.0.0.0/8", "::1/128")


class ProxyUser(NamedTuple):
    """A user as the proxy names them."""

    name: str
    groups: tuple[str, ...] = ()


class Proxies:
    """Addresses and networks of proxies."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Read them.

        Raises:
            BadInput: one cannot be read.
        """
        self._networks: list[IPv4Network | IPv6Network] = []
        for text in texts:
            try:
                self._networks.append(ip_network(text, strict=False))
            except ValueError:
                raise BadInput(
                    "'{text}' is no address of a proxy. Write it as 10.0.0.5 or 10.0.0.0/24.", text=text
                ) from None

    def include(self, client: str) -> bool:
        """True if a request comes from one of them."""
        try:
            address = ip_address(client)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._networks)


def is_address(text: str) -> bool:
    """True if a text is an address of a machine."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text  # what follows it may be anything


class LoginProxy:
    """The header with the name of the user, and the addresses it is believed from."""

    def __init__(self, header: str, proxies: Sequence[str] = (), groups: str = "") -> None:
        """Read the options of the command line.

        Args:
            header: its name, such as X-Forwarded-User.
            proxies: addresses or networks of proxies; none means this machine.
            groups: the name of the header with the groups of the user, with commas between them.

        Raises:
            BadInput: one of them cannot be read.
        """
        for name in (header, *filter(None, [groups])):
            if not re.fullmatch(r"[A-Za-z0-9-]{1,60}", name) or name.lower() in OF_BROWSERS:
                raise BadInput("'{name}' is no header that names a user. Write it as X-Forwarded-User.", name=name)
        self.header = header.lower()
        self._groups = groups.lower()
        self._proxies = Proxies(proxies or LOOPBACK)

    def user(self, headers: Headers, client: str) -> ProxyUser | None:
        """Return the user of a request; None if no proxy of ours named one, or two were named."""
        if not self._proxies.include(client):
            return None
        names, lists = headers.getlist(self.header), headers.getlist(self._groups) if self._groups else []
        if len(names) != 1 or len(lists) > 1:
            return None
        name = _decoded(names[0]).strip()
        if not name or len(name) > MOST_CHARACTERS or not name.isprintable():
            return None
        groups = [group.strip() for text in lists for group in _decoded(text).split(",")[:MOST_GROUPS]]
        return ProxyUser(name, tuple(filter(None, groups)))


def _decoded(value: str) -> str:
    """Return a header's value as UTF-8, which proxies send, where it is."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
