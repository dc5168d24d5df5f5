"""Compute what takes longer than a page may wait, and keep the last results."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.requests import Request

from proctor.core.errors import BadInput
from proctor_web.comparing.apart import Process
from proctor_web.workspace import Found, StillComputing, Workspace

T = TypeVar("T")
KEPT = 12
AT_ONCE = 2
SECONDS = 0.2  # that a page waits; then it says what it waits for
GROWS_SECONDS = 15.0  # for which the comparison of a run that is under way is shown
APART = 40_000  # trials from which a process of its own computes
MOST_TRIALS = 3_000_000  # some 1.2 kB each are needed for a comparison


def patience(request: Request) -> float | None:
    """Return for how many seconds a page waits for a result; one that is saved as a file waits for as long as it takes."""
    return None if request.scope["state"].get("waits") else SECONDS


def unasked(request: Request, run: Found, most: int, compute: Callable[..., T]) -> tuple[T | None, bool]:
    """Return what a part of a page shows of a run although nobody asked for it, and whether it is to be asked for again.

    Of a run with more than `most` trials, or one that is under way, nothing is computed.
    """
    if run.record.planned > most or run.record.state == "running":
        return None, False
    try:
        return compute(seconds=patience(request)), False
    except StillComputing:
        return None, True


class _Entry(NamedTuple):
    version: object
    began: float
    future: "Future[Any]"

    def counts(self, now: object, *, grows: bool) -> bool:
        """True if it is under way, or what it made is still right; of a run that grows, right a moment ago."""
        if not self.future.done() or self.version == now:
            return True
        return grows and time.monotonic() - self.began < GROWS_SECONDS


class Background:
    """Computes in threads, or in processes for large runs; one result for each key, the least recently used are dropped."""

    def __init__(self, _: Workspace) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, "comparing")
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._processes: set[Process] = set()
        self._is_closed = False
        self._lock = threading.Lock()  # protects the entries and the processes

    def result(
        self,
        key: Hashable,
        runs: Sequence[Found],
        make: Callable[[Sequence[Found]], T],
        *,
        version: object = None,
        seconds: float | None = None,
    ) -> T:
        """Return what `make` makes of the runs.

        Args:
            make: can be pickled, as what it returns can.
            version: of what it uses besides the runs; what was made of another version, or when other trials were stored,
                does not count.

        Raises:
            StillComputing: that takes longer than `seconds`; None waits for as long as it takes.
            BadInput: `make` raised it, and the next call tries again; or the runs are too large.
        """
        trials = sum(run.record.planned for run in runs)
        if trials > MOST_TRIALS:
            raise BadInput(
                "These runs have {count} trials; at most {most} can be compared at once.",
                count=f"{trials:,}",
                most=f"{MOST_TRIALS:,}",
            )
        now = (version, *(run.store.version(run.record.id) for run in runs))
        is_apart = trials > APART and all(Path(run.store.url).expanduser().is_file() for run in runs)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not entry.counts(now, grows=any(run.record.state == "running" for run in runs)):
                work = self._pool.submit(self._apart, runs, make) if is_apart else self._pool.submit(make, runs)
                entry = self._entries[key] = _Entry(now, time.monotonic(), work)
            self._entries.move_to_end(key)
            while len(self._entries) > KEPT:
                self._entries.popitem(last=False)[1].future.cancel()
        try:
            value: T = entry.future.result(seconds)
        except TimeoutError:
            if entry.future.done():
                raise
            raise StillComputing from None
        except BaseException:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        return value

    def _apart(self, runs: Sequence[Found], make: Callable[[Sequence[Found]], T]) -> T:
        with self._lock:
            if self._is_closed:
                raise BadInput("The server ends.")
            process = Process()
            self._processes.add(process)
        try:
            return process.compute(runs, make)
        finally:
            with self._lock:
                self._processes.discard(process)
            process.close()

    def close(self) -> None:
        """Drop what waits, and end the processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                process.close()
