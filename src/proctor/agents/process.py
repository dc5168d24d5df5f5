"""`process:COMMAND`: an agent in any language, as a program that reads and writes JSON lines.

For each turn it gets one line, `{"id": ..., "question": ..., "messages": [...], "tools": [...]}`, with the messages of the
whole conversation as in chat completions, and answers with one line: `{"answer": "..."}`, `{"messages": [...]}`, or
`{"error": "..."}` for a failure of its own. What it writes to standard error is kept for messages about failures.

Each sample gets a process of its own, so that nothing leaks from one to the next and one that hangs is killed alone; with
`reuse=true` processes are kept and take one sample after the other. Standard input closes when there is no more.
"""

import asyncio
import contextlib
import errno
import json
import os
import shlex
import shutil
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Self

import msgspec

from proctor.agents._conversation import Clock, Conversation, newest
from proctor.chat.agent_replies import clean, steps_of
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_messages, to_tools
from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, EnvironmentFailed
from proctor.core.parts import AgentPart
from proctor.core.run import Limits
from proctor.core.sample import Message, Sample, Tool
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.runtime.concurrent import run_to_the_end
from proctor.transport.redact import redact

LINE_BYTES = Limits().reply_bytes * 4
TAIL_BYTES = 4_096
SHOWN = 200
GRACE_SECONDS = 1.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What `process:` can be told.

    Attributes:
        reuse: keep processes for further samples instead of one for each.
        tools: how tools are offered: `native` in the line's `tools`, or in the benchmark's own words as `text`.
    """

    reuse: bool = False
    tools: ToolStyle = "native"


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent of a command line; it is split as a shell would, but no shell runs it.

    Raises:
        BadInput: no such command, or an unknown option.
    """
    name = f"process:{argument}"
    chosen = converted(options, Options, name)
    try:
        command = shlex.split(argument)
    except ValueError as error:
        raise BadInput("The command '{command}' cannot be read: {error}.", command=argument, error=error) from None
    if not command:
        raise BadInput("process: needs a command, for example process:'python agent.py'.")
    if shutil.which(command[0]) is None:
        raise BadInput("There is no program '{program}' to start the agent with.", program=command[0])
    return ProcessAgent(command, name=name, options=chosen)


class ProcessAgent:
    """Starts the program for a sample, or takes one that is waiting."""

    def __init__(self, command: Sequence[str], *, name: str, options: Options) -> None:
        self.name = name
        self.tools: ToolStyle = options.tools
        self._command = command
        self._reuse = options.reuse
        self._waiting: list[_Program] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        waiting, self._waiting = self._waiting, []
        await run_to_the_end(*(program.end() for program in waiting))

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        program = self._waiting.pop() if self._waiting else await _Program.start(self._command)
        try:
            yield Conversation(partial(program.ask, sample.id), environment)
        except BaseException:
            await program.end(at_once=True)
            raise
        if self._reuse and program.alive:
            self._waiting.append(program)
        else:
            await program.end()


class _Program:
    """One running process, the leader of its own group, so that what it starts ends with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._tail = b""
        self._reader = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},  # a Python agent that only prints would wait for ever
                start_new_session=True,
                limit=LINE_BYTES,
            )
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                raise EnvironmentFailed(
                    "This machine could not run the sample ({type}: {error}). Run it again with --retry-failed, and fewer at once (--concurrency).",
                    kind="machine",
                    type=type(error).__name__,
                    error=error.strerror or error,
                ) from error
            raise BadInput(
                "The agent's program '{program}' cannot be started: {error}.",
                program=command[0],
                error=error.strerror or error,
            ) from error
        return cls(process)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, sample_id: str, messages: Sequence[Message], tools: Sequence[Tool]) -> Sequence[Step]:
        """Return the steps the program answers with.

        Raises:
            AgentFailed: it ended, or wrote something else than one line of JSON with an answer.
        """
        asked = {
            "id": sample_id,
            "question": text_of(newest(messages)),
            "messages": to_messages(messages, {}),
            "tools": to_tools(tools, {}),
        }
        clock = Clock()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it ended; what it wrote before may still be an answer
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise AgentFailed(
                "The agent wrote a line of more than {limit} bytes.", kind="too_large", limit=LINE_BYTES
            ) from None
        if not line:
            raise await self._ended()
        return clock.timed(_steps(line))

    async def end(self, *, at_once: bool = False) -> None:
        """Close its input, then ask it to end, then kill it and all it started."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            if at_once or not await self._ends():
                self._signal(signal.SIGTERM)
                await self._ends()
        finally:
            self._signal(signal.SIGKILL)  # also what a leader that ended left behind
            self._reader.cancel()
        await self._process.wait()

    async def _ends(self) -> bool:
        """Return True if it ends within a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self._process.wait()
        return not self.alive

    async def _ended(self) -> AgentFailed:
        ended = await self._ends()
        await asyncio.wait({self._reader}, timeout=GRACE_SECONDS)
        said = _plain(self._tail.decode("utf-8", "replace")).strip() or "-"
        if not ended:
            return AgentFailed(
                "The agent closed its output without an answer. Its standard error: {said}", kind="no_reply", said=said
            )
        return AgentFailed(
            "The agent ended with code {code} without an answer. Its standard error: {said}",
            kind="exited",
            code=self._process.returncode,
            said=said,
        )

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(1 << 16):
            self._tail = (self._tail + chunk)[-TAIL_BYTES:]


def _steps(line: bytes) -> Sequence[Step]:
    text = clean(line.decode("utf-8", "replace")).strip()
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        reply = None
    match reply:
        case {"error": error} if error is not None:
            raise AgentFailed("The agent reports an error: {error}", kind="reported", error=_plain(str(error))[:SHOWN])
        case {"messages": list() as messages} if messages:
            return steps_of(messages)
        case {"answer": str() as answer}:
            return steps_of(answer)
        case {"answer": _}:
            return steps_of(reply["answer"])
    raise AgentFailed(
        "The agent wrote a line that is no answer: {line}. Expected one JSON object with 'answer', 'messages' or 'error'; "
        "what else it has to say belongs on standard error.",
        kind="bad_reply",
        line=_plain(text)[:SHOWN] or "-",
    )


def _plain(text: str) -> str:
    """Return the program's text as a message may show it: without keys and control characters."""
    text = redact(text)
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)


PART = AgentPart(make=make, options=Options)
