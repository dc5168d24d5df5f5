"""One measured number, and how to take it."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import msgspec

ROUNDS = 5


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its bound: at most, at least, or none."""

    what: str
    value: float
    unit: str = "x"
    at_most: float | None = None
    at_least: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the bounds are kept; None without one."""
        if self.at_most is None and self.at_least is None:
            return None
        least, most = self.at_least, self.at_most
        return (least is None or self.value >= least) and (most is None or self.value <= most)

    @property
    def bound(self) -> str:
        """The bounds in words."""
        if self.at_most is not None and self.at_most == self.at_least:
            return f"exactly {self.at_most:g}"
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return f"at least {self.at_least:g}" if self.at_least is not None else ""


def cpu_of(command: Sequence[str]) -> float:
    """CPU seconds of a Python command, user and system, with its children."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turn(*takes: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """Take several measurements in turn, several rounds, and give the median of each: noise hits all alike."""
    for take in takes:
        take()  # caches warm, bytecode written
    taken = [[take() for take in takes] for _ in range(rounds)]
    return [median(column) for column in zip(*taken, strict=True)]


def seconds_of(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
