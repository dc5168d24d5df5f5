"""A real HTTP server on the loopback address that answers by a script, and does every wrong thing on demand."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self


class Request(NamedTuple):
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class Endpoint:
    """Answers requests with the answers of a script, in order; the last one again and again.

    Attributes:
        requests: what came, in order.
        connections: how many were opened.
        most_at_once: the most requests that were in flight at the same time.
    """

    def __init__(self, *script: Answer, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.at_once = self.most_at_once = 0
        self.url = ""
        self._port = port
        self._tls = tls
        self._script: list[Answer] = list(script)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, ssl=self._tls)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
                try:
                    await answer(request, writer)
                finally:
                    self.at_once -= 1
                if writer.is_closing():
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()


def chat(text: str | None = "Paris", *, seconds: float = 0.0, **message: Any) -> Answer:
    """A chat completion that says `text`."""
    reply = {
        "choices": [{"message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    return data(reply, seconds=seconds)


def data(value: Any, status: int = 200, *, seconds: float = 0.0, **headers: str) -> Answer:
    """JSON; header names are written with `_` for `-`."""
    return body(json.dumps(value).encode(), status, seconds=seconds, **headers)


def body(content: bytes, status: int = 200, seconds: float = 0.0, **headers: str) -> Answer:
    """Any body."""
    named = {"content_type": "application/json", **headers}

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if seconds:
            await asyncio.sleep(seconds)
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(content)}\r\n\r\n".encode() + content)
        await writer.drain()

    return answer


def cut(content: bytes = b'{"choices": [') -> Answer:
    """A body that breaks off before its length."""
    return raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n" + content)


def raw(content: bytes) -> Answer:
    """These bytes, then the connection is closed; nothing at all is a reset."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        if content:
            await writer.drain()
            writer.close()
        else:
            writer.transport.abort()

    return answer


def drip(pieces: Iterable[bytes], *, every: float) -> Answer:
    """A chunked body, piece by piece; what follows the last piece never comes."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        for piece in pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(every)
        await asyncio.sleep(3600)

    return answer


def events(*values: Any, end: bool = True, kind: str = "text/event-stream") -> Answer:
    """Server-sent events, with or without the end that belongs there."""
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    stream = "".join(f"data: {line}\r\n\r\n" for line in [*lines, *(["[DONE]"] if end else [])])
    return body(stream.encode(), content_type=kind)


async def never(request: Request, writer: asyncio.StreamWriter) -> None:
    """No reply."""
    await asyncio.sleep(3600)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ", 2)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
