"""What the adapter of google-adk costs beside the library's own runner: an agent that calls a tool and answers."""

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from bench.figure import Figure, in_turn
from proctor.core.sample import Sample

CALLS = 50
FAKES = Path(__file__).resolve().parents[1] / "tests" / "fakes"


def measure() -> Iterator[Figure]:
    """CPU of a conversation of one turn; the model answers at once."""
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(FAKES))
    from adk_agents import agent, calls, last_said, lookup_price, says

    from proctor_adapters.agents import adk

    root = agent(
        lambda request: calls(("lookup_price", {"model": "A"})) if last_said(request) else says("It costs 100."),
        tools=[lookup_price],
    )
    sample = Sample.ask("x", "What does A cost?", meta={"session": {"app_name": "shop", "user_id": "u"}})
    wrapped = adk.wrap(root)

    async def ours() -> None:
        async with wrapped.open(sample, None) as session:
            await session.send(sample.turns[0])

    own, adapted = in_turn(lambda: _cpu(lambda: _own(root, sample.question)), lambda: _cpu(ours))
    yield Figure(what="google-adk, its own runner", value=own * 1000, unit="ms")
    yield Figure(what="google-adk, our adapter against it", value=adapted / own, at_most=1.3)


async def _own(root: Any, question: str) -> None:
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(root, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="u")
    asked = types.Content(role="user", parts=[types.Part(text=question)])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=asked):
        pass


def _cpu(work: Callable[[], Awaitable[None]]) -> float:
    async def repeated() -> float:
        before = time.process_time()
        for _ in range(CALLS):
            await work()
        return (time.process_time() - before) / CALLS

    return asyncio.run(repeated())
