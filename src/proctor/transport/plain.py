"""The protocol of a connection: aiohttp's, with a shortcut for the usual reply of a server nearby.

A reply that is plain and comes in one piece needs no parser; that halves what receiving costs. aiohttp parses all others.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from aiohttp import StreamReader
from aiohttp.client_proto import ResponseHandler

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,9})\r\n")
_NOT_PLAIN = (b"encoding:", b"\r\nconnection:", b"ratelimit")


class Received(NamedTuple):
    """A reply: of a plain one the head as bytes in lower case, and all of the body."""

    status: int
    head: Mapping[str, str] | bytes
    body: StreamReader | bytes


class Protocol(ResponseHandler):
    """One connection; one request at a time.

    Attributes:
        on_stray: called when bytes come although no request is under way; None while one is.
    """

    on_stray: Callable[[], None] | None = None

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._plain: asyncio.Future[Received | None] | None = None

    def plain(self) -> "asyncio.Future[Received | None]":
        """The next reply if it is a plain one; None where it is for `parsed`, and where something went wrong."""
        self._plain = self._loop.create_future()
        return self._plain

    def watch(self, silence_seconds: float) -> None:
        """Let no part of the next reply take longer than this; `parsed` gives it."""
        self.set_response_params(read_until_eof=True, read_timeout=silence_seconds)
        self.start_timeout()

    async def parsed(self) -> Received:
        """The next reply as aiohttp parses it; what went wrong is raised here, or where the body is read."""
        message, body = await self.read()
        while 100 <= message.code < 200 and message.code != 101:  # not yet the reply
            message, body = await self.read()
        return Received(message.code, message.headers, body)

    def time_is_up(self) -> None:
        """The time is over: whoever waits hears of it."""
        if self._payload is not None:
            self._payload.set_exception(TimeoutError())
        self.set_exception(TimeoutError())

    def data_received(self, data: bytes) -> None:
        if self.on_stray is not None:
            self.on_stray()
            self.force_close()
            return
        if self._plain is not None:
            received = plain(data)
            if received is not None:
                self._tell(received)
                return
            self.set_response_params(read_until_eof=True)
            self._tell(None)
        super().data_received(data)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        super().set_exception(exc, *cause)
        self._tell(None)

    def _tell(self, received: Received | None) -> None:
        waiting, self._plain = self._plain, None
        if waiting is not None and not waiting.done():
            waiting.set_result(received)


def plain(data: bytes) -> Received | None:
    """The reply of status 200 in these bytes; None when it is no plain one, or they do not end where it does.

    >>> plain(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
    Received(status=200, head=b'http/1.1 200 ok\\r\\ncontent-length: 2\\r\\n\\r\\n', body=b'{}')
    >>> plain(b"HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\n{}")
    """
    start = data.find(b"\r\n\r\n") + 4
    head = data[:start].lower()
    if not head.startswith(b"http/1.1 200 "):
        return None
    for word in _NOT_PLAIN:
        if word in head:
            return None
    length = _LENGTH.search(head)
    if length is None or head.count(b"content-length") > 1 or len(data) - start != int(length[1]):
        return None
    return Received(200, head, data[start:])
