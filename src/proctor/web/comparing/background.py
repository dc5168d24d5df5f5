"""Compute what takes longer than a page may wait, and keep the last results."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from proctor.web.workspace import Found, Workspace

T = TypeVar("T")
KEPT = 12
AT_ONCE = 2
SECONDS = 0.2  # that a page waits; then it says what it waits for


class _Entry(NamedTuple):
    version: object
    future: "Future[Any]"


class Background:
    """Computes in threads; one result for each key, the least recently used are dropped."""

    def __init__(self, _: Workspace) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, "comparing")
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def result(
        self, key: Hashable, version: object, make: Callable[[], T], *, seconds: float | None = None
    ) -> T | None:
        """Return what `make` returns; None if that takes longer than `seconds`, and then it goes on for the next call.

        Args:
            version: of what it is made of; what was made of another version does not count.

        Raises:
            BadInput: `make` raised it; the next call tries again.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or (entry.version != version and entry.future.done()):
                entry = self._entries[key] = _Entry(version, self._pool.submit(make))
            self._entries.move_to_end(key)
            while len(self._entries) > KEPT:
                self._entries.popitem(last=False)[1].future.cancel()
        try:
            found: T = entry.future.result(seconds)
        except TimeoutError:
            return None
        except BaseException:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        return found

    def close(self) -> None:
        """Drop what waits; what is under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def version_of(runs: Sequence[Found]) -> tuple[str, ...]:
    """Return something that changes when what is stored of the runs does."""
    return tuple(run.store.version(run.record.id) for run in runs)
