"""What a request costs, and what importing the client costs, beside aiohttp's public session."""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from bench.figure import Figure, cpu_of, in_turn
from bench.floor import fast_loop
from bench.http import Server

COUNT = 5_000
AT_ONCE = 64
BODY = msgspec.json.encode({"model": "mock", "messages": [{"role": "user", "content": "What is 12 + 30?"}]})
Ask = Callable[[], Awaitable[object]]


def measure() -> Iterator[Figure]:
    """The ratios, each of processes that take turns; a request without its start is one of many less one of few."""
    floor, ours = in_turn(lambda: cpu_of(["-c", "import aiohttp"]), lambda: cpu_of(["-c", "import proctor.transport.client"]), rounds=9)  # fmt: skip
    yield Figure(what="CPU of import proctor.transport.client over import aiohttp", value=ours / floor, at_most=0.65)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            server.tell("/config", {"latency_ms": 10.0})
            few_floor, few_ours, floor, ours = in_turn(
                *(lambda count=count, how=how: _cpu(how, server.root, count) for count in (0, COUNT) for how in HOW)
            )
        finally:
            server.stop()
    ratio = (ours - few_ours) / (floor - few_floor)
    yield Figure(what=f"CPU of a request over that of aiohttp's session, {AT_ONCE} in flight", value=ratio, at_most=0.4)
    yield Figure(what="the same in microseconds", value=(ours - few_ours) / COUNT * 1e6, unit="us")


def _cpu(how: str, root: str, count: int) -> float:
    return cpu_of(["-m", "bench.wire", how, f"{root}/v1/chat/completions", str(count)])


async def _by_session(url: str, run: Callable[[Ask], Awaitable[None]]) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

        async def ask() -> object:
            async with session.post(url, data=BODY, headers={"Content-Type": "application/json"}) as reply:
                return msgspec.json.decode(await reply.read())

        await run(ask)


async def _by_client(url: str, run: Callable[[Ask], Awaitable[None]]) -> None:
    from proctor.transport.client import Client
    from proctor.transport.target import RequestTarget

    target = RequestTarget(url, headers={"Content-Type": "application/json"})
    async with Client(concurrency=AT_ONCE) as client:
        await run(lambda: client.post(target, BODY, msgspec.json.decode))


HOW = {"session": _by_session, "client": _by_client}


def main() -> None:
    """Send the requests."""
    how, url, count = sys.argv[1:]
    numbers = iter(range(int(count)))

    async def run(ask: Ask) -> None:
        async def worker() -> None:
            for _ in numbers:
                await ask()

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(worker())

    with asyncio.Runner(loop_factory=fast_loop()) as runner:
        runner.run(HOW[how](url, run))


if __name__ == "__main__":
    main()
