"""Run a program that is spoken to in lines, and end it together with everything that it started."""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Self, TypeVar

T = TypeVar("T")
ProcessState = tuple[int, int | None]  # its number, and its exit code once it ended
TAIL_BYTES = 4_096
GRACE_SECONDS = 1.0
POLL_SECONDS = 0.01
REAP_SECONDS = 30.0  # to save what is under way, or for the system to end what was killed
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}  # or what a Python program prints would wait in its buffer


class LineTooLong(Exception):
    """The program wrote a longer line than is read."""


class RunningProgram:
    """A running program, the leader of its own process group."""

    def __init__(self, process: Process, transport: asyncio.SubprocessTransport, tail_bytes: int) -> None:
        self._process = process
        self._transport = transport
        self._tail_bytes = tail_bytes
        self._tail = b""
        self._is_in_long_line = False
        self._reader = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        line_bytes: int = 1 << 16,
        tail_bytes: int = TAIL_BYTES,
    ) -> Self:
        """Start a program.

        Args:
            command: the program and its arguments; no shell reads them.
            variables: its environment; that of this process if None.
            line_bytes: the longest line of its output that is read.
            tail_bytes: how much of the end of its standard error is kept.

        Raises:
            OSError: it cannot be started.
        """
        loop = asyncio.get_running_loop()
        starting = loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=line_bytes, loop=loop),
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**(os.environ if variables is None else variables), **UNBUFFERED},
            start_new_session=True,
        )
        transport, protocol = await start_whole(starting, state_of_transport)
        return cls(Process(transport, protocol, loop), transport, tail_bytes)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def code(self) -> int | None:
        return self._process.returncode

    async def write(self, line: bytes) -> None:
        """Write a line to its standard input; one that ended already is noticed when it is read."""
        assert self._process.stdin is not None
        self.send(line + b"\n")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await self._process.stdin.drain()

    def send(self, data: bytes) -> None:
        """Put data into the buffer of its standard input, without waiting for the program to read it."""
        assert self._process.stdin is not None
        if self._process.stdin.is_closing():  # asyncio would log each line that is still written
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, RuntimeError):  # the last is what uvloop raises
            self._process.stdin.write(data)

    def close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def read(self) -> bytes:
        """Return the next line of its standard output, empty at its end.

        Raises:
            LineTooLong: a line is longer than the limit; the next call skips the rest of it, which may have no end.
        """
        output = self._process.stdout
        assert output is not None
        while True:
            try:
                line = await output.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                return b"" if self._is_in_long_line else end.partial
            except asyncio.LimitOverrunError as error:
                await output.readexactly(error.consumed)
                if not self._is_in_long_line:
                    self._is_in_long_line = True
                    raise LineTooLong from None
                continue
            if not self._is_in_long_line:
                return line
            self._is_in_long_line = False

    async def ends(self, seconds: float = GRACE_SECONDS) -> bool:
        """True if it ends within a moment; then its last words on standard error are known."""
        for _ in range(round(seconds / POLL_SECONDS)):  # to wait for it would be to wait for all that have its pipes
            if not self.alive:
                break
            await asyncio.sleep(POLL_SECONDS)
        if not self.alive:
            await asyncio.wait({self._reader}, timeout=seconds)
        return not self.alive

    @property
    def said(self) -> str:
        """The end of what it wrote to standard error."""
        return self._tail.decode("utf-8", "replace").strip()

    async def end(self, *, at_once: bool = False) -> None:
        """Close its input, then ask it to end, then kill it and all it started."""
        try:
            self.close_input()
            if at_once or not await self.ends():
                self._signal(signal.SIGTERM)
                await self.ends()
        finally:
            self.kill()  # also what a leader that ended left running
            self._reader.cancel()
            try:
                await reap(self._process)
            finally:
                self._transport.close()  # a grandchild may hold the pipes for ever

    def kill(self) -> None:
        """Kill it and all it started; `end` is still to be called."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        signal_group(self._process.pid, number)

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(1 << 16):
            self._tail = (self._tail + chunk)[-self._tail_bytes :]


async def start_whole(starting: Coroutine[Any, Any, T], state_of: Callable[[T], ProcessState]) -> T:
    """Return the process that a coroutine starts as the leader of a group; a caller that is cancelled meanwhile waits, and the group is killed.

    asyncio would kill the leader alone, and wait for all that have its pipes: for ever, if it started one that stays.
    """
    task = asyncio.ensure_future(starting)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            started = task.result()
            signal_group(state_of(started)[0], signal.SIGKILL)
            while state_of(started)[1] is None:  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(POLL_SECONDS)
        raise


def state_of_process(process: Process) -> ProcessState:
    return process.pid, process.returncode


def state_of_transport(started: tuple[asyncio.SubprocessTransport, object]) -> ProcessState:
    return started[0].get_pid(), started[0].get_returncode()


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a process and all of its group, if there are any."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


async def reap(process: Process) -> None:
    """Wait for the end of a process that got a signal to end, and kill it if it does not.

    A caller that is cancelled meanwhile waits too, as nobody else would reap the process.
    """
    cancelled: asyncio.CancelledError | None = None
    for _ in range(round(REAP_SECONDS / POLL_SECONDS)):  # its own `wait` is for the end of all that have its pipes
        if process.returncode is not None:
            break
        try:
            await asyncio.sleep(POLL_SECONDS)
        except asyncio.CancelledError as error:
            cancelled = error
    else:
        process.kill()
    if cancelled is not None:
        raise cancelled
