"""Very many requests to a server that does every wrong thing: no answer is another's, and nothing grows."""

import asyncio
import gzip
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.core.errors import ProviderFailed
from proctor.transport.client import Client
from proctor.transport.pool import Lane
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

REQUESTS, REQUESTS_LONG = 3_000, 200_000
AT_ONCE = 64
KNOWN = {"reset", "truncated", "not_http", "timeout", "http_429", "http_500", "too_large"}
MOST_GROWTH_BYTES = 6_000_000
PAGE = os.sysconf("SC_PAGE_SIZE")


class Storm(asyncio.Protocol):
    """Answers each request with its own body, or with one of the faults.

    Args:
        strays: whether one reply in 200 is followed by another that nobody asked for.
    """

    connections = 0

    def __init__(self, draw: random.Random, *, strays: bool) -> None:
        self._draw = draw
        self._strays = strays
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        Storm.connections += 1
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while True:  # who took another's reply for its own sends the next request before we read the last one
            head, separator, rest = self._received.partition(b"\r\n\r\n")
            length = int(head.rpartition(b"Content-Length: ")[2]) if separator else 0
            if not separator or len(rest) < length:
                break
            self._received = rest[length:]
            self._answer(rest[:length])

    def _answer(self, body: bytes) -> None:
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        other = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nWRONG"
        packed = gzip.compress(body, 1)
        chunks = b"%x\r\n%b\r\n" % (len(body), body)
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        match self._draw.randrange(50):
            case 0:
                self._transport.abort()
            case 1:
                self._last(whole[: self._draw.randrange(len(whole))])
            case 2:
                self._last(whole)  # and does not say that it closes
            case 3:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n" + whole)
            case 4:
                self._transport.write(b"HTTP/1.1 429 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")
            case 5:
                self._last(b"HTTP/1.1 500 X\r\n\r\nbroken")
            case 6:
                self._transport.write(chunked + b"0\r\n\r\n")
            case 7:
                self._last(chunked)
            case 8:
                head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
                self._transport.write(head + packed)
            case 9:
                self._last(b"HTTP/1.0 200 OK\r\n\r\n" + body)
            case 10:
                self._transport.write(whole + b"junk")
            case 11:
                self._last(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000)
            case 12:
                self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
            case 13:
                asyncio.get_running_loop().call_later(0.15, self._transport.write, whole)  # nobody waits any more
            case 14 | 15:
                for i in range(0, len(whole), 40):
                    self._transport.write(whole[i : i + 40])
            case 16 if self._strays and self._draw.random() < 0.25:
                self._transport.write(whole)
                asyncio.get_running_loop().call_later(0.01, self._transport.write, other)
            case _:
                self._transport.write(whole)

    def _last(self, data: bytes) -> None:
        self._transport.write(data)
        self._transport.close()


@contextmanager
def storming(*, strays: bool) -> Iterator[str]:
    """The address of the server, which runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    draw = random.Random(7)  # the same faults each time
    Storm.connections = 0
    server = loop.run_until_complete(
        loop.create_server(lambda: Storm(draw, strays=strays), "127.0.0.1", 0, backlog=1000)
    )
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.call_later, 0.3, loop.stop)
        thread.join()
        loop.close()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def send_all(url: str, count: int) -> tuple[Counter[str], list[int], list[float]]:
    """Send so many requests.

    Returns:
        How they ended, what memory was in use at each fifth of the way, and when the requests began that took another's
        reply for theirs.
    """
    ends: Counter[str] = Counter()
    misled: list[float] = []
    numbers = iter(range(count))
    memory: list[int] = []
    chance = random.Random(1)
    targets = [RequestTarget(f"{url}/{n}", terms=RequestTerms(seconds=0.1)) for n in range(4)]
    policy = RetryPolicy(attempts=1)

    async def ask(client: Client, number: int) -> None:
        began = time.monotonic()
        body = b"%d " % number * 20
        if number % 10 == 0:
            answer = await client.stream(targets[0], body, Whole)
        else:
            answer = await client.post(targets[number % 4], body, bytes)
        if answer == body:
            ends["answered"] += 1
        else:
            misled.append(began)

    async def worker(client: Client) -> None:
        for number in numbers:
            if number % max(1, count // 5) == 0:
                memory.append(resident())
            call = asyncio.create_task(ask(client, number))
            if chance.random() < 0.01:
                asyncio.get_running_loop().call_later(chance.random() * 0.02, call.cancel)
            try:
                await call
            except ProviderFailed as error:
                ends[error.kind] += 1
            except asyncio.CancelledError:
                ends["cancelled"] += 1

    async with Client(concurrency=AT_ONCE, policy=policy, most_reply_bytes=100_000) as client:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(worker(client))
        assert all(client.endpoint(target).in_flight == 0 for target in targets)
    return ends, memory, misled


class Whole:
    """Takes a body that is no stream."""

    def __init__(self) -> None:
        self._body = b""

    def add(self, data: bytes) -> bool:
        raise AssertionError(data)

    def whole(self, body: bytes) -> None:
        self._body = body

    def done(self) -> bytes:
        return self._body


def loops() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    import uvloop

    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.mark.parametrize("strays", [False, True], ids=["", "and speaks unasked"])
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.fault("server that does every wrong thing", "a protocol of its own", "each answer is the one asked for")
def test_no_answer_is_anothers_and_nothing_grows(
    loop: str, strays: bool, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = REQUESTS_LONG if long else REQUESTS
    noticed: list[float] = []
    distrust = Lane.distrust

    def noted(lane: Lane) -> None:
        noticed.append(time.monotonic())
        distrust(lane)

    monkeypatch.setattr(Lane, "distrust", noted)
    with storming(strays=strays) as url, asyncio.Runner(loop_factory=loops()[loop]) as runner:
        runner.run(send_all(url, 500))  # imports, buffers, threads
        before = open_files()
        noticed.clear()
        ends, memory, misled = runner.run(send_all(url, count))
        for _ in range(100):  # the server closes its ends in a thread of its own
            if (after := open_files()) <= before + 2:
                break
            runner.run(asyncio.sleep(0.1))
    print(
        loop,
        dict(ends),
        len(misled),
        "misled",
        Storm.connections,
        "connections,",
        [size // 1_000_000 for size in memory],
        "MB",
    )
    assert sum(ends.values()) + len(misled) == count
    assert set(ends) <= {"answered", "cancelled", *KNOWN}
    assert bool(noticed) == strays
    assert strays or not misled
    assert all(began <= noticed[0] for began in misled), (
        "HTTP/1.1 cannot tell until one is noticed; from then on, never"
    )
    assert ends["answered"] > count * 0.6
    assert all(ends[kind] for kind in KNOWN)
    assert strays or Storm.connections < count * 0.5, "most are used again"
    assert after <= before + 2
    assert max(memory[1:]) - memory[1] < MOST_GROWTH_BYTES
