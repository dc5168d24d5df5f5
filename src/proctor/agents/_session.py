"""Sessions that several agents share: a conversation that keeps its messages, and a recorded one."""

import time
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from proctor.core.errors import EnvironmentFailed, PartFailed
from proctor.core.run import limits_now
from proctor.core.sample import File, Message, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Step, Trajectory
from proctor.transport.redact import quoted

Ask = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Sequence[Step]]]


class Clock:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._started = time.time()
        self._clock = time.perf_counter()

    def timed(self, steps: Sequence[Step]) -> Sequence[Step]:
        """The steps; a single one that does not say when it began has taken all the time until now."""
        if len(steps) == 1 and not steps[0].started:
            return [replace(steps[0], started=self._started, seconds=time.perf_counter() - self._clock)]
        return steps


class Conversation:
    """Asks with all messages so far, lets the environment answer tool calls, and asks again until none is made.

    Without an environment calls are what the agent answers: nobody could answer them. `received` are the
    steps of the turn under way, so that a time limit does not lose them.
    """

    def __init__(self, ask: Ask, environment: Environment | None) -> None:
        self.received: list[Step] = []
        self._ask = ask
        self._environment = environment
        self._messages: list[Message] = []
        self._tools: Sequence[Tool] = ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        self.received = []
        self._messages.extend(turn.messages)
        self._tools = turn.tools or self._tools  # those of an earlier turn stay, as a simulated user brings none
        for _ in range(limits_now.get().steps):
            clock = Clock()
            steps = clock.timed(await self._ask(self._messages, self._tools))
            self._keep(steps)
            calls = [call for step in steps for call in step.message.calls]
            if self._environment is None or not calls or steps[-1].message.role == "tool":
                return self.received
            for call in calls:
                clock = Clock()
                message = Message(role="tool", parts=(await result_of(self._environment, call),))
                self._keep(clock.timed([Step(message=message, author="environment")]))
        self.received[-1] = replace(self.received[-1], stop="step_limit")
        return self.received

    def _keep(self, steps: Sequence[Step]) -> None:
        self.received.extend(steps)
        self._messages.extend(step.message for step in steps)


class Recorded:
    """Plays a trajectory that is already there, turn by turn; the turns themselves change nothing.

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


async def result_of(environment: Environment, call: ToolCall) -> ToolResult:
    """What the environment says to a call, with the call's id.

    Raises:
        EnvironmentFailed: it broke.
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


def question(messages: Sequence[Message]) -> str:
    """What a text-in agent is asked: the one message, or all of them with their roles; files are named.

    >>> question([Message.of("system", "Be brief."), Message.of("user", "Hi")])
    'system: Be brief.\\n\\nuser: Hi'
    """
    if len(messages) == 1:
        return _in_words(messages[0])
    return "\n\n".join(f"{message.role}: {_in_words(message)}" for message in messages)


def _in_words(message: Message) -> str:
    if all(isinstance(part, Text) for part in message.parts):
        return message.text
    words = [
        _named(part) if isinstance(part, File) else part.text for part in message.parts if isinstance(part, Text | File)
    ]
    return "".join(words)


def _named(file: File) -> str:
    where = file.path or file.url
    return f"\n[Attached file: {file.name} ({file.media_type})" + (f", at {where}]\n" if where else "]\n")
