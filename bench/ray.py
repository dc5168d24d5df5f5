"""What a run on Ray costs beside the same run in processes of this machine; starts a cluster for itself."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.figure import Figure
from proctor import evaluate
from proctor.core.trial import Trial, Verdict
from proctor.engine.progress import Progress

TASK = """
import asyncio, time
from proctor import Sample, Task

def many(samples: int = 20000) -> Task:
    return Task(name="many", samples=lambda: (Sample.ask(str(n), str(n), target=str(n)) for n in range(samples)), scorers=["exact"])

async def wait(question: str) -> str:
    await asyncio.sleep(0.02)
    return question

def compute(question: str) -> str:
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
    return question
"""
TRIALS, SECONDS, COMPUTED = 20_000, 0.02, 600
AT_ONCE = {"wait": 256, "compute": 8}  # more that compute would all end together, in the last seconds
WARMING = 10  # the first tenth of the trials is left out: workers and their cluster start meanwhile


def measure() -> Iterator[Figure]:
    """Times of all trials but the first tenth, as if all had taken as long each; the start is a figure of its own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("many.py").write_text(TASK, encoding="utf-8")
        seconds: dict[str, dict[str, float]] = {"wait": {}, "compute": {}}
        for agent, count in (("wait", TRIALS), ("compute", COMPUTED)):
            for name, how in (("one", {}), ("workers", {"workers": 2}), ("ray", {"workers": 2, "on": "ray"})):
                if (agent, name) == ("wait", "one"):
                    continue
                both = [_timed(agent, count, how) for _ in range(2)]
                seconds[agent][name] = min(one.seconds for one in both)
                if name == "ray":
                    start = min(one.start for one in both)
                    yield Figure(what=f"{agent}: seconds until the first trial on a new cluster", value=start, unit="s")
    ideal = TRIALS * SECONDS / AT_ONCE["wait"]
    wait, compute = seconds["wait"], seconds["compute"]
    yield Figure(what="20,000 trials of 20 ms, 256 at once, 2 workers", value=wait["workers"], unit="s")
    yield Figure(what="share of the ideal time", value=ideal / wait["workers"], unit="", at_least=0.7)
    yield Figure(what="on Ray, as a multiple of that time", value=wait["ray"] / wait["workers"], unit="x", at_most=1.2)
    for name in ("workers", "ray"):
        yield Figure(what=f"600 trials of 20 ms CPU, 2 workers ({name}): speed-up", value=compute["one"] / compute[name], unit="x", at_least=1.7)  # fmt: skip


class Timed(Progress):
    """Notes when trials are on disk."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.at: list[float] = []

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        self.at.append(time.perf_counter())


class Times(NamedTuple):
    """Of one run: until its first trial, and of all its trials."""

    start: float
    seconds: float


def _timed(agent: str, count: int, how: Any) -> Times:
    progress = Timed()
    begin = time.perf_counter()
    run = evaluate(
        "./many.py:many",
        agent=f"./many.py:{agent}",
        options={"samples": count},
        concurrency=AT_ONCE[agent],
        store=f"{os.urandom(4).hex()}.db",
        progress=progress,
        **how,
    )
    assert run.outcomes == {"scored": count}
    late = progress.at[count // WARMING :]
    return Times(progress.at[0] - begin, (late[-1] - late[0]) * count / (len(late) - 1))
