"""What a sample of a task of Inspect costs its worker, and what it costs us besides a sample of our own task; needs `PROCTOR_GUEST_PYTHON`."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import msgspec

from bench.figure import Figure
from bench.http import Server
from proctor import Sample, Task, evaluate
from proctor.core.run import Estimate

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate

@task
def sums(count: int) -> Task:
    samples = [Sample(id=f"s{n}", input=f"What is {n} + 3?", target=str(n + 3)) for n in range(count)]
    return Task(dataset=samples, solver=generate(), scorer=match(numeric=True))
"""
COUNTS = (200, 1_200)  # what a run costs at its start is in both
AT_ONCE = 200
LATENCY_MS = 5_000.0  # so long that all are in flight before the first reply
CPU = "worker/milliseconds@inspect"


class Played(msgspec.Struct, frozen=True):
    """What a run took: seconds of our CPU, milliseconds a sample of the worker's, and the most requests at one time."""

    cpu: float
    worker: float
    in_flight: int
    seconds: float


def measure() -> Iterator[Figure]:
    """CPU of a worker and of the process of the run, for samples of one request each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder)
        try:
            server.tell("/config", {"latency_ms": LATENCY_MS})
            (folder / "sums.py").write_text(TASK, encoding="utf-8")
            own = [_play(server, _own(count)) for count in COUNTS]
            theirs = [_play(server, f"inspect:{folder}/sums.py@sums", count=count) for count in COUNTS]
        finally:
            server.stop()
    further = COUNTS[1] - COUNTS[0]
    few, many = theirs
    adds = (many.cpu - few.cpu) - (own[1].cpu - own[0].cpu)
    worker = (many.worker * COUNTS[1] - few.worker * COUNTS[0]) / further
    yield Figure(what="CPU of the worker, each further sample", value=worker, unit="ms", at_most=20.0)
    yield Figure(what="CPU of the worker with its first samples, 1,200 in all", value=many.worker, unit="ms")
    memory = getrusage(RUSAGE_CHILDREN).ru_maxrss / 1_000  # of the largest process that has ended
    yield Figure(what="memory of the worker at its peak", value=memory, unit="MB", at_most=600.0)
    yield Figure(what="our CPU above that of a task of ours", value=1_000 * adds / further, unit="ms", at_most=1.0)
    yield Figure(what="requests in flight, 200 asked for", value=many.in_flight, unit="", at_least=AT_ONCE)
    yield Figure(what="samples a second, replies after 5 s", value=COUNTS[1] / many.seconds, unit="")


def _own(count: int) -> Task:
    samples = [Sample.ask(f"s{n}", f"What is {n} + 3?", target=str(n + 3)) for n in range(count)]
    return Task(name="sums", samples=samples, scorers=["number"])


def _play(server: Server, task: Task | str, **options: int) -> Played:
    server.tell("/reset")
    agent_options = {"base_url": f"{server.root}/v1"}
    before, started = getrusage(RUSAGE_SELF), time.perf_counter()
    run = evaluate(
        task, agent="openai:m", agent_options=agent_options, options=options, concurrency=AT_ONCE, store=":memory:"
    )
    after, seconds = getrusage(RUSAGE_SELF), time.perf_counter() - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Played(cpu, _worker(run.estimates), server.tell("/stats")["max_in_flight"], seconds)


def _worker(estimates: Sequence[Estimate]) -> float:
    return next((estimate.value or 0.0 for estimate in estimates if estimate.name == CPU), 0.0)
