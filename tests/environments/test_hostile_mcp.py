"""An MCP server that means harm: its schemas, names, floods and results end a call or a sample, and never hold up the run."""

import asyncio
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Sample, ToolCall
from proctor_adapters.environments import mcp

SERVER = Path(__file__).parents[1] / "fakes" / "hostile_mcp.py"
SAMPLE = Sample.ask("a", "?")
UNREADABLE = "The result cannot be read"
ANSWERED = {
    "names": "right",
    "controls": "right",
    "foreign": "right",
    "pattern": '{"x": "aaa',
    "shared": '{"x": "aaa',
    "address": '{"x": "aaa',
    "file": '{"x": "aaa',
    "notes": "right",
    "progress": "right",
    "changes": "right",
    "samples": "right",
    "questions": "right",
    "other ids": "right",
    "noise": "right",
    "links": "[resource: file:///etc/passwd]",
    "number": UNREADABLE,
    "deep": UNREADABLE,
    "half a character": UNREADABLE,
    "null": UNREADABLE,
}
REFUSED = {"many": "more than 100 pages or 5,000 tools", "pages": "more than 100 pages", "nested": UNREADABLE, "surrogate": UNREADABLE}  # fmt: skip
ENDED = {"half": "ended with code 0", "never": "did not answer"}
FOR_EVER = [f"{name} for ever" for name in ("notes", "progress", "changes", "samples", "questions")]


def server(mode: str, **options: object) -> Any:
    maker: Any = mcp.make(f"{sys.executable} {SERVER} '{mode}'", {"seconds": 20, "start_seconds": 20, **options})
    return maker(SAMPLE)


async def longest_stall(done: asyncio.Event) -> float:
    """How long the event loop did not turn, at most."""
    longest, last = 0.0, time.perf_counter()
    while not done.is_set():
        await asyncio.sleep(0.01)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest


@pytest.mark.parametrize("mode", ANSWERED)
async def test_a_call_is_answered_and_the_run_goes_on_meanwhile(mode: str) -> None:
    done = asyncio.Event()
    stall = asyncio.create_task(longest_stall(done))
    async with server(mode) as environment:
        result = await environment.call(ToolCall(name="run", arguments={}))
    done.set()
    assert result.content.startswith(ANSWERED[mode])
    assert result.is_error == (ANSWERED[mode] == UNREADABLE)
    assert await stall < 5


@pytest.mark.parametrize("mode", REFUSED)
async def test_a_list_of_tools_that_cannot_be_used_is_said_at_once(mode: str) -> None:
    with pytest.raises(EnvironmentFailed, match=REFUSED[mode]):
        async with server(mode):
            pass


@pytest.mark.parametrize("mode", ENDED)
async def test_an_answer_that_breaks_off_or_never_comes_is_a_failure(mode: str) -> None:
    async with server(mode, seconds=1) as environment:
        with pytest.raises(EnvironmentFailed, match=ENDED[mode]):
            await environment._connection.call("run", {}, 1)


@pytest.mark.torture
@pytest.mark.parametrize("mode", FOR_EVER)
async def test_a_flood_without_end_is_late_and_fills_no_memory(mode: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with server(mode) as environment:
        with pytest.raises(EnvironmentFailed, match="did not answer"):
            await environment._connection.call("run", {}, 15)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
