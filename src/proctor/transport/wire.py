"""One request and its reply, on a connection of aiohttp's pool.

aiohttp finds the address, connects, speaks TLS and to proxies, keeps connections, and parses replies. What its session
does on top, for each request anew, is left out: cookies, redirects, middlewares, headers as objects, a task that
writes. A request of ours is one write of bytes, most of which were made before. That is half the CPU of a call, and
leans on three methods that aiohttp does not document (`set_response_params`, `start_timeout` and `read` of the
protocol of a connection), unchanged from 3.8 to 3.14.
"""

import asyncio
import re
import ssl
from collections.abc import Mapping
from email.message import Message

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from proctor.core.errors import BadInput
from proctor.transport.faults import Fault, shown

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OWN = ("content-length", "transfer-encoding")  # said for each request by `send`


class Line:
    """The way to one address: what all requests to it share, on one pool of connections."""

    def __init__(
        self,
        connector: aiohttp.BaseConnector,
        method: str,
        url: URL,
        *,
        headers: CIMultiDict[str],
        timeout: aiohttp.ClientTimeout,
        proxy: URL | None,
        tls: ssl.SSLContext | None,
    ) -> None:
        self._connector = connector
        self._timeout = timeout
        self._request = aiohttp.ClientRequest(
            method, url, headers=headers, proxy=proxy, ssl=tls or True, loop=asyncio.get_running_loop()
        )
        self._start = b""

    async def send(self, body: bytes | None) -> "Reply":
        """Send a request and wait for the head of its reply, which has to be closed.

        Raises:
            aiohttp.ClientError, OSError, Fault: it did not get that far.
        """
        try:
            connection = await self._connector.connect(self._request, [], self._timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError(f"no connection to {self._request.host} in time") from error
        try:
            return await self._exchange(connection, body)
        except HttpProcessingError as error:
            connection.close()
            raise Fault("not_http", shown(error.message)) from error
        except BaseException:
            connection.close()
            raise

    async def _exchange(self, connection: Connection, body: bytes | None) -> "Reply":
        protocol, transport = connection.protocol, connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(read_until_eof=True, read_timeout=self._timeout.sock_read)
        start = self._start or self._made_start()
        transport.write(start + (b"\r\n" if body is None else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)))
        protocol.start_timeout()
        message, content = await protocol.read()
        while 100 <= message.code < 200 and message.code != 101:  # not yet the reply
            message, content = await protocol.read()
        return Reply(connection, message.code, message.headers, content)

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
        content: the body, unpacked, in pieces.
    """

    __slots__ = ("_connection", "content", "headers", "status")

    def __init__(
        self, connection: Connection, status: int, headers: Mapping[str, str], content: aiohttp.StreamReader
    ) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers
        self.content = content

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

    def close(self) -> None:
        """Give the connection back; it is closed where something is still on its way, here or there."""
        connection = self._connection
        transport = connection.transport
        if transport is not None and transport.get_write_buffer_size():  # an answer before all was sent
            transport.abort()
            connection.close()
        else:
            connection.release()  # aiohttp closes it unless the body is complete


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
