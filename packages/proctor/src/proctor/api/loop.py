"""Run a coroutine from synchronous code, and stop it gracefully at a signal."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def run_in_loop(make: Callable[[asyncio.Event], Coroutine[object, object, T]]) -> T:
    """Run a coroutine to its end in a new event loop; in a new thread if this thread already runs a loop.

    The first Ctrl-C, SIGTERM or SIGHUP sets its event; a second one cancels the coroutine, and a third stops waiting for
    blocked threads. Until the loop is closed, signals are handled in it: an interrupt anywhere else would leave it half
    closed.
    """
    if _is_in_loop():
        return _in_a_thread(lambda: run_in_loop(make))
    results: list[T] = []

    async def work() -> None:  # returns nothing: asyncio takes the repr of a result, and that of a run is a query
        stop = asyncio.Event()
        _stop_at_signals(stop)
        results.append(await make(stop))

    runner = asyncio.Runner(loop_factory=fast_loop())
    with _handlers_put_back():
        try:
            runner.run(work())
        finally:
            with suppress(KeyboardInterrupt):
                runner.close()
    return results[0]


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the event loop of uvloop; None where that is not installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _stop_at_signals(stop: asyncio.Event) -> None:
    """Let signals set the event, and the second one cancel the task that runs here."""
    if threading.current_thread() is not threading.main_thread():
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    count = 0

    def stopping() -> None:
        nonlocal count
        count += 1
        if count > 2 and task.done():
            raise KeyboardInterrupt
        if count > 1:
            task.cancel()
        stop.set()

    for number in SIGNALS:
        if number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN:
            continue  # nohup asks for that
        loop.add_signal_handler(number, stopping)


@contextmanager
def _handlers_put_back() -> Iterator[None]:
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in previous.items():
                signal.signal(number, handler)


def _in_a_thread(work: Callable[[], T]) -> T:
    result: list[T] = []
    error: list[BaseException] = []

    def target() -> None:
        try:
            result.append(work())
        except BaseException as raised:  # noqa: BLE001 - carried over to the caller's thread
            error.append(raised)

    thread = threading.Thread(target=target, name="proctor")
    thread.start()
    thread.join()
    if error:
        raise error[0]
    return result[0]
