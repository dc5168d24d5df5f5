"""What engine and store cost beside an agent that only waits."""

import asyncio
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from proctor import Sample, Task, evaluate

SECONDS = 0.02
AT_ONCE = 256
MANY = 20_000


def measure() -> Iterator[Figure]:
    """The share of the ideal time that a run of waiting agents reaches, and what a finished sample leaves in memory."""
    with tempfile.TemporaryDirectory() as folder:
        _run(2_000, Path(folder) / "warm.db")
        shares = []
        for number in range(3):
            seconds = _run(MANY, Path(folder) / f"{number}.db")
            shares.append(MANY * SECONDS / AT_ONCE / seconds)
        yield Figure(
            what="share of the ideal time, 20,000 trials of 20 ms, 256 at once",
            value=max(shares),
            unit="",
            at_least=0.85,
        )
        before = _resident()
        _run(MANY, Path(folder) / "memory.db")
        grown = max(0.0, _resident() - before)
        yield Figure(what="memory per 1,000 finished samples", value=grown / MANY * 1_000, unit="MB", at_most=1.0)


async def wait(question: str) -> str:
    """An agent that takes its time and is right."""
    await asyncio.sleep(SECONDS)
    return question


def _run(count: int, store: Path) -> float:
    task = Task(
        name="wait",
        samples=lambda: (Sample.ask(str(number), str(number), target=str(number)) for number in range(count)),
        scorers=["exact"],
    )
    started = time.perf_counter()
    run = evaluate(task, agent=wait, concurrency=AT_ONCE, store=str(store))
    seconds = time.perf_counter() - started
    assert run.outcomes == {"scored": count}
    return seconds


def _resident() -> float:
    """Peak resident memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
