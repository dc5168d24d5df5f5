"""Distinguish what the agent's own code raised from what Proctor, the machine, or a library under Proctor raised."""

import asyncio
import errno
import os
import traceback
from pathlib import Path

from proctor.core.own_code import own_folders

UNDERNEATH = ("httptools", "msgspec", "truststore", "uvloop")  # libraries that Proctor itself is built on
LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EAGAIN)
_STANDARD = f"{Path(os.__file__).parent}{os.sep}"


def is_of_the_agent(error: BaseException) -> bool:
    """True if an exception that came out of a session was raised by the agent's own code.

    The innermost frame outside the standard library decides. Where that is Proctor's but the agent called it, the
    agent is to blame, unless the machine lacks memory, threads or files.
    """
    own = [_is_own(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(error.__traceback__)]
    decided = [is_own for is_own in own if is_own is not None]
    if not decided:
        return True
    return decided[-1] or (True in decided and not is_lack(error))


def from_outside(error: BaseException) -> bool:
    """True if the error ends Proctor itself and only passed through the user's code, which did not raise it."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, GeneratorExit)


def is_lack(error: BaseException) -> bool:
    """True if the machine has run out of memory, threads, processes, files or disk space."""
    if isinstance(error, OSError):
        return error.errno in LACKS
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error))


def _is_own(file: str) -> bool | None:
    """True for a file of the agent, False for one of Proctor or underneath it, None for the standard library."""
    if file.startswith(own_folders()) or any(f"site-packages{os.sep}{name}{os.sep}" in file for name in UNDERNEATH):
        return False
    if file.startswith("<frozen") or (file.startswith(_STANDARD) and "site-packages" not in file):
        return None
    return True
