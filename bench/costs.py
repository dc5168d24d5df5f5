"""How many calls a decision takes that may end early, by question and size of the task. By simulation, with a seed."""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from bench.decisions import Kind, look
from bench.decisions import _moving as moving
from bench.decisions import _right as right
from bench.figure import Figure

SUITES = 1_000
SIZES = (100, 200, 400)
QUESTIONS: list[tuple[str, Kind, float]] = [
    ("better, 22 % won and 7 % lost", moving(0.225, 0.075), 0.0),
    ("better, 20 % won and 10 % lost", moving(0.2, 0.1), 0.0),
    ("not worse by 10, equal, 5 % move each way", moving(0.05, 0.05), -0.1),
    ("not worse by 5, equal, 2 % move each way", moving(0.02, 0.02), -0.05),
    ("95 % right, at least 85 %", right(0.95), 0.85),
    ("90 % right, at least 85 %", right(0.9), 0.85),
]


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the suites of each kind."""
    suites = int(sys.argv[-1]) if sys.argv[-1].isdigit() else SUITES
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            (f"{name}, {steps} samples", pool.submit(look, kind, steps, suites, limit=limit, futile=True))
            for name, kind, limit in QUESTIONS
            for steps in SIZES
        ]
        for what, job in jobs:
            yield Figure(what=f"{what}: calls", value=job.result().steps, unit="")
            yield Figure(what=f"{what}: found", value=job.result().go, unit="")
