"""Search hostile text with the user's pattern, within a time limit.

A pattern such as `(a+)+$` takes for ever on some texts, and Python's `re` can neither be interrupted from another
thread nor given a limit. So it works in a process of its own, started at the first search and kept for the next
ones (0.3 ms each), and ended when a search takes too long. Checking patterns beforehand would refuse
harmless ones; another engine would read them differently.
"""

import json
import os
import re
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from functools import cache
from typing import Literal

import msgspec

from proctor.core.errors import BadInput

SECONDS = 2.0
Which = Literal["first", "last", "whole"]

SCRIPT = """
import json, re, sys
for line in sys.stdin.buffer:
    pattern, flags, which, group, text = json.loads(line)
    found = None
    if which == "last":
        for found in re.finditer(pattern, text, flags):
            pass
    else:
        found = (re.fullmatch if which == "whole" else re.search)(pattern, text, flags)
    span = found and found.span(1 if group and found.re.groups and found[1] is not None else 0)
    print(json.dumps(span), flush=True)
"""


class TooSlow(Exception):
    """The search exceeded its time limit."""


class Caught(msgspec.Struct, frozen=True, kw_only=True):
    """The text that a pattern matched, and where."""

    text: str
    start: int


def search(
    pattern: str, text: str, *, flags: int = 0, which: Which = "first", group: bool = False, seconds: float = SECONDS
) -> Caught | None:
    """Return the first or last match of a pattern, or its match of the whole text; None without a match.

    With `group`, return only what its first group matched, where it has one.

    Raises:
        TooSlow: it took longer than the time limit.

    >>> search(r"(\\d+) euros", "10 euros or 20 euros", which="last", group=True).text
    '20'
    """
    span = _process().ask([pattern, flags, which, group, text], seconds)
    return None if span is None else Caught(text=text[span[0] : span[1]], start=span[0])


def checked(pattern: str, flags: int = 0) -> str:
    """Return the pattern unchanged, if it is valid.

    Raises:
        BadInput: it cannot be compiled; says where.
    """
    try:
        re.compile(pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput("The pattern {pattern} is not valid: {error}.", pattern=repr(pattern), error=error) from None
    return pattern


class _Process:
    """A process that runs one search at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # one question and its reply at a time
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, question: list[object], seconds: float) -> tuple[int, int] | None:
        line = json.dumps(question).encode() + b"\n"
        with self._lock:
            reply = self._reply(line, seconds)
            if reply is None:  # it was gone before it was asked
                reply = self._reply(line, seconds)
        if reply is None:
            raise TooSlow
        span: tuple[int, int] | None = json.loads(reply)
        return span

    def _reply(self, line: bytes, seconds: float) -> bytes | None:
        child = self._running()
        assert child.stdin is not None
        assert child.stdout is not None
        slow = threading.Event()

        def end() -> None:
            slow.set()
            child.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            child.stdin.write(line)
            child.stdin.flush()
            reply = child.stdout.readline()
        except (BrokenPipeError, OSError):
            reply = b""
        finally:
            timer.cancel()
        if slow.is_set() or not reply.endswith(b"\n"):
            self._child = None
            _end(child)
            if slow.is_set():
                raise TooSlow
            return None
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        is_ours = self._owner == os.getpid()  # a forked copy of us must not share the pipes
        if self._child is None or self._child.poll() is not None or not is_ours:
            if self._child is not None and is_ours:
                _end(self._child)
            self._owner = os.getpid()
            command = [sys.executable, "-I", "-S", "-c", SCRIPT]
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ours
            weakref.finalize(self, _end, self._child)
        return self._child


@cache
def _process() -> _Process:
    return _Process()


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    child.wait()
