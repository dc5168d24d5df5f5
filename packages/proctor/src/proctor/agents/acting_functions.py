"""Let the user's function call the tools of a sample's environment itself, in the middle of its work.

    async def answer(question, environment):
        found = await environment.call("search", city="Rome")
        return found.content

Each call and its result is a step of the trajectory. A plain function, which runs in a thread, gets `Tools`, an async one
`AsyncTools`. Without an environment there are no tools, and a call is one of an unknown tool.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from proctor.agents.conversation import Clock
from proctor.agents.environment_tools import EnvironmentTools
from proctor.chat.agent_replies import steps_of
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_tools
from proctor.core.sample import Message, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Step

Keep = Callable[[ToolCall, ToolResult, Clock], None]


class AsyncTools:
    """The environment's tools, for an async function.

    Attributes:
        tools: their descriptions, as in chat completions.
    """

    def __init__(self, offered: EnvironmentTools, keep: Keep) -> None:
        self.tools: list[dict[str, Any]] = to_tools(offered.tools, {})
        self.offered = offered
        self.keep = keep
        self._count = 0

    def begin(self, name: str, arguments: Mapping[str, Any]) -> tuple[ToolCall, Clock]:
        """Return a call with an id of its own, and a clock that measures it."""
        self._count += 1
        return ToolCall(name=name, arguments=arguments, id=f"call_{self._count}"), Clock()

    async def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Call a tool; `content` of the result is its text, `files` what came with it, `is_error` is true where the tool failed."""
        call, clock = self.begin(name, arguments)
        result = await self.offered.call(name, arguments, call.id)
        self.keep(call, result, clock)
        return result


class Tools:
    """The tools of a plain function, which waits for each result."""

    def __init__(self, tools: AsyncTools) -> None:
        self.tools = tools.tools
        self._tools = tools

    def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Call a tool; see `AsyncTools`."""
        call, clock = self._tools.begin(name, arguments)
        result = self._tools.offered.call_in_thread(name, arguments, call.id)
        self._tools.keep(call, result, clock)
        return result


class ActingSession:
    """A conversation with a function that calls tools itself.

    Args:
        ask: calls it with messages and tools; None where it takes a text.

    Attributes:
        received: the calls of the turn under way, with their results.
    """

    def __init__(
        self,
        call: Callable[..., Awaitable[Any]],
        ask: Callable[..., Awaitable[Sequence[Step]]] | None,
        environment: Environment | None,
        *,
        is_async: bool,
    ) -> None:
        self._offered = EnvironmentTools(environment, gives_files=True)
        self.tools = self._offered.style
        self.received: list[Step] = []
        self._call = call
        self._ask = ask
        self._is_async = is_async
        self._messages: list[Message] = []

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Return the calls that the function made, and its answer."""
        self.received = []
        self._offered.offer(turn)
        self._messages.extend(turn.messages)
        tools = AsyncTools(self._offered, self._keep)
        handle = tools if self._is_async else Tools(tools)
        clock = Clock()
        with self._offered.ended():
            if self._ask is None:
                steps = clock.timed(steps_of(await self._call(text_of(turn.messages), handle)))
            else:
                steps = await self._ask(self._call, self._messages, self._offered.tools, handle)
        steps = [*self.received, *steps]
        self._messages.extend(step.message for step in steps)
        return steps

    def _keep(self, call: ToolCall, result: ToolResult, clock: Clock) -> None:
        self.received.append(Step(message=Message(role="assistant", parts=(call,)), started=clock.started))
        self.received.extend(clock.timed([Step(message=Message(role="tool", parts=(result,)), author="tool")]))
