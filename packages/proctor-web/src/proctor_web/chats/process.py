"""The server's side of the process that holds an agent: start it, send it commands, hear its reports, end it."""

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping

from proctor.core.sentence import Sentence, say
from proctor.runtime.program import LineTooLong, RunningProgram
from proctor_web.chats.wire import REPORTS, Command, Load, Ready, Report, Send, Unusable, line_of

MOST_LINE_BYTES = 16_000_000
PRINTED_BYTES = 20_000  # the end of what the agent printed
END_SECONDS = 3.0
START_SECONDS = 120.0  # to import the agent's libraries
CHILD = (sys.executable, "-P", "-X", "utf8", "-m", "proctor_web.chats.child")


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
        self._program: RunningProgram | None = None
        self._waiting: list[Command] = []
        self._life = asyncio.create_task(self._live(Load(agent=agent, options=options)))

    @property
    def printed(self) -> str:
        """Return the end of what the agent and its libraries printed."""
        return self._program.said if self._program is not None else ""

    def send(self, command: Command) -> None:
        """Send a command, now or as soon as the agent is loaded; a process that ended hears nothing."""
        if not self.is_ready:
            self._waiting.append(command)
        elif self._program is not None and self.fault is None:
            self._program.send(line_of(command))

    def withdraw(self, chat: str) -> bool:
        """Take back the message of a chat that was not sent yet, because the agent is not loaded; False if it was sent."""
        left = [one for one in self._waiting if not (isinstance(one, Send) and one.chat == chat)]
        is_withdrawn = len(left) < len(self._waiting)
        self._waiting = left
        return is_withdrawn

    def kill(self, why: Sentence) -> None:
        """End the process and all that it started, at once."""
        self.fault = self.fault or why
        if self._program is not None and self._program.alive:
            self._program.kill()

    async def close(self) -> None:
        """Let the process end; kill it if it does not."""
        self.fault = self.fault or say("The agent was closed.")
        if self._program is not None:
            self._program.close_input()
        await asyncio.wait({self._life}, timeout=END_SECONDS)
        self.kill(self.fault)
        await asyncio.wait({self._life}, timeout=END_SECONDS)
        self._life.cancel()

    async def _live(self, load: Load) -> None:
        try:
            self._program = program = await RunningProgram.start(
                CHILD, line_bytes=MOST_LINE_BYTES, tail_bytes=PRINTED_BYTES
            )
        except OSError as error:
            self.fault = say("This machine cannot start a process: {error}.", error=error.strerror or error)
            self._ended(self)
            return
        program.send(line_of(load))
        late = asyncio.get_running_loop().call_later(START_SECONDS, self._check_started)
        try:
            await self._listen(program)
        finally:
            late.cancel()
            await program.end()
            self.fault = self.fault or say("The agent's process ended ({how}).", how=_how_it_ended(program.code))
            self._ended(self)

    async def _listen(self, program: RunningProgram) -> None:
        while True:
            try:
                line = await program.read()
                if not line:
                    return
                report = REPORTS.decode(line)
            except (LineTooLong, ValueError, RecursionError):
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


def _how_it_ended(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and -code in set(signal.Signals) else f"exit code {code}"
