"""Offer the tools of a sample's environment to an agent of another library, as tools of that library's kind."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from msgspec.structs import replace

from proctor.chat.agent_replies import clean
from proctor.chat.message_text import result_with_text
from proctor.core.declared import EnvironmentInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Part, Tool, ToolCall, ToolResult, Turn
from proctor.core.sentence import say
from proctor.core.task import Environment
from proctor.core.trajectory import Step, ToolStyle

WHY = {
    "langgraph": "its tools were compiled into it. Name a function that is given the tools and returns the graph: def agent(tools): ...",
    "hello_agents": "its models call tools in their text, by rules of its own. Use HelloAgents 1, or an agent of it that calls tools natively.",
    "a2a": "the A2A protocol has no tools of the one who asks. Give them to the agent itself, for example as an MCP server.",
    "http": "it is not known where its replies hold tool calls. Say it with the option 'calls', and send it the messages and the tools.",
    "function": "it takes a text alone. Give it a second parameter 'environment' to call them with, or let it take messages and tools.",
}


class _Ended(BaseException):
    """Raised out of a tool when the sample is over; no library takes it for an error that its model should know of."""


class EnvironmentTools:
    """The tools of the environment in one conversation.

    Args:
        gives_files: the agent is given the files of results; else their text says that they cannot be shown.

    Attributes:
        tools: those that the turn offers; the tools of an earlier turn stay, as a simulated user brings none.
        style: how they are called, None without an environment.
    """

    def __init__(self, environment: Environment | None, *, gives_files: bool = False) -> None:
        self.tools: Sequence[Tool] = ()
        self.style: ToolStyle | None = None if environment is None else "native"
        self._environment = environment
        self._offers_all = False
        self._ended: BaseException | None = None
        self._gives_files = gives_files
        self._failed: set[tuple[str, str]] = set()
        self._files: dict[tuple[str, str], tuple[File, ...]] = {}  # none where two results differ in them only
        self._waiting: set[Future[ToolResult]] = set()  # calls of threads
        # Libraries run the calls of one reply side by side, but a state needs them in order.
        self._in_order = asyncio.Lock()

    def offer(self, turn: Turn) -> bool:
        """Take over the tools of a turn; True if they differ from those before."""
        self._loop = asyncio.get_running_loop()
        before = self.tools
        if self._environment is not None and turn.tools:
            self.tools = turn.tools
            self._offers_all = turn.tools == tuple(declared(EnvironmentInfo, self._environment).tools)
        return self.tools != before

    def now(self) -> Sequence[Tool]:
        """Return the tools at this moment: a call may add some, or take some away, where all are offered."""
        return declared(EnvironmentInfo, self._environment).tools if self._offers_all else self.tools

    def has(self, name: str) -> bool:
        """True if a tool of the environment has this name; it replaces the agent's own tool of that name."""
        return any(tool.name == name for tool in self.now())

    async def call(self, name: str, arguments: Mapping[str, Any] | str, id: str = "") -> ToolResult:
        """Return the result of a call; the text of one that failed is for the model, too."""
        if self._environment is None:
            return ToolResult(name=name, content=f"There is no tool '{name}'.", id=id, is_error=True)
        if self._ended is not None:
            raise _Ended
        if isinstance(arguments, str):
            call = ToolCall.from_text(name, arguments, id=id)
        else:
            call = ToolCall(name=name, arguments=arguments, id=id)
        try:
            async with self._in_order:
                result = await self._environment.call(call)
        except Exception as error:
            self._ended = error
            raise _Ended from error
        if not self._gives_files:
            result = result_with_text(result, media=())
        key = (name, clean(result.content))
        if result.is_error:
            self._failed.add(key)
        if result.files:
            self._files[key] = result.files if self._files.get(key, result.files) == result.files else ()
        return result

    def call_in_thread(self, name: str, arguments: Mapping[str, object], id: str = "") -> ToolResult:
        """Do the same for a library that calls its tools in a thread."""
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                raise TypeError(f"The tool '{name}' is called in an async function: it has to be awaited.")
        call = self.call(name, arguments, id)
        waiting = asyncio.run_coroutine_threadsafe(call, self._loop)
        self._waiting.add(waiting)
        try:
            return waiting.result()
        finally:
            self._waiting.discard(waiting)

    @contextmanager
    def ended(self) -> Iterator[None]:
        """Raise what ended the sample inside a tool, in place of what the library made of it."""
        try:
            yield
        except BaseException as error:
            task = asyncio.current_task()
            is_cancelled = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling()
            if is_cancelled:  # a thread may go on, but not with this environment
                self._ended = self._ended or error
                for waiting in [*self._waiting]:
                    waiting.cancel()
            if self._ended is None or is_cancelled:
                raise
        if self._ended is not None:
            raise self._ended

    def with_errors(self, steps: Sequence[Step]) -> list[Step]:
        """Return the steps with what libraries do not keep of results, which are texts to them: errors and files."""
        known = self._failed or self._files
        return [self._with_errors(step) if known and step.message.role == "tool" else step for step in steps]

    def _with_errors(self, step: Step) -> Step:
        parts: list[Part] = []
        for part in step.message.parts:
            if isinstance(part, ToolResult):
                key = (part.name, part.content)
                is_error, files = part.is_error or key in self._failed, self._files.get(key, ())
                part = replace(part, is_error=is_error, files=files)  # noqa: PLW2901 - it stays that result
            parts.append(part)
        return replace(step, message=Message(role="tool", parts=tuple(parts)))


def schema_of_parameters(tool: Tool) -> dict[str, Any]:
    """Return the schema of a tool's parameters as an object, as every library wants it."""
    return {"type": "object", "properties": {}, **tool.parameters}


def refuse_tools(name: str, turn: Turn, environment: Environment | None, kind: str) -> None:
    """Refuse a turn whose tools the agent cannot be given.

    Raises:
        BadInput: it offers some, or the environment reads calls in the agent's words.
    """
    if environment is None:
        return
    about = declared(EnvironmentInfo, environment)
    if turn.tools or about.tools or about.wording is not None:
        raise cannot_be_given(name, kind)


def cannot_be_given(name: str, kind: str) -> BadInput:
    """Return the error for an agent that cannot take tools, which says what would help."""
    return BadInput(
        "The agent '{name}' cannot be given the tools of an environment: {why}", name=name, why=say(WHY[kind])
    )
