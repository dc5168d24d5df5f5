"""The parent's side of one worker process: a pipe for requests, one for replies, and one for what the program prints."""

import asyncio
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor.core.sentence import Sentence, say
from proctor.isolation import child
from proctor.isolation.limits import Confinement, WorkerLimits, WorkerRaised
from proctor.runtime.program import start_whole, state_of_transport
from proctor.runtime.visible import visible

GRACE_SECONDS = 1.0  # for a call that was given up to come to its end, and for a process to end by itself
PIPE_SECONDS = 0.2  # between the ends of a process and of its pipes, and for a reply that is on its way
TAIL_BYTES = 2_000
DEFAULT_BOUNDS = Confinement()
# as isolated as by -I, which would ignore the variable that fixes the order of sets
FLAGS = ("-P", "-s", "-S", "-X", "utf8")
VARIABLES = {
    "PYTHONHASHSEED": "0",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),  # there is a worker for each core
}  # fmt: skip


class WorkerProgram(msgspec.Struct, frozen=True, kw_only=True):
    """What workers run.

    Attributes:
        python: the interpreter; the one that runs us if None.
        talks: True if it has a function `talk(requests, replies)` that is given the pipes, False if its functions are called.
    """

    path: Path
    paths: Sequence[Path] = ()
    variables: Mapping[str, str] = {}
    limits: WorkerLimits = WorkerLimits()
    confined: bool = True
    python: Path | None = None
    talks: bool = False

    def command(self, folder: str) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return the command that starts a worker with a temporary folder, and its environment."""
        variables = {**VARIABLES, **dict.fromkeys(("HOME", "TMPDIR"), folder), **self.variables}
        return (str(self.python or sys.executable), *FLAGS, str(Path(child.__file__)), folder), variables

    def settings(self) -> bytes:
        """Return the first line that a worker reads."""
        settings = {
            **msgspec.to_builtins(self.limits),
            "program": str(self.path.resolve()),
            "paths": [str(path.resolve()) for path in self.paths],
            "confined": self.confined,
            "talks": self.talks,
        }
        return msgspec.json.encode(settings) + b"\n"

    def how_it_ended(self, code: int | None, tail: bytes) -> EnvironmentFailed:
        """Return the fault of a worker that ended with an exit code, or closed its pipe (None); `tail` is what it printed."""
        name, limits = self.path.name, self.limits
        if code == child.OUT_OF_MEMORY:
            return EnvironmentFailed("The worker of {program} needed more than {megabytes} MB of memory, and was ended.", kind="worker_memory", program=name, megabytes=limits.memory_bytes >> 20)  # fmt: skip
        number = -code if code is not None and code < 0 else (code or 0) - 128
        if number == signal.SIGXCPU:
            return EnvironmentFailed("The worker of {program} did not answer within {seconds:g} seconds, and was ended.", kind="worker_hung", program=name, seconds=limits.seconds)  # fmt: skip
        how: object = signal.Signals(number).name if number in set(signal.Signals) else f"exit code {code}"
        if code is None:
            how = say("it closed its pipe")
        said = visible(tail.decode("utf-8", "replace")).strip() or "-"
        return EnvironmentFailed("The worker of {program} ended ({how}). It printed: {said}", kind="worker_killed", program=name, how=how, said=said)  # fmt: skip


class WorkerReply(msgspec.Struct, frozen=True, kw_only=True):
    """A line that a worker writes for a request."""

    id: int
    value: Any = None
    raised: tuple[str, str] | None = None
    too_large: int | None = None


class Gone(Exception):
    """The worker had ended before it was given the request."""


class WorkerProcess(asyncio.SubprocessProtocol):
    """One worker process. It has one request at a time; others wait for their turn.

    Attributes:
        load: how many requests it has and waits for.
        instances: how many objects live in it.
        fault: why it ended; None while it can be asked.
        unusable: what the import of the program raised.
    """

    def __init__(self, program: WorkerProgram) -> None:
        self.load = 0
        self.instances = 0
        self.fault: EnvironmentFailed | None = None
        self.unusable: WorkerRaised | None = None
        self._program = program
        self._limits = program.limits
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()  # from a request until its reply, also where nobody waits for that any more
        self._reply: asyncio.Future[tuple[WorkerReply, int]] | None = None
        self._id = 0
        self._timer: asyncio.TimerHandle | None = None
        self._chunks: list[bytes] = []
        self._size = 0
        self._printed = 0
        self._tail = b""
        self._folder = ""
        self._transport: asyncio.SubprocessTransport | None = None
        self._pipe: asyncio.WriteTransport | None = None
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._started = self._loop.create_task(self._start())
        # perhaps nobody waits for it any more
        self._started.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def ask(self, id: int, request: bytes) -> tuple[WorkerReply, int]:
        """Return the reply to a request, and a number by which equal replies are recognised.

        Raises:
            Gone: it had ended, and does not know of the request.
            WorkerRaised: the program cannot be imported.
            EnvironmentFailed: it died, hung, or outgrew its limits.
        """
        self.load += 1
        try:
            if not self._started.done():
                await asyncio.shield(self._started)
            self._started.result()
            await self._turn.acquire()
            return await self._asked(id, request, self._limits.seconds)
        finally:
            self.load -= 1

    @property
    def is_closed(self) -> bool:
        return self._closed.done()

    def drop(self, id: int) -> None:
        """Forget an instance; nothing is waited for."""
        self.instances -= 1
        if self._pipe is not None and self.fault is None:
            self._pipe.write(b'{"id":%d}\n' % id)

    async def close(self) -> None:
        """End the process, what it started, and its folder."""
        try:
            if not self._started.done():
                self._started.cancel()
                await asyncio.wait({self._started})
            if self._reply is None and self._pipe is not None:
                self._pipe.close()  # a worker that is idle ends by itself
                await self._closes()
            self._signal(signal.SIGTERM)
            await self._closes()
        finally:
            self._signal(signal.SIGKILL)
        await self._closes()

    async def _closes(self) -> None:
        if self._transport is not None:
            await asyncio.wait({self._closed}, timeout=GRACE_SECONDS)

    # ── from the event loop ────────────────────────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)  # uvloop's are no subclass
        self._pipe = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._tail = (self._tail + data)[-TAIL_BYTES:]
            self._printed += len(data)
            if self._printed > self._limits.printed_bytes:
                self._end(EnvironmentFailed("The worker of {program} printed more than {limit} bytes in one call, and was ended.", kind="worker_output", program=self._name, limit=self._limits.printed_bytes))  # fmt: skip
            return
        self._chunks.append(data)
        self._size += len(data)
        if self._reply is not None and self._size <= self._limits.output_bytes + 1:
            if data.endswith(b"\n"):
                self._answer(b"".join(self._chunks))
        else:
            self._garbage()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._loop.call_later(PIPE_SECONDS, self._gone)  # where the process does not end with its pipe

    def process_exited(self) -> None:
        self._loop.call_later(PIPE_SECONDS, self._gone)  # where another process holds a pipe

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()

    # ── one exchange ───────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _start(self) -> None:
        try:
            self._folder = tempfile.mkdtemp(prefix="proctor-worker-")
            command, variables = self._program.command(self._folder)
            starting = self._loop.subprocess_exec(lambda: self, *command, env=variables, start_new_session=True)
            await start_whole(starting, state_of_transport)
        except OSError as error:
            self.fault = not_started(error)
            self._closed.set_result(None)
            self._remove_folder()
            raise self.fault from error
        await self._turn.acquire()
        try:
            reply, _ = await self._asked(0, self._program.settings(), self._limits.start_seconds)
        except Gone:  # at once: another would as well
            assert self.fault is not None
            raise self.fault from None
        if reply.raised is not None:
            self.unusable = WorkerRaised(*reply.raised)
            raise self.unusable
        if self._program.confined:
            warn_once(*msgspec.convert(reply.value, tuple[str, str]))

    async def _asked(self, id: int, request: bytes, seconds: float) -> tuple[WorkerReply, int]:
        """Send a request, in our turn, which ends with the reply: if we are cancelled, the worker has a moment left."""
        if self.fault is not None:
            self._turn.release()
            raise Gone
        assert self._pipe is not None
        self._id, self._printed = id, 0
        reply: asyncio.Future[tuple[WorkerReply, int]] = self._loop.create_future()
        self._reply = reply
        self._timer = self._loop.call_later(seconds, self._hung, seconds)
        self._pipe.write(request)
        try:
            return await reply
        except asyncio.CancelledError:
            if self._reply is reply and self._timer is not None:
                self._timer.cancel()
                self._timer = self._loop.call_later(min(seconds, GRACE_SECONDS), self._hung, seconds)
            raise

    def _answer(self, line: bytes) -> None:
        self._chunks, self._size = [], 0
        try:
            reply = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            reply = WorkerReply(id=-1)
        if reply.id == self._id:
            self._settle(lambda future: future.set_result((reply, hash(line))))
        else:
            self._garbage()

    def _settle(self, settle: Callable[["asyncio.Future[tuple[WorkerReply, int]]"], None]) -> None:
        future, self._reply = self._reply, None
        if self._timer is not None:
            self._timer.cancel()
        if future is not None:
            self._turn.release()
            if not future.done():
                settle(future)

    def _hung(self, seconds: float) -> None:
        fault = EnvironmentFailed("The worker of {program} did not answer within {seconds:g} seconds, and was ended.", kind="worker_hung", program=self._name, seconds=seconds)  # fmt: skip
        # perhaps it was our own loop that was blocked
        self._timer = self._loop.call_later(PIPE_SECONDS, self._end, fault)

    def _garbage(self) -> None:
        self._end(EnvironmentFailed("The worker of {program} wrote something that is no reply, and was ended.", kind="worker_output", program=self._name))  # fmt: skip

    def _gone(self) -> None:
        """Note that the process is no more, or cannot be heard."""
        assert self._transport is not None
        code = self._transport.get_returncode()
        self._end(self._program.how_it_ended(code, self._tail))
        if code is not None and not self._closed.done():
            self._closed.set_result(None)
            self._transport.close()
            self._remove_folder()

    def _end(self, fault: EnvironmentFailed) -> None:
        if self.fault is not None:
            return
        self.fault = fault
        self._chunks = []
        self._signal(signal.SIGTERM)
        self._loop.call_later(GRACE_SECONDS, self._signal, signal.SIGKILL)
        self._settle(lambda future: future.set_exception(fault))

    def _signal(self, number: signal.Signals) -> None:
        """Signal the guard, which ends the others; SIGKILL is for all of its group."""
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            (os.killpg if number == signal.SIGKILL else os.kill)(self._transport.get_pid(), number)

    def _remove_folder(self) -> None:
        if Path(self._folder).exists():
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _name(self) -> str:
        return self._program.path.name


def confine(command: Sequence[str], folder: str, bounds: Confinement = DEFAULT_BOUNDS) -> list[str]:
    """Return the command that runs a command without network, other processes, and files that can be written but `folder`.

    Its end is that of all that it started. Where the machine cannot confine it, it fails and says so on standard error.
    """
    limits = f"{bounds.memory_mb},{bounds.processes},{bounds.disk_mb}"
    return [sys.executable, "-I", "-S", str(Path(child.__file__)), folder, limits, *command]


def not_started(error: OSError) -> EnvironmentFailed:
    """Return the fault of a worker that the machine could not start."""
    return EnvironmentFailed("This machine could not run the sample ({type}: {error}). Run it again with --retry-failed, and fewer at once (--concurrency).", kind="machine", type=type(error).__name__, error=error.strerror or error)  # fmt: skip


@cache
def warn_once(namespaces: str, files: str) -> None:
    """Say what this machine does not allow and why, where it is not ''; once, as it is the same for all workers."""
    if namespaces:
        _log(say("This machine gives worker processes no namespaces of their own ({reason}): the code of benchmarks and tools that runs in them can use the network, and read and write what you can.", reason=namespaces))  # fmt: skip
    elif files:
        _log(say("This machine does not close files and local sockets to worker processes ({reason}): the code of benchmarks and tools that runs in them can write what you can, or reach the servers of this machine.", reason=files))  # fmt: skip


def _log(sentence: Sentence) -> None:
    logging.getLogger("proctor").warning("%s", sentence)


_DECODER = msgspec.json.Decoder(WorkerReply)
