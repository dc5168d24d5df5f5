"""Notice code of a person that holds up the event loop, and with it every other sample, and name it.

A timer in the loop says that it goes on; a thread looks at it a few times a second, and costs a sample nothing. Code
that never lets go of the GIL, as some C extensions do, holds up the thread as well and is not noticed.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from proctor.core.sentence import Sentence, say

INTERVAL_SECONDS = 0.25
BLOCKED_SECONDS = 1.0

_STANDARD = str(Path(asyncio.__file__).parents[1])
_INSTALLED = {"site-packages", "dist-packages"}
_LOOP = (str(Path(__file__).parents[1]), str(Path(asyncio.__file__).parent))  # what calls a person's code in a loop


class _Culprit(NamedTuple):
    """A function, and the file and line it is at."""

    name: str
    place: str


@contextmanager
def watched_loop(tell: Callable[[Sentence], None]) -> Iterator[None]:
    """Tell, from a thread, of every function that holds up the running loop for longer than a moment; once of each."""
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    alive = time.monotonic()
    timer: asyncio.TimerHandle
    over = threading.Event()
    told: set[str] = set()

    def beat() -> None:
        nonlocal alive, timer
        alive = time.monotonic()
        timer = loop.call_later(INTERVAL_SECONDS, beat)

    def watch() -> None:
        looked = time.monotonic()
        while not over.wait(INTERVAL_SECONDS):
            before, looked = looked, time.monotonic()
            if looked - before > BLOCKED_SECONDS:  # the whole process stood still, not the loop alone
                continue
            culprit = _culprit(thread) if looked - alive >= BLOCKED_SECONDS else None
            if culprit is not None and culprit.name not in told:
                told.add(culprit.name)
                tell(_warning(culprit, looked - alive))

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
    found = None
    while frame is not None and not frame.f_code.co_filename.startswith(_LOOP):
        if not _is_library(frame.f_code.co_filename):
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    return _Culprit(found.f_code.co_qualname, f"{Path(found.f_code.co_filename).name}:{found.f_lineno}")


def _is_library(file: str) -> bool:
    return file.startswith(("<frozen", _STANDARD)) or not _INSTALLED.isdisjoint(Path(file).parts)
