"""The protocol of the review server: uvicorn's, but a request that does not get on is not waited for."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which a head was begun, or nothing came at all, and the time is over.

    uvicorn limits only how long a connection is kept after an answer. The body has its own limit, see `auth`.
    """

    _too_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._too_late is None:
            self._wait()

    def _wait(self) -> None:
        self._too_late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None
