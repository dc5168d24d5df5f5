"""The far end of a worker's connection, in this process."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from typing import Self

from proctor.engine import wire
from proctor.transport.pace import PaceBounds

ORIGIN = "http://127.0.0.1:1"


class Far:
    """A worker that says it is ready, and then what a test says; it dies when it is closed."""

    is_lost = was_killed = was_out_of_memory = False
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls) -> Self:
        made = cls()
        ours, theirs = socket.socketpair()
        made.reader, made.writer = await asyncio.open_connection(sock=ours)
        reader, made.far = await asyncio.open_connection(sock=theirs)
        made.outbox, made.granted = wire.Outbox(made.far), aiter(wire.of_parent(reader))
        made.outbox.send(wire.WorkerReady(clock=time.time()))
        return made

    outbox: wire.Outbox
    granted: AsyncIterator[wire.FromParent]
    far: asyncio.StreamWriter

    def ask(self, number: int) -> None:
        self.outbox.send(wire.Ask(number=number, origin=ORIGIN, bounds=PaceBounds(concurrency=2)))

    def how_it_ended(self) -> str:
        return "-"

    async def end(self) -> None: ...

    async def close(self) -> None:
        self.far.close()
