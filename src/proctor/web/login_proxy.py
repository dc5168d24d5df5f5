"""Believe a login proxy: it names the user in a header, and only it may.

A team puts a proxy that knows its people before `proctor web` (oauth2-proxy, Authelia, a company's own). The proxy sets the
header on every request and removes the one a browser sent.
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers

from proctor.core.errors import BadInput

OF_BROWSERS = frozenset(
    {"host", "cookie", "authorization", "origin", "referer", "user-agent", "accept", "accept-language"}
)
MOST_CHARACTERS = 200  # of a name


class LoginProxy:
    """The header with the name of the user, and the addresses it is believed from."""

    def __init__(self, header: str, proxies: Sequence[str] = ()) -> None:
        """Read the options of the command line.

        Args:
            header: its name, such as X-Forwarded-User.
            proxies: addresses or networks of proxies; none means this machine.

        Raises:
            BadInput: one of them cannot be read.
        """
        if not re.fullmatch(r"[A-Za-z0-9-]{1,60}", header) or header.lower() in OF_BROWSERS:
            raise BadInput("'{name}' is no header that names a user. Write it as X-Forwarded-User.", name=header)
        self.header = header.lower()
        self._networks: list[IPv4Network | IPv6Network] = []
        for text in proxies:
            try:
                self._networks.append(ip_network(text, strict=False))
            except ValueError:
                raise BadInput(
                    "'{text}' is no address of a proxy. Write it as 10.0.0.5 or 10.0.0.0/24.", text=text
                ) from None

    def user(self, headers: Headers, client: str) -> str | None:
        """Return the name of the user of a request; None if no proxy of ours named one, or two were named."""
        if not self._believes(client):
            return None
        names = headers.getlist(self.header)
        if len(names) != 1:
            return None
        name = _decoded(names[0]).strip()
        return name if name and len(name) <= MOST_CHARACTERS and name.isprintable() else None

    def _believes(self, client: str) -> bool:
        try:
            address = ip_address(client)
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if not self._networks:
            return address.is_loopback
        return any(address in network for network in self._networks)


def _decoded(value: str) -> str:
    """Return a header's value as UTF-8, which proxies send, where it is."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
