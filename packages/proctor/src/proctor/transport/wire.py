"""Send a request in one write of mostly prepared bytes, and read its reply."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

from proctor.core.errors import BadInput
from proctor.transport.address import Address
from proctor.transport.connection import Connection
from proctor.transport.faults import RequestFault, shown
from proctor.transport.opening import Route
from proctor.transport.parsing import Parser
from proctor.transport.pool import ConnectionPool
from proctor.transport.terms import CONNECT_SECONDS, RequestTerms
from proctor.transport.unpacking import ACCEPTED, Unpacker

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN = ("content-length", "transfer-encoding")  # `send` writes them for each request


class Sender:
    """Sends requests to one address; their common parts are prepared once.

    Args:
        certificate: a PEM file with a client certificate and its key.
    """

    def __init__(
        self,
        pool: ConnectionPool,
        method: str,
        address: Address,
        *,
        headers: Mapping[str, str],
        terms: RequestTerms,
        proxy: Address | None = None,
        certificate: str | None = None,
    ) -> None:
        self._lane = pool.lane(Route(address.scheme, address.host, address.port, proxy, certificate))
        self._has_body = method != "HEAD"
        self._seconds = terms.total_seconds
        self._silence_seconds = terms.first_byte_seconds
        self._connect_seconds = terms.connect_seconds or CONNECT_SECONDS
        self._start = _start(method, address, headers, proxy)

    async def send(self, body: bytes | None) -> "HttpReply":
        """Send a request and return its reply, with the head there; it has to be closed.

        Nothing is sent twice: a kept connection that turns out to be closed is a fault like any other.

        Raises:
            Fault, TimeoutError: no reply came.
        """
        connection = self._lane.take() or await self._opened()
        parser = Parser(has_body=self._has_body)
        reply = HttpReply(self, connection, parser)
        request = b"\r\n" if body is None else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        try:
            connection.send(self._start + request, parser, seconds=self._seconds, silence_seconds=self._silence_seconds)
            while not parser.status:
                await connection.more()
        except BaseException:
            reply.close()
            raise
        return reply

    def take_back(self, connection: Connection, parser: Parser) -> None:
        """Keep a connection for the next request, or close it if the reply was not complete, or the last one."""
        connection.finish()
        parser.drop()
        if parser.is_followed:
            self._lane.distrust()
        if parser.is_complete and parser.keeps_alive:
            self._lane.keep(connection)
        else:
            connection.abort()

    async def _opened(self) -> Connection:
        return await self._lane.open(self._connect_seconds)


class HttpReply:
    """A reply whose head has come, and its body as it comes in."""

    __slots__ = ("_connection", "_parser", "_sender")

    def __init__(self, sender: Sender, connection: Connection, parser: Parser) -> None:
        self._sender: Sender | None = sender
        self._connection = connection
        self._parser = parser

    @property
    def status(self) -> int:
        return self._parser.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by names in lower case."""
        return self._parser.headers

    @property
    def content_type(self) -> str:
        """The media type, in lower case and without parameters; '' when none is given."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The charset that the media type names."""
        from email.message import Message

        parsed = Message()
        parsed["Content-Type"] = self.headers.get("content-type", "")
        return parsed.get_content_charset()

    async def body(self, most_bytes: int) -> bytes:
        """Return the whole body, unpacked.

        Raises:
            Fault, TimeoutError: it does not come, or is larger than that.
        """
        parser = self._parser
        if parser.is_complete and parser.waiting_bytes <= most_bytes and "content-encoding" not in self.headers:
            return parser.take()  # as most replies do, it came in one piece with its head
        return b"".join([piece async for piece in self.pieces(most_bytes)])

    async def pieces(self, most_bytes: int) -> AsyncGenerator[bytes, None]:
        """Yield the body, unpacked, in pieces as they come.

        Raises:
            Fault, TimeoutError: the rest does not arrive, or the body is larger than the limit.
        """
        coding = self.headers.get("content-encoding", "identity").lower()
        unpacker = Unpacker(coding) if coding != "identity" else None
        size = 0
        while received := await self._received():
            for piece in (received,) if unpacker is None else unpacker.feed(received):
                size += len(piece)
                if size > most_bytes:
                    raise RequestFault("too_large", str(most_bytes))
                yield piece
        if unpacker is not None:
            unpacker.check_end()

    async def drop_rest(self, seconds: float) -> None:
        """Wait so long for the end of the body, so that the connection can be used again; what comes is dropped."""
        with suppress(TimeoutError, RequestFault):
            async with asyncio.timeout(seconds):
                while await self._received():
                    pass

    def close(self) -> None:
        """Give the connection back; it is closed unless all of the reply came."""
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.take_back(self._connection, self._parser)

    async def _received(self) -> bytes:
        """Return the next part of the body as it came over the wire; b"" at the end."""
        parser = self._parser
        while not parser.waiting_bytes and not parser.is_complete:
            await self._connection.more()
        return parser.take()


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


def _start(method: str, address: Address, headers: Mapping[str, str], proxy: Address | None) -> bytes:
    """Return the first bytes of each request; headers that the caller names replace ours."""
    own = {"Host": address.authority, "Accept": "*/*", "Accept-Encoding": ACCEPTED}
    if address.authorization:
        own["Authorization"] = address.authorization
    target = address.target
    if proxy is not None and address.scheme == "http":  # else there is a tunnel
        target = f"http://{address.authority}{target}"
        if proxy.authorization:
            own["Proxy-Authorization"] = proxy.authorization
    named = {name.lower(): (name, value) for name, value in (*own.items(), *headers.items())}
    lines = [f"{name}: {value}\r\n" for key, (name, value) in named.items() if key not in _OWN]
    return f"{method} {target} HTTP/1.1\r\n{''.join(lines)}".encode()
