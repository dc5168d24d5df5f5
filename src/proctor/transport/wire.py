"""One request and its reply, on a connection of aiohttp's pool.

aiohttp finds the address, connects, speaks TLS and to proxies, keeps connections, and parses replies. What its session
does on top, for each request anew, is left out: cookies, redirects, middlewares, headers as objects, a task that
writes. A request of ours is one write of bytes, most of which were made before. That is half the CPU of a call. It
leans on a few names that aiohttp does not document (the protocol of a connection, and the connector's `_factory`
that makes it), the same from 3.11 to 3.14.
"""

import asyncio
import re
import select
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from email.message import Message
from functools import partial
from time import monotonic
from typing import NamedTuple

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from proctor.core.errors import BadInput
from proctor.transport.deadline import alarms
from proctor.transport.faults import Fault, shown
from proctor.transport.plain import Protocol, Received

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN = ("content-length", "transfer-encoding")  # said for each request by `send`


class Idle(NamedTuple):
    """A connection that nobody uses, and since when."""

    connection: Connection
    since: float


class Connector(aiohttp.TCPConnector):
    """Makes connections with the protocol of ours, and keeps them: its own way of keeping them costs twice as much.

    Attributes:
        keep_seconds: how long a connection is used again after it was used.
        idle: connections by what they lead to, the last one used at the end. aiohttp keeps those through a proxy.
        distrusted: where a reply came that nobody had asked for; no connection to it is used twice.
    """

    def __init__(self, *, keep_seconds: float, dns_seconds: int) -> None:
        super().__init__(limit=0, keepalive_timeout=keep_seconds, ttl_dns_cache=dns_seconds)
        self.keep_seconds = keep_seconds
        self.idle: dict[ConnectionKey, list[Idle]] = {}
        self.distrusted: set[ConnectionKey] = set()
        self._factory = partial(Protocol, asyncio.get_running_loop())  # type: ignore[assignment]  # a kind of its own

    async def aclose(self) -> None:
        """Close every connection."""
        for kept in self.idle.values():
            while kept:
                kept.pop().connection.close()
        await self.close()


class Line:
    """The way to one address: what all requests to it share, on one pool of connections.

    Args:
        seconds: from sending a request to the end of its reply; connecting has as many for itself.
        silence_seconds, connect_seconds: the longest silence of the server, and the longest wait for a connection.
    """

    def __init__(
        self,
        connector: Connector,
        method: str,
        url: URL,
        *,
        headers: CIMultiDict[str],
        seconds: float,
        silence_seconds: float | None,
        connect_seconds: float,
        proxy: URL | None,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._connector = connector
        self._seconds = seconds
        self._silence_seconds = silence_seconds
        self._connect_timeout = aiohttp.ClientTimeout(connect=seconds, sock_connect=connect_seconds)
        self._alarms = alarms()
        self._request = aiohttp.ClientRequest(
            method, url, headers=headers, proxy=proxy, ssl=tls or True, loop=self._alarms.loop
        )
        self._key = self._request.connection_key
        self._idle = connector.idle.setdefault(self._key, []) if proxy is None else None
        self._start = b""

    async def send(self, body: bytes | None) -> "Reply":
        """Send a request and wait for the head of its reply, which has to be closed.

        Raises:
            aiohttp.ClientError, OSError, Fault: it did not get that far.
        """
        connection = self._kept() or await self._connected()
        protocol, transport = connection.protocol, connection.transport
        assert isinstance(protocol, Protocol)
        if transport is None:
            connection.close()
            raise aiohttp.ServerDisconnectedError
        if protocol.should_close:
            connection.close()
            raise Fault("no_reply", "a reply before the request was sent")
        protocol.on_stray = None
        self._alarms.set(protocol, self._alarms.loop.time() + self._seconds)
        try:
            start = self._start or self._made_start()
            transport.write(start + (b"\r\n" if body is None else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)))
            if self._silence_seconds is None:
                received = await protocol.plain() or await protocol.parsed()
            else:
                protocol.watch(self._silence_seconds)
                received = await protocol.parsed()
            return Reply(self, connection, protocol, received)
        except BaseException as error:
            self._alarms.clear(protocol)
            transport.abort()
            connection.close()
            if isinstance(error, HttpProcessingError):
                raise Fault("not_http", shown(error.message)) from error
            raise

    def take_back(self, connection: Connection, protocol: Protocol, *, is_whole: bool) -> None:
        """Keep a connection for the next request; it is closed where something is still on its way, here or there."""
        self._alarms.clear(protocol)
        transport = protocol.transport
        if transport is not None and transport.get_write_buffer_size():  # an answer before all was sent
            transport.abort()
            connection.close()
        elif self._idle is None or (not is_whole and (connection.protocol is None or protocol.should_close)):
            connection.release()  # aiohttp closes it unless the body is complete
        elif self._key in self._connector.distrusted:
            connection.close()
        else:
            protocol.on_stray = self._distrust
            self._idle.append(Idle(connection, monotonic()))

    def _kept(self) -> Connection | None:
        while self._idle:
            connection, since = self._idle.pop()
            protocol, transport = connection.protocol, connection.transport
            if (
                protocol is not None
                and transport is not None
                and protocol.is_connected()
                and not protocol.should_close
                and monotonic() - since <= self._connector.keep_seconds
                and not self._has_waiting_bytes(transport)
            ):
                return connection
            connection.close()
        return None

    def _has_waiting_bytes(self, transport: asyncio.WriteTransport) -> bool:
        """True if something came that the event loop has not read yet: a reply nobody asked for, or the end."""
        number = transport.get_extra_info("socket").fileno()
        if not _is_readable(number):
            return False
        with suppress(OSError), socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as waiting:
            if waiting.recv(1, socket.MSG_PEEK) and self._request.url.scheme == "http":  # TLS sends bytes of its own
                self._distrust()
        return True

    def _distrust(self) -> None:
        """HTTP cannot tell whose reply it is once there is one too many: each request gets a connection of its own."""
        self._connector.distrusted.add(self._key)

    async def _connected(self) -> Connection:
        try:
            return await self._connector.connect(self._request, [], self._connect_timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError("it took too long") from error

    def _made_start(self) -> bytes:
        """Made once connected: until then the connector may still add what a proxy wants to see."""
        request = self._request
        through_proxy = request.proxy is not None and not request.is_ssl()
        path = str(request.url.with_user(None)) if through_proxy else request.url.raw_path_qs
        headers = (f"{name}: {value}\r\n" for name, value in request.headers.items() if name.lower() not in _OWN)
        self._start = f"{request.method} {path} HTTP/1.1\r\n{''.join(headers)}".encode()
        return self._start


class Reply:
    """The head of a reply, and its body as it comes in.

    Attributes:
        whole: the body of a plain reply, which came in one piece and says nothing of limits; None of all others.
    """

    __slots__ = ("_body", "_connection", "_head", "_line", "_protocol", "status", "whole")

    def __init__(self, line: Line, connection: Connection, protocol: Protocol, received: Received) -> None:
        self._line = line
        self._connection = connection
        self._protocol = protocol
        self.status, self._head, self._body = received
        self.whole = self._body if isinstance(self._body, bytes) else None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; upper and lower case are the same."""
        if isinstance(self._head, bytes):
            lines = self._head.decode("latin-1").split("\r\n")[1:-2]
            self._head = CIMultiDict(
                (name, value.strip()) for name, _, value in (line.partition(":") for line in lines)
            )
        return self._head

    @property
    def content_type(self) -> str:
        """The media type, in lower case and without parameters; '' when none is given."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The charset that the media type names."""
        parsed = Message()
        parsed["Content-Type"] = self.headers.get("Content-Type", "")
        return parsed.get_content_charset()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body, unpacked, in pieces as they come; raises TimeoutError when the time is over."""
        if isinstance(self._body, bytes):
            yield self._body
            return
        while not self._body.at_eof():
            yield await self._body.readany()

    async def drop_rest(self, seconds: float) -> None:
        """Wait so long for the end of the body, so that the connection can be used again; what comes is dropped."""
        with suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(seconds):
                async for _ in self.pieces():
                    pass

    def close(self) -> None:
        """Give the connection back."""
        self._line.take_back(self._connection, self._protocol, is_whole=self.whole is not None)


def _is_readable(number: int) -> bool:
    if sys.platform == "win32":  # no poll there, and `select` takes any number
        return bool(select.select([number], [], [], 0)[0])
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse what would break out of its line.

    Raises:
        BadInput: names the header, never its value.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or any(sign in value for sign in "\r\n\0"):
            raise BadInput(
                "The header '{name}' cannot be sent: its name or its value holds signs that no header may hold, such as a line break.",
                name=shown(name),
            )
