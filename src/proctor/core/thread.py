"""Tell functions of a person that wait from those that block, and run the latter beside the event loop."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any


def is_async(function: object) -> bool:
    """Whether a call gives something to await: of a coroutine function, or of an object that says so (`is_async`)."""
    return getattr(function, "is_async", False) is True or any(
        inspect.iscoroutinefunction(one)
        for one in (function, getattr(function, "__call__", None))  # noqa: B004 (an object whose call is async)
    )


async def in_thread(function: Callable[[], Any]) -> Any:
    """The result of a function that runs in a daemon thread of its own, with the caller's context variables.

    No executor: its threads are waited for at the end, and one that never returns would hold the program for ever.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = copy_context()

    def put(result: Any, error: BaseException | None) -> None:
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

    threading.Thread(target=work, name="proctor-thread", daemon=True).start()
    result, error = await future
    if error is not None:
        raise error
    return result
