"""Distinguish the user's async functions from blocking ones, and run the latter outside the event loop."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from proctor.core.declared import ScorerInfo, declared
from proctor.core.errors import EnvironmentFailed


def is_async(function: object) -> bool:
    """True if a call returns something to await: a coroutine function, or an object that says so (`is_async`)."""
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
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = copy_context()

    def put(result: object, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((result, error))

    def work() -> None:
        try:
            result, error = context.run(function), None
        except BaseException as raised:  # noqa: BLE001 - raised again where it is awaited
            result, error = None, raised
        if not loop.is_closed():
            with suppress(RuntimeError):  # closed meanwhile: nobody waits any more
                loop.call_soon_threadsafe(put, result, error)

    try:
        threading.Thread(target=work, name="proctor-thread", daemon=True).start()
    except (RuntimeError, MemoryError) as lack:  # no more of them are to be had: nothing that was to run has failed
        raise EnvironmentFailed(
            "This machine could not run the sample ({type}: {error}). Run it again with --retry-failed, and fewer at once (--concurrency).",
            kind="machine",
            type=type(lack).__name__,
            error=str(lack),
        ) from lack
    result, error = await future
    if error is not None:
        raise error
    return result
