"""A worker process whose program talks: both sides write lines of JSON, whenever they have something to say."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Self

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor.isolation.limits import WorkerRaised
from proctor.isolation.process import GRACE_SECONDS, TAIL_BYTES, WorkerProgram, WorkerReply, not_started, warn_once
from proctor.runtime.program import start_whole, state_of_process


class TalkingWorker:
    """One worker whose program has the function `talk(requests, replies)`; use it in `async with`.

    Attributes:
        fault: why it ended; None while it can be talked to.
    """

    def __init__(self, program: WorkerProgram) -> None:
        self.fault: EnvironmentFailed | None = None
        self._program = msgspec.structs.replace(program, talks=True)
        self._folder = ""
        self._tail = b""
        self._process: asyncio.subprocess.Process | None = None
        self._drained: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start the worker, and wait until its program is imported.

        Raises:
            WorkerRaised: the program cannot be imported.
            EnvironmentFailed: it died, or was not there in time.
        """
        self._folder = tempfile.mkdtemp(prefix="proctor-worker-")
        command, variables = self._program.command(self._folder)
        pipe, limits = asyncio.subprocess.PIPE, self._program.limits
        try:
            starting = asyncio.create_subprocess_exec(
                *command, env=variables, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, limit=limits.output_bytes
            )  # fmt: skip
            self._process = await start_whole(starting, state_of_process)
            self._drained = asyncio.create_task(self._drain())
            await self._begin()
        except OSError as error:
            raise not_started(error) from error
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the worker, all that it started, and its folder."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            for number in (None, signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError, PermissionError, TimeoutError):
                    if number is not None:
                        (os.killpg if number == signal.SIGKILL else os.kill)(process.pid, number)
                    async with asyncio.timeout(GRACE_SECONDS):
                        await process.wait()
                    break
        if self._drained is not None:
            self._drained.cancel()
        shutil.rmtree(self._folder, ignore_errors=True)

    def kill(self) -> None:
        """End the program at once; who listens hears that it ended."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def say(self, message: Mapping[str, object]) -> None:
        """Write a line; nothing is waited for."""
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(msgspec.json.encode(message) + b"\n")

    async def heard(self) -> AsyncIterator[Any]:
        """Yield what the program writes, until it ends.

        Raises:
            EnvironmentFailed: it ended, or wrote what is no JSON or too long.
        """
        while True:
            yield await self._line()

    async def _begin(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(self._program.settings())
        seconds = self._program.limits.start_seconds
        try:
            async with asyncio.timeout(seconds):
                reply = msgspec.convert(await self._line(), WorkerReply)
        except TimeoutError:
            raise EnvironmentFailed("The worker of {program} did not answer within {seconds:g} seconds, and was ended.", kind="worker_hung", program=self._program.path.name, seconds=seconds) from None  # fmt: skip
        if reply.raised is not None:
            raise WorkerRaised(*reply.raised)
        if self._program.confined:
            warn_once(*msgspec.convert(reply.value, tuple[str, str]))

    async def _line(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
            if not line.endswith(b"\n"):
                raise await self._ended(self._process)
            return msgspec.json.decode(line)
        except (ValueError, RecursionError):  # a line above the limit, or no JSON
            self.fault = EnvironmentFailed("The worker of {program} wrote something that is no reply, and was ended.", kind="worker_output", program=self._program.path.name)  # fmt: skip
            raise self.fault from None

    async def _ended(self, process: asyncio.subprocess.Process) -> EnvironmentFailed:
        code: int | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                code = await process.wait()
                if self._drained is not None:
                    await self._drained
        self.fault = self._program.how_it_ended(code, self._tail)
        return self.fault

    async def _drain(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(1 << 16):
            self._tail = (self._tail + data)[-TAIL_BYTES:]
