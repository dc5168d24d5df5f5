"""The server's side of the process that holds an agent: start it, send it commands, hear its reports, end it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

import msgspec

from proctor.core.sentence import Sentence, say
from proctor.web.chats.wire import REPORTS, Command, Load, Ready, Report, Send, Unusable, line_of

MOST_LINE_BYTES = 16_000_000
PRINTED_BYTES = 20_000  # the end of what the agent printed
END_SECONDS = 3.0
START_SECONDS = 120.0  # to import the agent's libraries
PIPE_SECONDS = 0.5  # where another process holds the pipe


class AgentProcess:
    """One process, which is started at once; commands wait until the agent is loaded.

    Attributes:
        fault: why it cannot be asked any more; None while it can.
        is_ready: True once the agent is loaded.
    """

    def __init__(
        self,
        agent: str,
        options: Mapping[str, object],
        hear: Callable[["AgentProcess", Report, int], None],
        ended: Callable[["AgentProcess"], None],
    ) -> None:
        self.fault: Sentence | None = None
        self.is_ready = False
        self._hear = hear
        self._ended = ended
        self._printed = b""
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: list[Command] = []
        self._life = asyncio.create_task(self._live(Load(agent=agent, options=options)))

    @property
    def printed(self) -> str:
        """Return the end of what the agent and its libraries printed."""
        return self._printed.decode("utf-8", "replace")

    def send(self, command: Command) -> None:
        """Send a command, now or as soon as the agent is loaded; a process that ended hears nothing."""
        if not self.is_ready:
            self._waiting.append(command)
        elif self._process is not None and self._process.stdin is not None and self.fault is None:
            self._process.stdin.write(line_of(command))

    def withdraw(self, chat: str) -> bool:
        """Take back the message of a chat that was not sent yet, because the agent is not loaded; False if it was sent."""
        left = [one for one in self._waiting if not (isinstance(one, Send) and one.chat == chat)]
        is_withdrawn = len(left) < len(self._waiting)
        self._waiting = left
        return is_withdrawn

    def kill(self, why: Sentence) -> None:
        """End the process and all that it started, at once."""
        self.fault = self.fault or why
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Let the process end; kill it if it does not."""
        self.fault = self.fault or say("The agent was closed.")
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.wait({self._life}, timeout=END_SECONDS)
        self.kill(self.fault)
        await asyncio.wait({self._life}, timeout=END_SECONDS)
        self._life.cancel()

    async def _live(self, load: Load) -> None:
        """Start the process and hear it until it ends."""
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-X", "utf8", "-m", "proctor.web.chats.child"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MOST_LINE_BYTES,
                start_new_session=True,  # Ctrl-C is ours to handle, and what it starts can be ended with it
            )
        except OSError as error:
            self.fault = say("This machine cannot start a process: {error}.", error=error.strerror or error)
            self._ended(self)
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(line_of(load))
        printing = asyncio.create_task(self._keep_printed(process.stderr))
        late = asyncio.get_running_loop().call_later(START_SECONDS, self._check_started)
        try:
            await self._listen(process.stdout)
        finally:
            late.cancel()
            how = await self._end(process)
            self.fault = self.fault or say("The agent's process ended ({how}).", how=how)
            await asyncio.wait({printing}, timeout=PIPE_SECONDS)
            printing.cancel()
            self._ended(self)

    async def _end(self, process: asyncio.subprocess.Process) -> str:
        """End what is left of the process, and return how it ended."""
        waiting = asyncio.create_task(process.wait())
        await asyncio.wait({waiting}, timeout=PIPE_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = await waiting
        return signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"

    async def _listen(self, pipe: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await pipe.readline()
                if not line:
                    return
                report = REPORTS.decode(line)
            except (ValueError, msgspec.MsgspecError):
                self.fault = self.fault or say("The agent's process sent more than can be taken, and was ended.")
                return
            match report:
                case Unusable(why=why):
                    self.fault = why
                case Ready():
                    self.is_ready = True
                    waiting, self._waiting = self._waiting, []
                    for command in waiting:
                        self.send(command)
            self._hear(self, report, len(line))

    def _check_started(self) -> None:
        if not self.is_ready:
            self.kill(say("The agent was not loaded within {seconds:g} seconds.", seconds=START_SECONDS))

    async def _keep_printed(self, pipe: asyncio.StreamReader) -> None:
        while data := await pipe.read(65_536):
            self._printed = (self._printed + data)[-PRINTED_BYTES:]
