"""`process:COMMAND`: an environment in any language, as a program that reads and writes JSON lines.

It gets one line at a time, and answers each with one line:

    {"do": "open", "id": "a1", "environment": {…}}         {"ok": true}
    {"do": "tools"}                                        {"tools": [{"name": …, "description": …, "parameters": {…}}]}
    {"do": "call", "name": "buy", "arguments": {…}}        {"result": …, "files": […]}, or {"error": "sold out"}
    {"do": "state"}                                        {"state": {…}}
    {"do": "close"}                                        {"ok": true}

`environment` is that of the sample's `meta`, over the settings `start`. An `error` is a tool's own, which the model sees; `{"broken": "why"}` means that
the environment cannot go on. `files` may be left out; each has a name, a media_type and its data in base64. Each attempt at a sample gets a process of its own; with `reuse=true` processes are kept, and `open`
has to start from the beginning. What it writes to standard error is kept for messages about failures.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from types import MappingProxyType, TracebackType
from typing import Any, Self

import msgspec

from proctor.config import converted
from proctor.core.errors import EnvironmentFailed
from proctor.core.media_type import OCTETS
from proctor.core.parts import EnvironmentPart
from proctor.core.sample import File, JsonObject, Sample, Tool, ToolCall, ToolResult
from proctor.core.sentence import Sentence, say
from proctor.core.task import Environment
from proctor.core.validation import in_words
from proctor.environments import call_failures
from proctor.environments.results import refusal, result_of, text_of_value
from proctor.runtime.concurrent import run_to_the_end
from proctor.runtime.program import LineTooLong, RunningProgram
from proctor_adapters.environments import programs

CLOSE_SECONDS = 2.0
START_SECONDS = 60.0


class ProcessEnvironmentOptions(programs.ProgramOptions, frozen=True, kw_only=True):
    """The options of `process:`.

    Attributes:
        reuse: keep processes for further samples instead of one for each.
        start: what `environment` holds for every sample.
    """

    reuse: bool = False
    start: Mapping[str, object] = {}


class ProgramFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a result."""

    data: bytes
    name: str = ""
    media_type: str = OCTETS


class ProgramAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the program."""

    ok: bool = False
    tools: tuple[Tool, ...] | None = None
    result: Any = msgspec.UNSET
    files: tuple[ProgramFile, ...] = ()
    error: str | None = None
    state: JsonObject | None = None
    broken: str | None = None


def make(argument: str, options: Mapping[str, object]) -> Callable[[Sample], Environment]:
    """Return what starts the program for a sample.

    Raises:
        BadInput: no such command, or an unknown option.
    """
    name = f"process:{argument}"
    chosen = converted(options, ProcessEnvironmentOptions, name)
    programs.check_variables(chosen.variables, name)
    return Programs(programs.command_of(argument, "process"), chosen)


class Programs:
    """Starts a program for a sample, or takes one that is waiting."""

    def __init__(self, command: Sequence[str], options: ProcessEnvironmentOptions) -> None:
        self.options = options
        self._command = command
        self._waiting: list[tuple[RunningProgram, AsyncExitStack]] = []

    def __call__(self, sample: Sample) -> Environment:
        return ProcessEnvironment(self, sample)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        waiting, self._waiting = self._waiting, []
        await run_to_the_end(*(stack.aclose() for _, stack in waiting))

    async def take(self) -> tuple[RunningProgram, AsyncExitStack]:
        """Return a program with what ends it."""
        while self._waiting:
            program, stack = self._waiting.pop()
            if program.alive:
                return program, stack
            await stack.aclose()
        stack = AsyncExitStack()
        options = self.options
        started = programs.started(self._command, options.variables, confined=programs.confinement(options))
        return await stack.enter_async_context(started), stack

    async def give_back(self, program: RunningProgram, stack: AsyncExitStack) -> None:
        """Keep a program for the next sample, or end it."""
        if self.options.reuse and program.alive:
            self._waiting.append((program, stack))
        else:
            await stack.aclose()


class ProcessEnvironment:
    """Asks one program, one line at a time."""

    def __init__(self, programs: Programs, sample: Sample) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._programs = programs
        self._sample = sample
        self._turn = asyncio.Lock()  # an answer belongs to the line that was written last
        self._broken = False
        self._was_called = False

    async def __aenter__(self) -> Self:
        self._program, self._stack = await self._programs.take()
        known = self._sample.known
        try:
            start = {**self._programs.options.start, **(known.environment or {})}
            given = {"environment": start} if known.start is None else {"environment": start, "start": known.start}
            await self._ask("open", {"id": self._sample.id, **given})
            self.tools = (await self._ask("tools")).tools or ()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._broken or kind is not None:
            await self._stack.aclose()
            return
        with suppress(EnvironmentFailed):  # what was done is done
            await self._ask("close", seconds=CLOSE_SECONDS)
        if self._broken:
            await self._stack.aclose()
        else:
            await self._programs.give_back(self._program, self._stack)

    async def call(self, call: ToolCall) -> ToolResult:
        if call.raw is not None:
            return refusal(call, "The arguments are no JSON object.")
        self._was_called = True
        try:
            answer = await self._ask("call", {"name": call.name, "arguments": call.arguments})
        except LineTooLong:
            return refusal(call, f"The result has more than {programs.LINE_BYTES} bytes.")
        except EnvironmentFailed as failure:
            if failure.kind != "late" or not await self._answers_again():
                raise
            return call_failures.timed_out(call, call_failures.seconds_for_a_call(self._programs.options.seconds))
        if answer.error is not None:
            return refusal(call, answer.error)
        files = [File(name=file.name, media_type=file.media_type, data=file.data) for file in answer.files]
        return result_of(call, text_of_value(answer.result), files=files)

    async def state(self) -> Mapping[str, object]:
        return (await self._ask("state")).state or {}

    async def _ask(
        self, do: str, more: Mapping[str, object] = MappingProxyType({}), *, seconds: float | None = None
    ) -> ProgramAnswer:
        """Write a line and return the answer to it.

        Raises:
            EnvironmentFailed: there is none, or another line than an answer.
            LineTooLong: the result of a call is too long.
        """
        try:
            return await self._exchange(do, more, seconds)
        except EnvironmentFailed as failure:
            if not self._was_called or failure.kind == "broken" or not self._broken:
                raise
            raise call_failures.died(failure, self._programs.options.blame_death) from failure

    async def _answers_again(self) -> bool:
        """True if the program still answers after a call that took too long; the answer to that call is not read."""
        line = json.dumps({"do": "state"}).encode()
        async with self._turn:
            with suppress(TimeoutError, LineTooLong):
                async with asyncio.timeout(call_failures.HEALTH_SECONDS):
                    await self._program.write(line)
                    self._broken = not (await self._program.read() and await self._program.read())
        return not self._broken

    async def _exchange(self, do: str, more: Mapping[str, object], seconds: float | None) -> ProgramAnswer:
        seconds = seconds or call_failures.seconds_for_a_call(self._programs.options.seconds)
        if do in ("open", "tools"):  # a program has to start, however quick its calls should be
            seconds = max(seconds, START_SECONDS)
        line = json.dumps({"do": do, **more}, ensure_ascii=False, default=str).encode("utf-8", "replace")
        async with self._turn:
            if self._broken:
                raise EnvironmentFailed("The environment failed earlier in this sample.")
            self._broken = True  # until its answer is there: what comes later would be taken for that of the next line
            try:
                async with asyncio.timeout(seconds):
                    await self._program.write(line)
                    text = await self._program.read()
            except TimeoutError:
                raise call_failures.too_late(str(more.get("name", do)), seconds) from None
            except LineTooLong:
                self._broken = do != "call"
                if not self._broken:
                    raise
                raise EnvironmentFailed(
                    "The environment wrote a line of more than {limit} bytes.",
                    kind="too_large",
                    limit=programs.LINE_BYTES,
                ) from None
            if not text:
                raise await programs.failure_of(self._program)
            answer = _read(text, do)
            self._broken = False
        return answer


def _read(text: bytes, do: str) -> ProgramAnswer:
    try:
        answer = msgspec.json.decode(text, type=ProgramAnswer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _no_answer(text, in_words(error)) from None
    failed = answer.broken if answer.broken is not None or do == "call" else answer.error
    if failed is not None:
        raise EnvironmentFailed(
            "The environment reports that it cannot go on: {reason}", kind="broken", reason=programs.shown(failed)
        )
    needed = {"call": answer.result is not msgspec.UNSET or answer.error is not None, "tools": answer.tools is not None}
    if not needed.get(do, True):
        raise _no_answer(text, say("'{field}' is missing", field={"call": "result", "tools": "tools"}[do]))
    return answer


def _no_answer(text: bytes, error: Sentence | str) -> EnvironmentFailed:
    return EnvironmentFailed(
        "The environment wrote a line that is no answer ({error}): {line} What else it has to say belongs on standard error.",
        kind="bad_reply",
        error=error,
        line=programs.shown(text.decode("utf-8", "replace")),
    )


PART = EnvironmentPart(make=make, options=ProcessEnvironmentOptions)
