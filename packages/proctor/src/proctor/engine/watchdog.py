"""Find the user's code that blocks the event loop, and with it every other sample, and name it.

A timer in the loop notes the time; a thread looks at it a few times a second, at no cost to a sample. Code that never
releases the GIL, as in some C extensions, blocks the thread as well and is not noticed.
"""

import asyncio
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from proctor.core.own_code import own_folders
from proctor.core.sentence import Sentence, say

INTERVAL_SECONDS = 0.25
BLOCKED_SECONDS = 1.0

_STANDARD = str(Path(asyncio.__file__).parents[1])
_INSTALLED = {"site-packages", "dist-packages"}
_TYPED = ("<stdin>", "<ipython-input", "<python-input")
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_ASYNCIO = str(Path(asyncio.__file__).parent)


class _Culprit(NamedTuple):
    """A function, and the file and line it is at; `is_async` if it is a coroutine or an async generator."""

    name: str
    place: str
    is_async: bool


@contextmanager
def watched_loop(warn: Callable[[Sentence], None]) -> Iterator[None]:
    """Report, from a thread, every function that blocks the running loop for a second or more; each once."""
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    alive = time.monotonic()
    timer: asyncio.TimerHandle
    over = threading.Event()
    reported: set[str] = set()

    def beat() -> None:
        nonlocal alive, timer
        alive = time.monotonic()
        timer = loop.call_later(INTERVAL_SECONDS, beat)

    def watch() -> None:
        looked = time.monotonic()
        while not over.wait(INTERVAL_SECONDS):
            before, looked = looked, time.monotonic()
            if looked - before > BLOCKED_SECONDS:  # the whole process was suspended, not just the loop
                continue
            culprit = _culprit(thread) if looked - alive >= BLOCKED_SECONDS else None
            if culprit is not None and culprit.name not in reported:
                reported.add(culprit.name)
                warn(_warning(culprit, looked - alive))

    timer = loop.call_later(INTERVAL_SECONDS, beat)
    watcher = threading.Thread(target=watch, name="proctor-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        timer.cancel()
        over.set()
        watcher.join()


def _warning(culprit: _Culprit, seconds: float) -> Sentence:
    if not culprit.is_async:  # a library calls it in the loop, so that to be plain is no help
        return say(
            "'{name}' ({place}) held up all samples for {seconds} s: a library calls it in the event loop. Make it 'async def' and await what takes long, or hand that to a thread with asyncio.to_thread.",
            name=culprit.name,
            place=culprit.place,
            seconds=f"{seconds:.1f}",
        )
    return say(
        "'{name}' ({place}) is async, but held up all samples for {seconds} s: it waits or computes without 'await'. Make it a plain 'def', which gets a thread of its own.",
        name=culprit.name,
        place=culprit.place,
        seconds=f"{seconds:.1f}",
    )


def _culprit(thread: int) -> _Culprit | None:
    """Return the user's outermost function in what the loop is doing, and where it is; None where there is none.

    A library that is busy on its own, such as with its imports, is nobody's to change.
    """
    frame: FrameType | None = sys._current_frames().get(thread)
    user_frame = None
    loop = (*own_folders(), _ASYNCIO)  # what calls the user's code
    while frame is not None and not frame.f_code.co_filename.startswith(loop):
        if not _is_library(frame.f_code.co_filename):
            user_frame = frame
        frame = frame.f_back
    if user_frame is None:
        return None
    code = user_frame.f_code
    where = f"{Path(code.co_filename).name}:{user_frame.f_lineno}"
    return _Culprit(code.co_qualname, where, bool(code.co_flags & _ASYNC))


def _is_library(file: str) -> bool:
    if file.startswith("<"):  # code that a library made, such as the methods of a dataclass
        return not file.startswith(_TYPED)
    return file.startswith(_STANDARD) or not _INSTALLED.isdisjoint(Path(file).parts)
