"""`mcp:COMMAND` or `mcp:URL`: any MCP server, over its standard input and output or over streamable HTTP.

The protocol is that of the official SDK (extra `mcp`). Each attempt at a sample gets a server of its own, over HTTP a session
of its own; with `reset=TOOL` servers are kept, and that tool is called before each attempt with the sample's
`meta["environment"]` as its arguments. Over HTTP there is one server then, so that attempts wait for each other.

A server may not ask a model or the user anything: sampling and elicitation are refused, and so is the list of roots. Calls
run one after the other. Images, sound and other bytes in a result are its files; its text names them.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from proctor import registry
from proctor.config import converted
from proctor.core.errors import BadInput, EnvironmentFailed, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.parts import EnvironmentPart
from proctor.core.sample import Sample, Tool, ToolCall, ToolResult
from proctor.core.task import Environment
from proctor.environments import call_failures
from proctor.environments.results import refusal, result_of, text_of_value
from proctor.models.addresses import fill_variables, header_value
from proctor.runtime.concurrent import run_to_the_end
from proctor_adapters.environments import programs

if TYPE_CHECKING:
    from proctor_adapters.environments._mcp_client import McpConnection


class McpOptions(programs.ProgramOptions, frozen=True, kw_only=True):
    """The options of `mcp:`.

    Attributes:
        reset: the tool that sets the state back; servers are then kept for further samples.
        state: the tool whose result is the state, as a JSON object.
        result: where in a result that is JSON what the agent is shown is, such as `data.text`; all of it if empty.
        without: tools that the agent is not offered; `reset` and `state` never are.
        start_seconds: how long a server may take to start.
        headers: sent to a server over HTTP; a value `env:NAME` is read from the environment.
    """

    reset: str = ""
    state: str = ""
    result: str = ""
    without: tuple[str, ...] = ()
    start_seconds: Annotated[float, msgspec.Meta(gt=0)] = 60.0
    headers: Mapping[str, str] = {}


def make(argument: str, options: Mapping[str, object]) -> Callable[[Sample], Environment]:
    """Return what starts the server for a sample, or opens a session of one that runs.

    Raises:
        MissingExtra: the SDK is not installed.
        BadInput: no such command, or an unknown option.
    """
    name = f"mcp:{argument}"
    chosen = converted(options, McpOptions, name)
    if not is_installed("mcp"):
        raise MissingExtra("mcp", name)
    is_url = argument.startswith(("http://", "https://"))
    if is_url:
        headers = {key: header_value(key, value) for key, value in chosen.headers.items()}
        if chosen.confined:
            raise BadInput("{name} is an address: what runs there cannot be confined from here.", name=name)
        return Servers(fill_variables(argument), msgspec.structs.replace(chosen, headers=headers))
    if chosen.headers:
        raise BadInput("{name} is no address, so it takes no headers.", name=name)
    programs.check_variables(chosen.variables, name)
    return Servers(programs.command_of(argument, "mcp"), chosen)


class Servers:
    """Connects to a server for a sample; with a reset, to one that an earlier sample left."""

    def __init__(self, server: Sequence[str] | str, options: McpOptions) -> None:
        self.options = options
        self._server = server
        self._waiting: list[McpConnection] = []
        self._one = asyncio.Lock() if options.reset and isinstance(server, str) else None

    def __call__(self, sample: Sample) -> Environment:
        return McpEnvironment(self, sample)

    async def __aenter__(self) -> Self:
        # the SDK takes a second to import: before samples are under way
        import_module("proctor_adapters.environments._mcp_client")
        return self

    async def __aexit__(self, *_: object) -> None:
        waiting, self._waiting = self._waiting, []
        await run_to_the_end(*(connection.close() for connection in waiting))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["McpConnection"]:
        """Give a connection to one sample; it is kept for the next one if it can be reset and did not break.

        Raises:
            EnvironmentFailed: there is none to be had.
        """
        from proctor_adapters.environments._mcp_client import McpConnection

        options = self.options
        async with self._one or nullcontext():
            if self._waiting:
                connection = self._waiting.pop()
            else:
                connection = McpConnection(
                    self._server, options.variables, options.headers, confined=programs.confinement(options)
                )
                await connection.open(options.start_seconds)
            try:
                yield connection
            except BaseException:
                await connection.close(at_once=True)
                raise
            if options.reset and not connection.broken:
                self._waiting.append(connection)
            else:
                await connection.close()


class McpEnvironment:
    """Calls the tools of one server."""

    def __init__(self, servers: Servers, sample: Sample) -> None:
        self._servers = servers
        self._options = servers.options
        self._sample = sample
        self._was_called = False
        self._left = AsyncExitStack()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return what the server offers now, without what is not for the agent."""
        return tuple(tool for tool in self._connection.tools if tool.name not in self._hidden)

    async def __aenter__(self) -> Self:
        options = self._options
        self._hidden = {*options.without, options.reset, options.state}
        async with AsyncExitStack() as stack:
            self._connection = await stack.enter_async_context(self._servers.connection())
            self._check()
            start = self._sample.known.environment or {}
            if options.reset:
                await self._ask(options.reset, start)
            elif start:
                raise BadInput(
                    "The sample '{id}' says how its environment starts. Name the tool of the server that takes this: --environment-set reset=TOOL.",
                    id=self._sample.id,
                )
            self._left = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._left.__aexit__(kind, error, trace)

    async def call(self, call: ToolCall) -> ToolResult:
        if call.raw is not None:
            return refusal(call, "The arguments are no JSON object.")
        if call.name in self._hidden:
            return refusal(call, f"There is no tool '{call.name}'.")
        self._was_called = True
        try:
            answer = await self._connection.call(call.name, call.arguments, self._seconds)
        except EnvironmentFailed as failure:
            if failure.kind == "late" and await self._connection.answers_again():
                return call_failures.timed_out(call, self._seconds)
            raise call_failures.died(failure, self._options.blame_death) from failure
        text = _part(answer.text, self._options.result)
        return result_of(call, text, is_error=answer.is_error, files=answer.files)

    async def state(self) -> Mapping[str, object]:
        """Return what the tool for it says; nothing where none is named."""
        if not self._options.state:
            return {}
        try:
            text = await self._ask(self._options.state, {})
        except EnvironmentFailed as failure:
            if not (self._was_called and self._connection.broken):
                raise
            raise call_failures.died(failure, self._options.blame_death) from failure
        try:
            state = json.loads(text)
        except (ValueError, RecursionError):
            state = text
        return state if isinstance(state, dict) else {"state": state}

    @property
    def _seconds(self) -> float:
        return call_failures.seconds_for_a_call(self._options.seconds)

    async def _ask(self, name: str, arguments: Mapping[str, object]) -> str:
        """Return the result of one of the tools that are ours.

        Raises:
            EnvironmentFailed: the tool reports an error.
        """
        answer = await self._connection.call(name, arguments, self._seconds)
        if answer.is_error:
            raise EnvironmentFailed(
                "The tool '{name}' failed: {error}", kind="tool", name=name, error=programs.shown(answer.text)
            )
        return answer.text

    def _check(self) -> None:
        known = [tool.name for tool in self._connection.tools]
        for name in self._hidden - {"", *known}:
            raise registry.unknown("tool", name, known, paths=False)


def _part(text: str, path: str) -> str:
    """Return what is at a path of keys in a JSON text; the whole text where there is nothing."""
    if not path:
        return text
    try:
        value = json.loads(text)
        for key in path.split("."):
            value = value[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return text
    return text_of_value(value)


PART = EnvironmentPart(make=make, options=McpOptions)
