"""Workers of the bridge that are copies of running processes: `guest_rows.py` says how, and why."""

import asyncio
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from proctor.core.errors import EnvironmentFailed
from proctor.isolation import WorkerRaised

ROWS_PROGRAM = Path(__file__).with_name("guest_rows.py")
MOST_BYTES = 256 << 20


class Copies:
    """Processes that are copied for each worker of their program.

    Attributes:
        task: the one that workers are about to load.
        fields: the kinds of the fields of its rows, by name.
    """

    def __init__(self, python: Path, *programs: Path) -> None:
        self.task = ""
        self.fields: Mapping[str, str] = {}
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

    def start(self, program: Path, socket: str) -> None:
        """Let a copy connect to a socket."""
        pipe = self._by_program[program].stdin
        assert pipe is not None
        pipe.write(json.dumps({"socket": socket, "task": self.task, "fields": self.fields}) + "\n")
        pipe.flush()

    def close(self) -> None:
        for process in self._by_program.values():
            process.kill()
            process.communicate()


class CopiedWorker:
    """Stands in for a `TalkingWorker`, and, with `run`, for `Workers`."""

    copies: Copies

    def __init__(self, program: Any) -> None:
        self.fault: EnvironmentFailed | None = None
        self._path = program.path
        self._pid = 0
        self._calling = asyncio.Lock()

    async def __aenter__(self) -> Self:
        connected: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        with tempfile.TemporaryDirectory() as folder:
            socket = f"{folder}/socket"
            self._server = await asyncio.start_unix_server(
                lambda reader, writer: connected.set_result((reader, writer)), socket, limit=MOST_BYTES
            )
            self.copies.start(self._path, socket)
            self._reader, self._writer = await connected
        self._pid = (await anext(self.heard()))["pid"]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.kill()
        self._writer.close()
        self._server.close()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

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
