"""Workers of the bridge that are copies of running processes: `guest_rows.py` says how, and why."""

import asyncio
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Self

from proctor.core.errors import EnvironmentFailed
from proctor.isolation import WorkerRaised

ROWS_PROGRAM = Path(__file__).with_name("guest_rows.py")
MOST_BYTES = 256 << 20
CONNECTING_SECONDS = 300.0  # the program is imported first, which takes long on a busy machine
ENDING_SECONDS = 30.0


class Copies:
    """Processes that are copied for each worker of their program.

    Attributes:
        task: the one that workers are about to load.
        fields: those of its rows, by name, as `rows_of_tests.py` reads them.
    """

    def __init__(self, python: Path, *programs: Path) -> None:
        self.task = ""
        self.fields: Mapping[str, Any] = {}
        variables = {"INSPECT_DISPLAY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self._by_program = {
            program: subprocess.Popen(
                [str(python), str(ROWS_PROGRAM), str(program)],
                stdin=pipe,
                stdout=null,
                stderr=null,
                env={**os.environ, **variables},
                text=True,
            )
            for program in programs
        }

    def start(self, program: Path, home: str) -> None:
        """Let a copy with a folder of its own connect to the socket in it."""
        pipe = self._by_program[program].stdin
        assert pipe is not None
        pipe.write(json.dumps({"home": home, "task": self.task, "fields": self.fields}) + "\n")
        pipe.flush()

    def close(self) -> None:
        for process in self._by_program.values():
            process.kill()
            process.communicate()


class CopiedWorker:
    """Stands in for a `TalkingWorker`, and, with `run`, for `Workers`: whoever enters it last ends it.

    Attributes:
        fault: why it ended; None while it can be talked to.
        pid: the process.
    """

    copies: Copies

    def __init__(self, program: Any) -> None:
        self.fault: EnvironmentFailed | None = None
        self.pid = 0
        self._path = program.path
        self._entered = 0
        self._entering = asyncio.Lock()  # scorers that share it enter at the same time
        self._calling = asyncio.Lock()
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with self._entering:
            if not self._entered:
                await self._start()
            self._entered += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._entering:
            self._entered = max(0, self._entered - 1)
            if not self._entered:
                await self._opened.aclose()

    async def _start(self) -> None:
        """Wait until a copy has connected to a socket in a folder of its own.

        Raises:
            TimeoutError: it did not in time.
        """
        connected: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        async with AsyncExitStack() as stack:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-rows-", ignore_cleanup_errors=True))
            server = await asyncio.start_unix_server(
                lambda reader, writer: connected.set_result((reader, writer)), f"{home}/socket", limit=MOST_BYTES
            )
            stack.callback(server.close)
            self.copies.start(self._path, home)
            try:
                async with asyncio.timeout(CONNECTING_SECONDS):
                    self._reader, self._writer = await connected
                    stack.callback(self._writer.close)
                    self.pid = (await anext(self.heard()))["pid"]
            except TimeoutError:
                message = f"a copy of {self._path.name} did not connect within {CONNECTING_SECONDS:g} seconds"
                raise TimeoutError(message) from None
            stack.push_async_callback(self._end)
            self._opened = stack.pop_all()

    async def _end(self) -> None:
        """End the process, and wait until it is no more, as it writes in its folder."""
        self.kill()
        await asyncio.to_thread(_wait_for_end, self.pid)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def say(self, message: Mapping[str, object]) -> None:
        if not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def heard(self) -> AsyncIterator[Any]:
        while True:
            line = await self._reader.readline()
            if not line:
                self.fault = EnvironmentFailed("The worker ended.", kind="worker_killed")
                raise self.fault
            yield json.loads(line)

    async def run(self, function: str, **arguments: object) -> Any:
        async with self._calling:
            self.say({"function": function, "arguments": arguments})
            reply = await anext(self.heard())
        if "raised" in reply:
            raise WorkerRaised(*reply["raised"])
        return reply["value"]


def _wait_for_end(pid: int) -> None:
    until = time.monotonic() + ENDING_SECONDS
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until, f"{pid} is left running"
        time.sleep(0.01)
