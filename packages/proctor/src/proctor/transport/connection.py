"""One connection as the event loop sees it: what comes in goes to the parser of the awaited reply, or is stray."""

import asyncio
import select
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from proctor.core.sentence import say
from proctor.transport.deadline import alarms
from proctor.transport.faults import RequestFault, shown
from proctor.transport.parsing import Parser

MOST_WAITING_BYTES = 262_144  # above that, the server has to wait until we have read


class Connection(asyncio.Protocol):
    """One connection; it carries one request at a time.

    Attributes:
        is_open: neither side has closed it.
        on_stray: called when unrequested bytes arrive, which end the connection in any case.
        idle_since: the time of the loop when it was last used.
    """

    transport: asyncio.Transport
    is_open = True
    on_stray: Callable[[], None] | None = None
    idle_since = 0.0
    _silence: "_Silence | None" = None
    _parser: Parser | None = None
    _error: Exception | None = None
    _waiter: asyncio.Future[None] | None = None
    _poll: "select.poll | None" = None
    _is_paused = False
    _was_stray = False

    def __init__(self) -> None:
        self._alarms = alarms()

    def send(self, request: bytes, parser: Parser, *, seconds: float, silence_seconds: float | None = None) -> None:
        """Send a request; its reply goes to `parser`, and ends with `finish`.

        Args:
            seconds: the longest time until the end of the reply.
            silence_seconds: the longest time between two parts of the reply.

        Raises:
            Fault: the connection has ended, or the server spoke first.
        """
        if not self.is_open:
            if self._was_stray:
                raise RequestFault("no_reply", say("it replied before the request was sent"))
            raise RequestFault("reset", say("it sent no reply"))
        self._parser = parser
        self._alarms.set(self, self._alarms.loop.time() + seconds)
        if silence_seconds is not None:
            self._silence = _Silence(self, silence_seconds)
            self._measure_silence()
        self.transport.write(request)

    def more(self) -> asyncio.Future[None]:
        """Return what to wait for until the parser got something, or the connection ended.

        Raises:
            Fault, TimeoutError: nothing more will come.
        """
        if self._error is not None:
            raise self._error
        if self._is_paused:
            self._resume()
        self._waiter = self._alarms.loop.create_future()
        return self._waiter

    def finish(self) -> None:
        """Release the reply; bytes that arrive from now on are stray."""
        self._alarms.clear(self)
        if self._silence is not None:
            self._alarms.clear(self._silence)
            self._silence = None
        self._parser = self._error = None
        if self._is_paused:
            self._resume()

    def abort(self) -> None:
        """Close the connection at once; what was not sent yet is dropped."""
        self.is_open = False
        self.transport.abort()

    def is_quiet(self) -> bool:
        """True if nothing is waiting to be read: neither bytes that nobody requested, nor the end of the connection."""
        if not self._is_readable():
            return True
        is_plain = self.transport.get_extra_info("sslcontext") is None  # TLS sends messages of its own
        if is_plain and self.on_stray is not None:
            number = self.transport.get_extra_info("socket").fileno()
            with suppress(OSError), socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as waiting:
                if waiting.recv(1, socket.MSG_PEEK):
                    self.on_stray()
        return False

    # What the event loop and `Alarms` call.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass

    def data_received(self, data: bytes) -> None:
        parser = self._parser
        if parser is None:
            self._was_stray = True
            self.abort()
            if self.on_stray is not None:
                self.on_stray()
            return
        try:
            parser.feed(data)
        except RequestFault as fault:
            self._fail(fault)
            return
        if self._silence is not None:
            self._measure_silence()
        if parser.waiting_bytes > MOST_WAITING_BYTES and not self._is_paused and self.is_open:
            self._is_paused = True
            self.transport.pause_reading()
            if self._silence is not None:
                self._alarms.clear(self._silence)
        self._wake()

    def eof_received(self) -> None:
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)

    def time_is_up(self) -> None:
        self._fail(TimeoutError())

    def _end(self, error: Exception | None) -> None:
        self.is_open = False
        parser = self._parser
        if parser is None or parser.is_complete:
            return
        try:
            if error is None:
                parser.end()
                self._wake()
            elif isinstance(error, ssl.SSLError) and not parser.has_begun:
                raise RequestFault("tls", shown(str(error)))
            else:
                raise parser.broken(shown(str(error)))
        except RequestFault as fault:
            self._fail(fault)

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _resume(self) -> None:
        self._is_paused = False
        if self.is_open:
            self.transport.resume_reading()
        if self._silence is not None:
            self._measure_silence()

    def _measure_silence(self) -> None:
        if self._silence is not None:
            self._alarms.set(self._silence, self._alarms.loop.time() + self._silence.seconds)

    def _is_readable(self) -> bool:
        if self._poll is None or sys.platform == "win32":
            number = self.transport.get_extra_info("socket").fileno()
            if sys.platform == "win32":  # no poll there, and `select` takes any number
                return bool(select.select([number], [], [], 0)[0])
            self._poll = select.poll()
            self._poll.register(number, select.POLLIN)
        return bool(self._poll.poll(0))


class _Silence:
    """The time limit that begins again with each part of a reply."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self.seconds = seconds
        self.time_is_up = connection.time_is_up
