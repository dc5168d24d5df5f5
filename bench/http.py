"""What a whole run costs beside a bare loop that sends the same requests: CPU, time, connections, memory."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

import msgspec

from bench.figure import Figure
from bench.sums import expected_right

ROUNDS = 5
ROOT = Path(__file__).parents[1]
FAULTS = {"rate_429": 0.10, "rate_500": 0.03, "rate_reset": 0.02, "rate_cut": 0.01, "retry_after": 1.0}


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What one process took."""

    cpu: float
    wall: float


class Server:
    """The mock server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        port_file = folder / "port"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.mock_server", "--port-file", str(port_file)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        while not port_file.exists():
            time.sleep(0.02)
        self.root = f"http://127.0.0.1:{port_file.read_text().split()[0]}"

    def tell(self, path: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask for the counters at `/stats`, or set something elsewhere."""
        body = None if path == "/stats" else json.dumps(values or {}).encode()
        with urlopen(Request(self.root + path, data=body), timeout=10) as reply:
            found: dict[str, Any] = json.loads(reply.read())
        return found

    def stop(self) -> None:
        """End the process."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(10)


def measure() -> Iterator[Figure]:
    """Ratios of a run to the bare loop, each from processes that take turns; and what the server saw."""
    with _server() as (server, folder):
        small, large = Bench(server, folder, 5_000, 256), Bench(server, folder, 10_000, 256)
        costs = [median_of(small, ROUNDS), median_of(large, ROUNDS)]
        (floor, run), (floor_2, run_2) = costs
        yield Figure(
            what="CPU of the process, 5,000 samples of 50 ms, 256 in flight", value=run.cpu / floor.cpu, at_most=1.3
        )
        further = (run_2.cpu - run.cpu) / (floor_2.cpu - floor.cpu)
        yield Figure(what="CPU of each further sample (10,000 less 5,000)", value=further, at_most=1.4)
        yield Figure(what="time, 5,000 samples, 256 in flight", value=run.wall / floor.wall, at_most=1.18)
        yield Figure(what="time for twice as many samples", value=run_2.wall / run.wall, at_most=2.1)
        floor, run = median_of(Bench(server, folder, 1_000, 64), ROUNDS)
        yield Figure(what="time, 1,000 samples, 64 in flight", value=run.wall / floor.wall, at_most=1.1)
        yield from _seen(server, folder)
        yield from _with_faults(server, folder)
        grown = _peak(folder, 100_000) - _peak(folder, 20_000)
        yield Figure(what="memory per 1,000 samples, from 20,000 to 100,000", value=grown / 80, unit="MB", at_most=1.0)


class Bench:
    """The same samples for floor and run, so many in flight."""

    def __init__(self, server: Server, folder: Path, samples: int, at_once: int) -> None:
        self._environment = {**os.environ, "OPENAI_API_KEY": "sk-mock-mock", "PYTHONPYCACHEPREFIX": str(folder)}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
        self._arguments = [f"{server.root}/v1", str(samples), str(at_once)]
        self._folder = folder
        self._right = expected_right(samples)
        self._number = count()

    def floor(self) -> Cost:
        """A bare loop."""
        return self._take("bench.floor")

    def run(self) -> Cost:
        """A whole run."""
        return self._take("bench.pipeline", str(self._folder / f"{id(self)}-{next(self._number)}.db"))

    def _take(self, module: str, *more: str) -> Cost:
        before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-m", module, *self._arguments, *more]
        done = subprocess.run(command, cwd=ROOT, env=self._environment, check=True, stdout=subprocess.PIPE)
        wall, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
        assert int(done.stdout.split()[0]) == self._right, f"{module}: {done.stdout!r}; {self._right} answers are right"
        return Cost(cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall=wall)


def median_of(bench: Bench, rounds: int) -> tuple[Cost, Cost]:
    """Floor and run in turn, and the median of each; one of each before that, as what they import is compiled then."""
    bench.floor()
    bench.run()
    taken = [(bench.floor(), bench.run()) for _ in range(rounds)]
    floor, run = (
        Cost(cpu=median(cost.cpu for cost in costs), wall=median(cost.wall for cost in costs))
        for costs in zip(*taken, strict=True)
    )
    return floor, run


def _seen(server: Server, folder: Path) -> Iterator[Figure]:
    server.tell("/reset")
    Bench(server, folder, 5_000, 256).run()
    seen = server.tell("/stats")
    yield Figure(what="most in flight, 256 asked for", value=seen["max_in_flight"], unit="", at_least=256, at_most=256)
    connections = seen["connections"] - 1  # one is ours
    yield Figure(what="connections, 256 asked for", value=connections, unit="", at_most=258)
    yield Figure(what="requests for 5,000 samples", value=seen["requests"], unit="", at_least=5_000, at_most=5_000)


def _with_faults(server: Server, folder: Path) -> Iterator[Figure]:
    """10 % 429, 3 % 500, 2 % connections reset, 1 % bodies cut: every sample has to end with its answer."""
    server.tell("/config", FAULTS)
    floor, run = median_of(Bench(server, folder, 5_000, 256), 3)
    server.tell("/config", dict.fromkeys(FAULTS, 0.0))
    yield Figure(what="time with 16 % faults, every answer as without them", value=run.wall / floor.wall, at_most=1.5)


def _peak(folder: Path, samples: int) -> float:
    """The peak of resident memory, in MB, of a run whose agent answers at once."""
    command = [sys.executable, "-m", "bench.pipeline", "-", str(samples), "256", str(folder / f"{samples}.db")]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return float(done.stdout.split()[1])


@contextmanager
def _server() -> Iterator[tuple[Server, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            yield server, Path(folder)
        finally:
            server.stop()
