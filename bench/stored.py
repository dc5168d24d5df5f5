"""How quick runs that are there already are: going on with one, and showing a large one."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from bench.figure import Figure
from proctor import Sample, Score, Task, Trajectory, evaluate
from proctor.api.options import RunOptions
from proctor.api.prepare import prepare
from proctor.core.run import RunState
from proctor.core.trial import Trial, Verdict
from proctor.stores.sqlite import SqliteStore

LONG, DONE = 100_000, 99_000
LARGE = 1_000_000
AT_ONCE = 10_000
NAME = "r"

SUMMARY = """
import resource, sys, time
from proctor import open_run
started = time.perf_counter()
run = open_run("r", store=sys.argv[1])
assert run.estimate("accuracy").planned == int(sys.argv[2])
assert sum(run.outcomes.values()) == int(sys.argv[2])
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measure() -> Iterator[Figure]:
    """Seconds to the first new call of a long run, and what the summary of a million stored trials takes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Figure(
            what="first new call of a run with 99,000 of 100,000 done",
            value=_first_call(Path(folder) / "long.db"),
            unit="s",
            at_most=1.5,
        )
        store = Path(folder) / "large.db"
        asyncio.run(fill(store, task_of(LARGE), LARGE))
        done = subprocess.run(
            [sys.executable, "-c", SUMMARY, str(store), str(LARGE)], check=True, stdout=subprocess.PIPE
        )
        seconds, megabytes = map(float, done.stdout.split())
        yield Figure(what="summary of 1,000,000 stored trials", value=seconds, unit="s", at_most=2.0)
        yield Figure(what="memory of that", value=megabytes, unit="MB", at_most=300)


def _first_call(path: Path) -> float:
    task = task_of(LONG)
    asyncio.run(fill(path, task, DONE))
    called.clear()
    started = time.perf_counter()
    run = evaluate(task, agent=agent, store=str(path), run_id=NAME)
    assert len(called) == LONG - DONE, len(called)
    assert run.outcomes == {"scored": LONG}
    return called[0] - started


called: list[float] = []


async def agent(question: str) -> str:
    """Notes when it was called."""
    called.append(time.perf_counter())
    return question


def task_of(samples: int) -> Task:
    """Return a task of so many samples."""
    return Task(name="long", samples=lambda: map(_sample, range(samples)), scorers=["exact"], planned=samples)


async def fill(path: Path, task: Task, done: int, *, name: str = NAME, state: RunState = "running") -> None:
    """Store a run of a task, of which the first samples are done."""
    store = SqliteStore(path)
    record = prepare(task, RunOptions(agent=agent, store=store, run_id=name)).job.record
    await store.begin(record)
    planned = await store.plan(name, map(_sample, range(task.planned or 0)))
    for start in range(0, done, AT_ONCE):
        await asyncio.gather(
            *(
                store.add(
                    replace(_trial(number), run_id=name), [replace(_verdict(number), run_id=name)], _sample(number)
                )
                for number in range(start, min(start + AT_ONCE, done))
            )
        )
    await store.end(replace(record, planned=planned, state=state))
    store.close()


def _sample(number: int) -> Sample:
    return Sample.ask(str(number), f"{number}", target=str(number))


def _trial(number: int) -> Trial:
    return Trial(run_id=NAME, sample_id=str(number), outcome="scored", trajectory=Trajectory.of(str(number)))


def _verdict(number: int) -> Verdict:
    return Verdict(
        run_id=NAME, sample_id=str(number), scorer="exact", scorer_version="1", result=Score(points=number % 2)
    )
