"""Whether the intervals of runs that ended early hold, and what such runs save, through the engine.

An interval that holds at any time is missed if the truth lies outside of it after any of the steps: no way to stop can be worse.
"""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import proctor
from bench.decisions import AT_ONCE, MOST, SUITES, Numbers, _wealth, differences, shares
from bench.figure import Figure
from proctor import Sample, Task
from proctor.stats import anytime

ERROR = 0.025
STEPS = 400
SEED = 60
RACES = 300
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
    task = Task(
        name="race",
        samples=[Sample.ask(str(at), str(at), target="yes") for at in range(SAMPLES)],
        scorers=["exact"],
    )
    for what, better, limit in (
        ("equal agents: a winner is named", 0.0, MOST),
        ("+15 points: the better one is named", 0.15, None),
    ):
        named = saved = 0
        for number in range(RACES):
            with tempfile.TemporaryDirectory() as folder:
                found = proctor.race(
                    task,
                    [_agent(number, 0.25, 0.0), _agent(number, 0.25 - better, 0.05 if better else 0.25)],
                    store=str(Path(folder) / "runs.db"),
                    concurrency=8,
                    seed=number,
                )
            named += found.winner is not None
            saved += found.saved
        yield Figure(what=f"{RACES} races of {SAMPLES} samples, {what}", value=named / RACES, unit="", at_most=limit)
        yield Figure(what="  trials saved", value=saved / RACES / SAMPLES / 2, unit="")


def _agent(seed: int, wrong: float, also: float):  # type: ignore[no-untyped-def]
    async def answer(question: str) -> str:
        common = random.Random(f"{seed}/{question}").random()
        own = random.Random(f"{seed}/{question}/{wrong}/{also}").random()
        return "no" if common < wrong or own < also else "yes"

    return answer
