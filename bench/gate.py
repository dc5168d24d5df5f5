"""How quick a gate decides about two large runs."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.stored import fill, task_of

COUNT = 100_000
GATE = """
import sys, time
import proctor
started = time.perf_counter()
run = proctor.open_run("new", store=sys.argv[1])
found = proctor.gate(run, against="old", policy=sys.argv[2])
assert found.decision == "go", found
print(time.perf_counter() - started)
"""
POLICY = """
[[rule]]
metric = "accuracy"
at_least = 0.45

[[rule]]
metric = "failed"
at_most = 0.05

[[rule]]
metric = "accuracy"
not_worse_by = 0.02
"""
LATENCY = """
[[rule]]
metric = "latency"
quantile = 0.95
at_most = 20
"""


def measure() -> Iterator[Figure]:
    """Seconds that a gate takes, imports included."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        for name in ("old", "new"):
            asyncio.run(fill(store, task_of(COUNT), COUNT, name=name, state="finished"))
        for what, text, most in (
            ("threshold, failed share, margin", POLICY, 2.0),
            ("latency by quantile", LATENCY, None),
        ):
            policy = Path(folder) / "gate.toml"
            policy.write_text(text)
            done = subprocess.run(
                [sys.executable, "-c", GATE, str(store), str(policy)], check=True, stdout=subprocess.PIPE
            )
            yield Figure(
                what=f"gate over two runs of 100,000 trials: {what}", value=float(done.stdout), unit="s", at_most=most
            )
