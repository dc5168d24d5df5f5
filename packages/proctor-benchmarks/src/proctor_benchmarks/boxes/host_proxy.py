"""Let a box reach the hosts that are listed for it and nothing else, and count what it asked for.

Programs in the box use a proxy at a port of their own, which takes CONNECT alone. Names are resolved here, so that the box needs
no DNS; an address that is not public is refused unless it is listed itself. What a program sends to a listed host is not read.
"""

import ipaddress
import re
import socket
import socketserver
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.core.errors import BadInput
from proctor_benchmarks.boxes.forwarding import HOSTS

STOP_SECONDS = 0.02  # until the end of the proxy is noticed, for which its run waits
CONNECT_SECONDS, QUIET_SECONDS, HEADER_SECONDS = 20.0, 3_600.0, 30.0
MOST_CONNECTIONS, MOST_HEADER_BYTES, MOST_REFUSED = 64, 16 << 10, 100
OTHERS, NO_REQUEST, CROWDED = (
    "others",
    "no request to connect",
    "too many connections",
)  # counted without the name of a host
_REFUSAL = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_FAILURE = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_ADDRESS = f"http://127.0.0.1:{HOSTS.port}"
PROXY_VARIABLES: Mapping[str, str] = {
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), _ADDRESS),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # IPv4 addresses, translated


def check_hosts(hosts: Sequence[str]) -> None:
    """Raise BadInput for a host that is not written HOST:PORT, *.HOST:PORT or with * for any port."""
    for host in hosts:
        if not can_be_listed(host):
            raise BadInput("'{host}' is no host with a port, such as api.example.com:443.", host=host)


def can_be_listed(host: str) -> bool:
    return _pattern(host) is not None


def _plain(host: str) -> str | None:
    """Return HOST:PORT as hosts are compared; None for anything else, such as an address with colons that has no brackets.

    >>> _plain("Example.com.:0443"), _plain("[::1]:443"), _plain("::1:443")
    ('example.com:443', '[::1]:443', None)
    """
    name, _, port = host.lower().rpartition(":")
    name = name.rstrip(".")
    is_name = bool(name) and len(name) < 300 and name.isprintable() and not {"/", "*"} & {*name}
    has_port = port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 1 << 16
    is_bracketed = name.startswith("[") and name.endswith("]")
    return f"{name}:{int(port)}" if is_name and has_port and (":" not in name or is_bracketed) else None


_NAME = re.compile(r"([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?")  # no form of an address


def _pattern(host: str) -> str | None:
    """Return a listed host as it is looked up; None for what is no host, such as `*` before a name of one part or an address.

    >>> _pattern("*.Example.org:0443"), _pattern("[::1]:*"), _pattern("*.org:443"), _pattern("*.0.0.1:80"), _pattern("a.*.org:80")
    ('*.example.org:443', '[::1]:*', None, None, None)
    """
    name, _, port = host.rpartition(":")
    is_wild, is_any_port = name.startswith("*."), port == "*"
    plain = _plain(f"{name[2:] if is_wild else name}:{1 if is_any_port else port}")
    if plain is None or (is_wild and not _NAME.fullmatch(plain.rpartition(":")[0])):
        return None
    return f"{'*.' if is_wild else ''}{plain.rpartition(':')[0]}:{'*' if is_any_port else plain.rpartition(':')[2]}"


class HostProxy:
    """Answers at a Unix socket while it is open."""

    def __init__(self, folder: Path, hosts: Sequence[str]) -> None:
        self._path = folder / HOSTS.socket
        self._hosts = frozenset(filter(None, map(_pattern, hosts)))
        self._lock = threading.Lock()  # of what follows, which the threads of all connections change
        self._connections: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._bytes = Counter(sent=0, received=0)
        self._open: set[socket.socket] = set()
        self._served = 0  # connections of the box at this moment

    def counts(self) -> Mapping[str, object]:
        """Return what was asked for until now: connections by host, what was refused or failed, and bytes."""
        with self._lock:
            return {
                "allowed": sorted(self._hosts),
                "connections": dict(self._connections),
                "refused": dict(self._refused),
                "failed": dict(self._failed),
                "bytes": dict(self._bytes),
            }

    def __enter__(self) -> "HostProxy":
        proxy = self

        class HostHandler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError), proxy._counted() as is_crowded:  # the program in the box hung up
                    proxy._serve(self.request, is_crowded=is_crowded)

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
            request_queue_size = MOST_CONNECTIONS

        self._server = Server(str(self._path), HostHandler)
        self._path.chmod(0o666)
        threading.Thread(target=self._server.serve_forever, args=(STOP_SECONDS,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._path.unlink(missing_ok=True)
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def _counted(self) -> Iterator[bool]:
        """Count a connection of the box while it lasts; yields true if there are too many."""
        with self._lock:
            self._served += 1
            is_crowded = self._served > MOST_CONNECTIONS
        try:
            yield is_crowded
        finally:
            with self._lock:
                self._served -= 1

    def _serve(self, client: socket.socket, *, is_crowded: bool) -> None:
        """Answer one request to connect, and carry what follows."""
        if is_crowded:
            self._note(self._failed, CROWDED)
            client.sendall(_FAILURE)
            return
        asked = _read_request(client)
        if asked is None or not self._is_listed(asked):
            self._note(self._refused, asked or NO_REQUEST)
            client.sendall(_REFUSAL)
            return
        host, _, port = asked.rpartition(":")
        try:
            server = self._connect(host.strip("[]"), int(port))
        except (OSError, UnicodeError):  # the latter for a name that cannot be one
            self._note(self._failed, asked)
            client.sendall(_FAILURE)
            return
        if server is None:
            self._note(self._refused, f"{asked} (not a public address)")
            client.sendall(_REFUSAL)
            return
        with server:
            self._note(self._connections, asked)
            with self._lock:
                self._open.add(server)
            try:
                client.sendall(_CONNECTED)
                self._carry(client, server)
            finally:
                with self._lock:
                    self._open.discard(server)

    def _is_listed(self, asked: str) -> bool:
        """True for a listed host; one with `*` matches all names below it, and no other that looks or ends like it."""
        name, _, port = asked.rpartition(":")
        parts = name.split(".") if _NAME.fullmatch(name) else []
        names = [name, *(".".join(["*", *parts[number:]]) for number in range(1, len(parts)))]
        return any(f"{listed}:{number}" in self._hosts for listed in names for number in (port, "*"))

    def _connect(self, host: str, port: int) -> socket.socket | None:
        """Connect to an address of a host; None if it has none that the box may reach.

        Raises:
            OSError: no address is known, or none answers.
        """
        addresses = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        allowed = [address for address in addresses if is_public(address) or self._is_listed(_written(address, port))]
        for address in allowed[:-1]:
            with suppress(OSError):
                return socket.create_connection((address, port), CONNECT_SECONDS)
        return socket.create_connection((allowed[-1], port), CONNECT_SECONDS) if allowed else None

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        """Pass bytes on both ways until each side has ended its own."""
        back = threading.Thread(target=self._pump, args=(server, client, "received"), daemon=True)
        back.start()
        self._pump(client, server, "sent")
        back.join()

    def _pump(self, source: socket.socket, target: socket.socket, way: str) -> None:
        with suppress(OSError):
            source.settimeout(QUIET_SECONDS)
            while data := source.recv(1 << 16):
                target.sendall(data)
                with self._lock:
                    self._bytes[way] += len(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _note(self, counter: Counter[str], name: str) -> None:
        with self._lock:
            counter[name if name in counter or len(counter) < MOST_REFUSED else OTHERS] += 1


def is_public(text: str) -> bool:
    """True for an address of the public network, also where it is written as another one.

    >>> is_public("93.184.215.14"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1"), is_public("169.254.169.254")
    (True, False, False, False)
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if address in _TRANSLATED:
            return is_public(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _written(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _read_request(client: socket.socket) -> str | None:
    """Return HOST:PORT of a request to connect; None for anything else."""
    deadline = time.monotonic() + HEADER_SECONDS
    header = b""
    while b"\r\n\r\n" not in header and len(header) < MOST_HEADER_BYTES:
        client.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            data = client.recv(1)  # nothing of what follows is the proxy's
        except TimeoutError:
            return None
        if not data:
            return None
        header += data
    words = header.partition(b"\r\n")[0].decode("latin-1").split(" ")
    return _plain(words[1]) if len(words) == 3 and words[0] == "CONNECT" else None
