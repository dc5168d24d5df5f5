"""Whether the intervals of runs that ended early hold, and what such runs save, through the engine.

An interval that holds at any time is missed if the truth lies outside of it after any of the steps: no way to stop can be worse.
"""

import random
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import proctor
from bench.decisions import AT_ONCE, MOST, SUITES, Numbers, _wealth, differences, shares
from bench.figure import Figure
from proctor import Sample, Task
from proctor.stats import anytime

ERROR = 0.025
STEPS = 400
SEED = 60
RACES = 200
SAMPLES = 240


def measure() -> Iterator[Figure]:
    """The share of 10,000 suites of each kind whose mean is ever outside, and of races between equals that name a winner."""
    for kind in (*shares(0.85), *shares(0.6), *differences(0.15)):
        source = np.random.default_rng(SEED)
        low = -1.0 if kind.paired else 0.0
        missed = 0
        for begin in range(0, SUITES, AT_ONCE):
            drawn = kind.draw(source, AT_ONCE, STEPS)
            truth = np.full(AT_ONCE, (kind.truth - low) / (1 - low))
            ever = np.zeros(AT_ONCE, bool)
            for up in (True, False):
                ever |= (_wealth(drawn, truth, low, kind.heaviest, is_suite=False, up=up) >= 1 / ERROR).any(1)
            missed += int(ever.sum())
            if not begin:
                _check(drawn.value[0, :50], drawn.weight[0, :50], low, kind.heaviest)
        yield Figure(
            what=f"95 % interval missed after any of {STEPS} steps: {kind.name}",
            value=missed / SUITES,
            unit="",
            at_most=2 * ERROR + MOST - 0.05,
        )
    yield from _races()


def _check(values: Numbers, weights: Numbers, low: float, heaviest: int) -> None:
    """Compare what is simulated with what is shown."""
    steps = [(float(value), float(weight)) for value, weight in zip(values, weights, strict=True)]
    found = anytime.bounds(steps, ERROR, low=low, heaviest=heaviest)
    assert (
        found.low <= sum(value * weight for value, weight in steps) / sum(weight for _, weight in steps) <= found.high
    )
    for end, is_low in ((found.low, True), (found.high, False)):
        if low < end < 1:
            inside = anytime.bounds(steps, ERROR / 1.001, low=low, heaviest=heaviest)
            assert (inside.low <= end) if is_low else (inside.high >= end)


def _races() -> Iterator[Figure]:
    """Race agents that are equally good, and one that is 15 points better, through engine and store."""
    samples = [Sample.ask(str(at), str(at), target="yes") for at in range(SAMPLES)]
    task = Task(name="race", samples=samples, scorers=["exact"])
    for what, better, limit in (
        ("equal agents: a winner is named", 0.0, MOST),
        ("+15 points: it is named", 0.15, None),
    ):
        named = saved = 0
        for number in range(RACES):
            with tempfile.TemporaryDirectory() as folder:
                found = proctor.race(
                    task,
                    [_agent(f"{number}/old", 0.25 + better), _agent(f"{number}/new", 0.25)],
                    store=str(Path(folder) / "runs.db"),
                    concurrency=8,
                    seed=number,
                )
            named += found.winner == 1 if better else found.winner is not None
            saved += found.saved
        yield Figure(what=f"{RACES} races of {SAMPLES} samples, {what}", value=named / RACES, unit="", at_most=limit)
        yield Figure(what="  trials saved", value=saved / RACES / SAMPLES / 2, unit="")


def _agent(name: str, wrong: float) -> Callable[[str], Coroutine[Any, Any, str]]:
    """Return an agent that is wrong in this share; half of the samples are as hard for every agent of a race."""
    number = name.partition("/")[0]

    async def answer(question: str) -> str:
        is_shared = random.Random(f"{number}/{question}").random() < 0.5
        drawn = random.Random(f"{number if is_shared else name}/{question}/answer").random()
        return "no" if drawn < wrong else "yes"

    return answer
