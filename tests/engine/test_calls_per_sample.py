"""What a sample costs, counted in function calls: they are the same on a busy machine, where times are not.

A bound that is passed means that something is done for each sample that was not done before. Look for it with the list of functions
that cProfile gives; raise the bound where the new thing is worth it, and `python -m bench http` still holds.
"""

import asyncio
import cProfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat

from proctor import Sample, Task, evaluate

FEW, MANY = 200, 600


async def answer(_: str) -> str:
    return "Paris"


@pytest.fixture
def address() -> Iterator[str]:
    """Serve from a thread of its own, whose calls are not counted."""
    found: Future[str] = Future()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with Endpoint(chat()) as endpoint:
            found.set_result(endpoint.url)
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    yield found.result(10)
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()


def test_of_a_function(tmp_path: Path) -> None:
    assert calls_per_sample(tmp_path, agent=answer) <= 215


def test_of_an_endpoint(tmp_path: Path, address: str) -> None:
    assert calls_per_sample(tmp_path, agent="openai:m", agent_options={"base_url": address}) <= 329


def calls_per_sample(folder: Path, **how: Any) -> float:
    def calls(count: int) -> int:
        samples = [Sample.ask(str(number), "Capital of France?", target="Paris") for number in range(count)]
        task = Task(name="capitals", samples=samples, scorers=["exact"])
        profile = cProfile.Profile()
        run = profile.runcall(evaluate, task, store=str(folder / "runs.db"), concurrency=64, **how)
        assert run.outcomes == {"scored": count}
        return sum(entry.callcount + entry.reccallcount for entry in profile.getstats())

    calls(FEW)  # what is only done once
    return (calls(MANY) - calls(FEW)) / (MANY - FEW)
