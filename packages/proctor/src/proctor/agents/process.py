"""`process:COMMAND`: an agent in any language, as a program that reads and writes JSON lines.

For each turn it gets one line, `{"id": ..., "question": ..., "messages": [...], "tools": [...]}`, with the messages of the
whole conversation as in chat completions, and answers with one line: `{"answer": "..."}`, `{"messages": [...]}`, or
`{"error": "..."}` for a failure of its own. What it writes to standard error is kept for messages about failures.

Each sample gets a process of its own, so that nothing leaks from one to the next and one that hangs is killed alone; with
`reuse=true` processes are kept and take one sample after the other. Standard input closes when there is no more.
"""

import errno
import json
import shlex
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Self

import msgspec

from proctor.agents.agent_errors import error_in_words
from proctor.agents.conversation import AgentConversation, Clock, newest
from proctor.chat.agent_replies import clean, steps_of
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_messages, to_tools
from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, EnvironmentFailed, ProctorError
from proctor.core.parts import AgentPart
from proctor.core.run import Limits
from proctor.core.sample import Message, Sample, Tool
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.runtime.concurrent import run_to_the_end
from proctor.runtime.program import LineTooLong, RunningProgram
from proctor.runtime.visible import visible
from proctor.transport.redact import redact

LINE_BYTES = Limits().reply_bytes * 4
SHOWN = 200


class ProcessAgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `process:` agents.

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
    chosen = converted(options, ProcessAgentOptions, name)
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

    def __init__(self, command: Sequence[str], *, name: str, options: ProcessAgentOptions) -> None:
        self.name = name
        self.tools: ToolStyle = options.tools
        self._command = command
        self._reuse = options.reuse
        self._waiting: list[RunningProgram] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        waiting, self._waiting = self._waiting, []
        await run_to_the_end(*(program.end() for program in waiting))

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        program = self._waiting.pop() if self._waiting else await _start(self._command)
        try:
            yield AgentConversation(partial(_ask, program, sample.id), environment)
        except BaseException:
            await program.end(at_once=True)
            raise
        if self._reuse and program.alive:
            self._waiting.append(program)
        else:
            await program.end()


async def _start(command: Sequence[str]) -> RunningProgram:
    try:
        return await RunningProgram.start(command, line_bytes=LINE_BYTES)
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


async def _ask(
    program: RunningProgram, sample_id: str, messages: Sequence[Message], tools: Sequence[Tool]
) -> Sequence[Step]:
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
    await program.write(json.dumps(asked, ensure_ascii=False).encode("utf-8", "replace"))
    try:
        line = await program.read()  # of one that ended meanwhile, what it wrote before may still be an answer
    except LineTooLong:
        raise AgentFailed(
            "The agent wrote a line of more than {limit} bytes.", kind="too_large", limit=LINE_BYTES
        ) from None
    if not line:
        raise await _ended(program)
    return clock.timed(_steps(line))


async def _ended(program: RunningProgram) -> ProctorError:
    ended = await program.ends()
    said = _plain(program.said) or "-"
    known = error_in_words(program.said)
    if known is not None:
        return known
    if not ended:
        return AgentFailed(
            "The agent closed its output without an answer. Its standard error: {said}", kind="no_reply", said=said
        )
    return AgentFailed(
        "The agent ended with code {code} without an answer. Its standard error: {said}",
        kind="exited",
        code=program.code,
        said=said,
    )


def _steps(line: bytes) -> Sequence[Step]:
    text = clean(line.decode("utf-8", "replace")).strip()
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        reply = None
    match reply:
        case {"error": error} if error is not None:
            raise error_in_words(str(error)) or AgentFailed(
                "The agent reports an error: {error}", kind="reported", error=_plain(str(error))[:SHOWN]
            )
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
    return visible(redact(text))


PART = AgentPart(make=make, options=ProcessAgentOptions)
