"""How soon a change is found, and how often one that is not there; and how quick a trend over many runs is."""

import asyncio
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from bench.figure import Figure
from bench.stored import agent
from proctor import Sample, Score, Task, Trajectory
from proctor.api.options import RunOptions
from proctor.api.prepare import prepare
from proctor.core.trial import Trial, Verdict
from proctor.stores.sqlite import SqliteStore
from proctor_ci.stats.drift import Detector, DriftUnit, Shift

RUNS_PER_ALARM = 100
SAMPLES = 200
QUIET = 40, 250  # suites, runs of each
FALLS = 50
STORED = 1_000
TREND = """
import sys, time
from proctor_ci.trends import trends
started = time.perf_counter()
found = trends("long", store=sys.argv[1], last=1000)
assert len(found.points) == 1000, found
print(time.perf_counter() - started)
"""
Draw = Callable[[random.Random], float]
SHAPES: dict[str, tuple[Draw, int]] = {
    "all samples at 80%": (lambda _: 0.8, 1),
    "all samples at 50%": (lambda _: 0.5, 1),
    "most samples easy": (lambda rng: rng.betavariate(4, 1), 1),
    "solved or not": (lambda rng: rng.betavariate(0.8, 0.2), 1),
    "three attempts": (lambda rng: rng.betavariate(4, 1), 3),
    "all samples at 98%": (lambda _: 0.98, 1),
}


def measure() -> Iterator[Figure]:
    """Yield the rate of false alarms, the runs until a fall of 10 points is found, and the seconds of a trend."""
    for name, (draw, attempts) in SHAPES.items():
        suites, runs = QUIET
        found = [shift for seed in range(suites) for shift in watch(draw, attempts, seed, before=runs)]
        falls = sum(one.direction == "down" for one in found)
        what = f"{name}, no change: false falls in {suites * runs:,} runs"
        yield Figure(what=what, value=falls, unit="", at_most=suites * runs / RUNS_PER_ALARM)
    for name, (draw, attempts) in SHAPES.items():
        for before in (10, 30):
            delays = [delay(draw, attempts, seed, before) for seed in range(FALLS)]
            what = f"{name}, 10 points lost after {before} runs: runs to find it"
            yield Figure(what=what, value=sum(delays) / FALLS, unit="runs", at_most=3.0)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        asyncio.run(_fill(store))
        done = subprocess.run([sys.executable, "-c", TREND, str(store)], check=True, stdout=subprocess.PIPE)
        yield Figure(what="trend over 1,000 runs of 200 samples", value=float(done.stdout), unit="s", at_most=1.0)


def watch(draw: Draw, attempts: int, seed: int, before: int, after: int = 0, lost: float = 0.1) -> list[Shift]:
    """Return the changes found in runs of a suite that loses points on average after some of them."""
    rng = random.Random(seed)
    rates = [draw(rng) for _ in range(SAMPLES)]
    lower = _lowered(rates, lost)
    detector = Detector(RUNS_PER_ALARM)
    found = (detector.add(_run(rates if at < before else lower, attempts, rng)) for at in range(before + after))
    return [shift for shift in found if shift is not None]


def delay(draw: Draw, attempts: int, seed: int, before: int) -> int:
    """Return how many runs it takes until a fall is found; 30 where it is not found."""
    falls = [one.found for one in watch(draw, attempts, 10_000 + seed, before, 30) if one.direction == "down"]
    return min((at - before + 1 for at in falls if at >= before), default=30)


def _run(rates: list[float], attempts: int, rng: random.Random) -> dict[str, DriftUnit]:
    return {
        str(number): DriftUnit(sum(rng.random() < rate for _ in range(attempts)) / attempts)
        for number, rate in enumerate(rates)
    }


def _lowered(rates: list[float], lost: float) -> list[float]:
    """Return rates that are lower by some points on average; none below 0."""
    low, high = 0.0, 1.0
    for _ in range(40):
        step = (low + high) / 2
        short = sum(min(rate, step) for rate in rates) < lost * len(rates)
        low, high = (step, high) if short else (low, step)
    return [max(rate - high, 0.0) for rate in rates]


async def _fill(path: Path) -> None:
    store = SqliteStore(path)
    rng = random.Random(1)
    samples = [Sample.ask(str(number), str(number), target="x") for number in range(SAMPLES)]
    task = Task(name="long", samples=samples, scorers=["exact"], planned=SAMPLES)
    first = prepare(task, RunOptions(agent=agent, store=store, run_id="0")).job.record
    rates = [rng.betavariate(4, 1) for _ in samples]
    for number in range(STORED):
        record = replace(first, id=str(number), created=1.7e9 + 86_400 * number)
        await store.begin(record)
        planned = await store.plan(record.id, samples)
        await asyncio.gather(
            *(
                store.add(
                    Trial(run_id=record.id, sample_id=one.id, outcome="scored", trajectory=Trajectory.of("x")),
                    [Verdict(run_id=record.id, sample_id=one.id, scorer="exact", scorer_version="1", result=Score(points=float(rng.random() < rate)))],
                    one,
                )
                for one, rate in zip(samples, rates, strict=True)
            )
        )  # fmt: skip
        await store.end(replace(record, planned=planned, state="finished"))
    store.close()
