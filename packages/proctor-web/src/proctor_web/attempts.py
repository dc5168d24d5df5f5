"""Count wrong tokens, so that nobody can try them out."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

MOST_WRONG = 10  # different tokens from one address within the window
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 1_000


class Attempts:
    """Wrong tokens by the address that sent them.

    The same wrong token again is a program that does not know the new one, and counts once.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds_by_token: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def count(self, address: str, token: str) -> None:
        """Count a wrong token; of very many addresses the oldest is forgotten."""
        key = _network(address)
        tokens = self._seconds_by_token.setdefault(key, {})
        if len(tokens) < MOST_WRONG:
            tokens.setdefault(hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=8).digest(), self._clock())
        self._seconds_by_token.move_to_end(key)
        if len(self._seconds_by_token) > MOST_ADDRESSES:
            self._seconds_by_token.popitem(last=False)

    def seconds_to_wait(self, address: str) -> int:
        """Return for how long no token of this address is looked at; 0 if they are."""
        now = self._clock()
        key = _network(address)
        tokens = self._seconds_by_token.get(key, {})
        for token in [token for token, at in tokens.items() if now - at >= WINDOW_SECONDS]:
            del tokens[token]
        if not tokens:
            self._seconds_by_token.pop(key, None)
        if len(tokens) < MOST_WRONG:
            return 0
        return int(WINDOW_SECONDS - (now - min(tokens.values()))) + 1


def _network(address: str) -> str:
    """Return what one user of the network has: an address, and of version 6 all that share its first half.

    >>> _network("192.0.2.7"), _network("2001:db8::7"), _network("testclient")
    ('192.0.2.7', '2001:db8::/64', 'testclient')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, 64), strict=False))
    return address
