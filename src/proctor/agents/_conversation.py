"""Sessions that several agents share: the tool loop of a conversation that keeps its messages, and a recorded one."""

import time
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from proctor.chat.prompted_tools import describe_tools, read_calls, results_message
from proctor.core.errors import EnvironmentFailed, PartFailed
from proctor.core.run import limits_now
from proctor.core.sample import Message, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Step, Trajectory
from proctor.transport.redact import quoted

Ask = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Sequence[Step]]]


class Clock:
    """Measures the time since it was made."""

    def __init__(self) -> None:
        self._started = time.time()
        self._clock = time.perf_counter()

    def timed(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the steps; a single one without a start gets that of this clock, and the time until now."""
        if len(steps) == 1 and not steps[0].started:
            return [replace(steps[0], started=self._started, seconds=time.perf_counter() - self._clock)]
        return steps


class Conversation:
    """Asks with all messages so far, lets the environment answer tool calls, and asks again until none is made.

    Without an environment calls are what the agent answers: nobody could answer them.

    Args:
        max_steps: replies at most in one turn, the limit of steps of the run if None; a turn that needs more stops
            as "step_limit".
        prompted: describe the tools in a system message, and read calls from the text of the replies.

    Attributes:
        received: the steps of the turn that is under way, for a time limit that ends it.
    """

    def __init__(
        self, ask: Ask, environment: Environment | None, *, max_steps: int | None = None, prompted: bool = False
    ) -> None:
        self.received: list[Step] = []
        self._ask = ask
        self._environment = environment
        self._max_steps = max_steps
        self._prompted = prompted
        self._messages: list[Message] = []
        self._tools: Sequence[Tool] = ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Return the agent's reply, or with an environment all steps until it answers."""
        self.received = []
        self._messages.extend(turn.messages)
        self._tools = turn.tools or self._tools  # those of an earlier turn stay, as a simulated user brings none
        for _ in range(self._max_steps or limits_now.get().steps):
            steps = await self._reply()
            self.received.extend(steps)
            calls = [call for step in steps for call in step.message.calls]
            last = steps[-1]
            if self._environment is None or not calls or last.message.role == "tool" or last.stop != "done":
                break
            await self._run(self._environment, calls)
        else:
            self.received[-1] = replace(self.received[-1], stop="step_limit")
        steps, self.received = self.received, []
        return steps

    async def _reply(self) -> Sequence[Step]:
        if not (self._prompted and self._tools):
            steps = await self._ask(self._messages, self._tools)
            self._messages.extend(step.message for step in steps)
            return steps
        steps = await self._ask([describe_tools(self._tools), *self._messages], ())
        self._messages.extend(step.message for step in steps)  # its own words again; only we see the calls in them
        return [replace(step, message=read_calls(step.message, self._tools)) for step in steps]

    async def _run(self, environment: Environment, calls: Sequence[ToolCall]) -> None:
        results: list[ToolResult] = []
        for call in calls:
            clock = Clock()
            results.append(await call_tool(environment, call))
            self.received.extend(clock.timed([Step(message=_of_tool(results[-1:]), author="tool")]))
        self._messages.append(results_message(results) if self._prompted else _of_tool(results))


class Recorded:
    """Replays a recorded trajectory turn by turn, whatever the messages of the turns are.

    Attributes:
        tools: how its tools were offered, which need not be how the agent would be offered them.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.tools = trajectory.tools
        self._trajectory = trajectory
        self._turn = 0

    async def send(self, turn: Turn) -> Sequence[Step]:
        steps = [step for step in self._trajectory.steps if step.turn == self._turn]
        self._turn += 1
        if steps and self._trajectory.stop != "done" and steps[-1] is self._trajectory.steps[-1]:
            steps[-1] = replace(steps[-1], stop=self._trajectory.stop)
        return steps


def _of_tool(results: Sequence[ToolResult]) -> Message:
    return Message(role="tool", parts=tuple(results))


async def call_tool(environment: Environment, call: ToolCall) -> ToolResult:
    """Return the environment's result of a call, with the id of that call.

    Raises:
        EnvironmentFailed: the tool broke.
    """
    try:
        result = await environment.call(call)
    except PartFailed:
        raise
    except Exception as error:
        raise EnvironmentFailed(
            "The tool '{name}' broke: {type}: {error}",
            name=call.name,
            type=type(error).__name__,
            error=quoted(error),
        ) from error
    return result if result.id == call.id else replace(result, id=call.id)
