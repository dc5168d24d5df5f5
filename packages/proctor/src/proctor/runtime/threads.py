"""Distinguish the user's async functions from blocking ones, and run the latter outside the event loop."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from proctor.core.declared import ScorerInfo, declared
from proctor.core.errors import EnvironmentFailed

T = TypeVar("T")


def is_async(function: object) -> bool:
    """True if a call returns an awaitable: of a coroutine function, or of an object with `is_async`."""
    return (
        inspect.iscoroutinefunction(function)
        or (callable(function) and inspect.iscoroutinefunction(type(function).__call__))
        or declared(ScorerInfo, function).is_async is True
    )


async def in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a daemon thread of its own, with the caller's context variables, and return its result.

    There is no executor: its threads are joined at exit, and one that never returns would keep the program alive.

    Raises:
        EnvironmentFailed: the machine has no thread left.
    """
    job = _Job.of(function)
    _start(job.run)
    return await job.result()


def within(seconds: float, function: Callable[[], T]) -> T:
    """Run a blocking function in a daemon thread with a time limit; a thread that exceeds it is abandoned.

    For libraries whose own time limits begin again with every byte that arrives.

    Raises:
        TimeoutError: it took longer.
    """
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    _start(work)
    with suppress(TimeoutError):
        return done.result(seconds)
    if done.done():
        return done.result()
    raise TimeoutError(f"no reply within {seconds:g} seconds")


class OwnThread:
    """Runs functions one after another in a daemon thread of its own, for objects that may only be used in the thread that made them."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._started = False

    async def run(self, function: Callable[[], Any]) -> Any:
        """Run a function once those that were given earlier are done, and return its result.

        Raises:
            EnvironmentFailed: the machine has no thread left.
        """
        if not self._started:
            _start(self._work)
            self._started = True
        job = _Job.of(function)
        self._jobs.put(job)
        return await job.result()

    def close(self) -> None:
        """Let the thread end after the function that it runs."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # what it returned lives no longer than its caller wants


class _Job(NamedTuple):
    function: Callable[[], Any]
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[tuple[Any, BaseException | None]]

    @classmethod
    def of(cls, function: Callable[[], Any]) -> "_Job":
        loop = asyncio.get_running_loop()
        return cls(function, copy_context(), loop, loop.create_future())

    def run(self) -> None:
        try:
            result, error = self.context.run(self.function), None
        except BaseException as raised:  # noqa: BLE001 - raised again where it is awaited
            result, error = None, raised
        if not self.loop.is_closed():
            with suppress(RuntimeError):  # closed meanwhile: nobody waits any more
                self.loop.call_soon_threadsafe(self._put, result, error)

    def _put(self, result: object, error: BaseException | None) -> None:
        if not self.future.done():
            self.future.set_result((result, error))

    async def result(self) -> Any:
        result, error = await self.future
        if error is not None:
            raise error
        return result


def _start(work: Callable[[], None]) -> None:
    try:
        threading.Thread(target=work, name="proctor-thread", daemon=True).start()
    except (RuntimeError, MemoryError) as lack:  # no more of them are to be had: nothing that was to run has failed
        raise EnvironmentFailed(
            "This machine could not run the sample ({type}: {error}). Run it again with --retry-failed, and fewer at once (--concurrency).",
            kind="machine",
            type=type(lack).__name__,
            error=str(lack),
        ) from lack
