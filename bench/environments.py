"""What a call of a tool costs: of a class beside the method itself, of a program beside a pipe, of an MCP server beside the SDK's own client."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.figure import ROUNDS, Figure, in_turn, seconds_of
from proctor.core.sample import Sample, ToolCall

CALLS = 1_000
SHOP = Path(__file__).resolve().parents[1] / "tests" / "fakes" / "shops.py"
STDIO = [sys.executable, str(SHOP), "stdio"]
SAMPLE = Sample.ask("a", "?")
CALL = ToolCall(name="read_basket")


def measure() -> Iterator[Figure]:
    """One call after the other, of each kind."""
    from proctor.environments import python
    from proctor_adapters.environments import mcp, process

    with asyncio.Runner() as runner:
        for what, kind in (("a class", "Shop"), ("an async class", "AsyncShop")):
            made = python.make(f"{SHOP}:{kind}", {})
            seconds = min(_of(runner, made) for _ in range(ROUNDS))  # noise only adds to it
            yield Figure(what=f"a call of {what}", value=seconds / CALLS * 1e6, unit="µs", at_most=100)
        with subprocess.Popen(
            [sys.executable, str(SHOP), "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child:
            made = process.make(f"{sys.executable} {SHOP} lines", {})
            bare, ours = in_turn(lambda: seconds_of(lambda: _bare(child)), lambda: _of(runner, made))
            assert child.stdin is not None
            child.stdin.close()
        yield Figure(
            what="a call of a program, on top of that", value=(ours - bare) / CALLS * 1e3, unit="ms", at_most=1
        )
        server = mcp.make(" ".join(STDIO), {})
        sdk, ours = in_turn(lambda: runner.run(_sdk()), lambda: _of(runner, server))
        yield Figure(what="MCP over stdio, the SDK's own client", value=sdk / CALLS * 1e3, unit="ms")
        yield Figure(what="MCP over stdio, ours against it", value=ours / sdk, at_most=1.3)


def _of(runner: asyncio.Runner, make: Any) -> float:
    """Return the seconds of the calls alone."""

    async def calls() -> float:
        async with make(SAMPLE) as environment:
            for _ in range(50):
                await environment.call(CALL)
            started = asyncio.get_running_loop().time()
            for _ in range(CALLS):
                assert not (await environment.call(CALL)).is_error
            return asyncio.get_running_loop().time() - started

    return runner.run(calls())


async def _sdk() -> float:
    from mcp import Client, StdioServerParameters

    async with Client(StdioServerParameters(command=STDIO[0], args=STDIO[1:])) as client:
        await client.list_tools()
        for _ in range(50):
            await client.call_tool("read_basket", {})
        started = asyncio.get_running_loop().time()
        for _ in range(CALLS):
            assert not (await client.call_tool("read_basket", {})).is_error
        return asyncio.get_running_loop().time() - started


def _bare(child: "subprocess.Popen[bytes]") -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    for _ in range(CALLS):
        child.stdin.write(b'{"do": "call", "name": "read_basket", "arguments": {}}\n')
        child.stdin.flush()
        assert child.stdout.readline() == b'{"result": []}\n'
