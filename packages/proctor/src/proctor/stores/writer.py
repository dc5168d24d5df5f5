"""Write to a database from one thread: waiting trials share a transaction, and each caller wakes when it is on disk."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeVar

from proctor.stores.encoding import Addition

T = TypeVar("T")
AT_ONCE = 32  # trials in a transaction: few wake their waiters sooner, and the next are encoded meanwhile
AT_ONCE_SLOWLY = 512  # where a transaction takes so long that more of them would be the bottleneck
SLOW_SECONDS = 0.004


class _Waiting(NamedTuple):
    addition: Addition
    done: "asyncio.Future[None]"


class _Tick(NamedTuple):
    """The trials that were added during one tick of a loop."""

    loop: asyncio.AbstractEventLoop
    waiting: list[_Waiting]


class _Work(NamedTuple):
    work: Callable[[Any], Any]
    done: "Future[Any]"


class WriterDatabase(Protocol):
    """The operations of a connection that the writer uses; nothing else writes."""

    def accept(self, additions: Sequence[Addition]) -> Sequence[Exception | None]:
        """Write trials durably; return for each why it was not accepted, or None."""
        ...

    def transact(self, work: Callable[[Any], T]) -> T:
        """Run a function in a transaction of its own, with the connection of the library."""
        ...

    def explain(self, error: Exception) -> Exception:
        """Return an error of the library as a `BadInput`, where the user can mend it."""
        ...

    def close(self) -> object: ...


class StoreWriter:
    """A thread with its queue; it starts at the first write."""

    def __init__(self, db: WriterDatabase) -> None:
        self._db = db
        self._queue: SimpleQueue[_Tick | _Work | None] = SimpleQueue()
        self._tick_by_loop: dict[asyncio.AbstractEventLoop, _Tick] = {}  # each touched by its own thread only
        self._starting = threading.Lock()  # protects _thread: several threads may write first
        self._thread: threading.Thread | None = None
        self._at_once = AT_ONCE

    def add(self, addition: Addition) -> "asyncio.Future[None]":
        """Queue a trial; the future of the running loop is done when it is on disk.

        Trials of one tick of the loop are handed over in groups: one by one, the two threads would contend for the GIL.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        tick = self._tick_by_loop.get(loop)
        if tick is None:
            tick = self._tick_by_loop[loop] = _Tick(loop, [])
            loop.call_soon(self._end_tick, loop)
        tick.waiting.append(_Waiting(addition, done))
        if len(tick.waiting) >= AT_ONCE:
            self._end_tick(loop)
        return done

    def call(self, work: Callable[[Any], T]) -> "Future[T]":
        """Queue a function, which runs in a transaction of its own."""
        done: Future[T] = Future()
        self._put(_Work(work, done))
        return done

    def close(self) -> None:
        """Write what is queued, and close the connection; the thread itself, which may be the last to know a store, does so later."""
        if self._thread is None:
            self._db.close()
        elif self._thread.is_alive():
            self._queue.put(None)
            if self._thread is not threading.current_thread():
                self._thread.join()

    def _end_tick(self, loop: asyncio.AbstractEventLoop) -> None:
        tick = self._tick_by_loop.pop(loop, None)
        if tick is not None:
            self._put(tick)

    def _put(self, item: _Tick | _Work) -> None:
        self._queue.put(item)
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="proctor-store", daemon=True)
                    self._thread.start()

    def _run(self) -> None:
        item: _Tick | _Work | None
        ticks: list[_Tick] = []
        while (item := self._queue.get()) is not None:
            if isinstance(item, _Tick):
                ticks.append(item)
                if self._queue.empty() or sum(len(tick.waiting) for tick in ticks) >= self._at_once:
                    self._accept(ticks)
                    ticks = []
            else:
                self._accept(ticks)
                ticks = []
                self._do(item)
            del item  # while it waits for the next, the thread would keep the store alive
        self._accept(ticks)
        self._db.close()

    def _accept(self, ticks: Sequence[_Tick]) -> None:
        errors: Sequence[Exception | None]
        additions = [entry.addition for tick in ticks for entry in tick.waiting]
        if not additions:
            return
        try:
            started = time.monotonic()
            errors = self._db.accept(additions)
            self._at_once = AT_ONCE_SLOWLY if time.monotonic() - started > SLOW_SECONDS else AT_ONCE
        except BaseException as error:  # noqa: BLE001 - raised in each waiting caller
            errors = [self._explain(error) for _ in additions]
        start = 0
        for tick in ticks:
            count = len(tick.waiting)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                tick.loop.call_soon_threadsafe(_wake, tick.waiting, errors[start : start + count])
            start += count

    def _do(self, item: _Work) -> None:
        if not item.done.set_running_or_notify_cancel():
            return
        try:
            result = self._db.transact(item.work)
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            item.done.set_exception(self._explain(error))
        else:
            item.done.set_result(result)

    def _explain(self, error: BaseException) -> Exception:
        if not isinstance(error, Exception):
            return RuntimeError(repr(error))
        explained = self._db.explain(error)
        if explained is not error:
            explained.__cause__ = error
        return explained


def _wake(waiting: Sequence[_Waiting], errors: Sequence[Exception | None]) -> None:
    for entry, error in zip(waiting, errors, strict=True):
        if entry.done.done():  # cancelled while it waited; the trial is on disk all the same
            continue
        if error is None:
            entry.done.set_result(None)
        else:
            entry.done.set_exception(error)
