"""A real proxy on the loopback address: it makes tunnels to one port, whatever name is asked for."""

import asyncio
import ssl
from types import TracebackType
from typing import Self


class Proxy:
    """Answers CONNECT.

    Args:
        port: where every tunnel leads.
        status: what it answers; it makes a tunnel with 200 only.
        says: what comes instead of an answer, where that is given.
        closes: whether the connection ends after that.

    Attributes:
        asked: the heads of the requests that came.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        status: int = 200,
        says: bytes | None = None,
        closes: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.asked: list[str] = []
        self.url = ""
        self._port = port
        self._says = f"HTTP/1.1 {status} X\r\nServer: a proxy\r\n\r\n".encode() if says is None else says
        self._has_tunnel = says is None and status == 200
        self._closes = closes
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(self._says)
            if not self._has_tunnel:
                if not self._closes:
                    await reader.read()
                return
            back, forth = await asyncio.open_connection("127.0.0.1", self._port)
            async with asyncio.TaskGroup() as group:
                group.create_task(_pipe(reader, forth))
                group.create_task(_pipe(back, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(1 << 16):
            writer.write(piece)
    finally:
        writer.close()
