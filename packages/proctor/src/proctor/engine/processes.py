"""Start the workers of a pool as processes of this machine."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.runtime.program import reap, start_whole, state_of_process

REAP_SECONDS = 5.0


class Processes:
    """Starts worker processes; `command` starts one, and the number of the socket to serve is appended to it."""

    is_here = True

    def __init__(self, size: int, command: Sequence[str]) -> None:
        self.size = size
        self.paths = import_paths()
        self._command = command

    async def hire(self, variables: Mapping[str, str], *, is_spare: bool) -> "EngineProcess":
        ours, theirs = socket.socketpair()
        killed_before = kills_for_memory()
        with theirs:
            starting = asyncio.create_subprocess_exec(
                *self._command,
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, **variables},
            )
            process = await start_whole(starting, state_of_process)
        reader, writer = await asyncio.open_connection(sock=ours)
        return EngineProcess(process, reader, writer, killed_before)


class EngineProcess:
    """A worker process, and the socket to it."""

    is_lost = False

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        killed_before: int,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._process = process
        self._killed_before = killed_before

    async def end(self) -> None:
        """Wait a moment for the process whose socket was closed, and kill what it left."""
        # macOS does not permit to kill what it has not buried yet
        with contextlib.suppress(TimeoutError, ProcessLookupError, PermissionError):
            await asyncio.wait_for(self._process.wait(), REAP_SECONDS)
            os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Kill the process and everything it started."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await reap(self._process)

    @property
    def was_killed(self) -> bool:
        """True if the process ended by a signal that may come from outside, such as the system's when memory runs out."""
        return is_from_outside(self._process.returncode)

    @property
    def was_out_of_memory(self) -> bool:
        """True if the system killed processes for lack of memory since this one was started."""
        return kills_for_memory() > self._killed_before

    def how_it_ended(self) -> str:
        """Return the signal or exit code of the process, in words."""
        return in_words(self._process.returncode)


def import_paths() -> tuple[str, ...]:
    """Return the paths from which this process imports modules, for its workers."""
    return tuple(str(Path(path or ".").resolve()) for path in sys.path)


def is_from_outside(code: int | None) -> bool:
    """True if an exit code is that of a signal that may come from outside."""
    return code in (-signal.SIGKILL, -signal.SIGTERM)


def in_words(code: int | None) -> str:
    """Return the signal or exit code of a process in words.

    >>> in_words(-9), in_words(-40), in_words(3), in_words(None)
    ('SIGKILL', 'signal 40', 'exit code 3', '?')
    """
    if code is None:
        return "?"
    if code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"


def kills_for_memory() -> int:
    """Return how many processes the system has killed for lack of memory; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
