"""An agent that is a chat model: `openai:MODEL`, behind any OpenAI-compatible endpoint.

With an environment it calls tools until it answers; without one its first reply ends the turn.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from msgspec.structs import replace

from proctor.agents._session import result_of
from proctor.agents._words import described, told, with_calls
from proctor.core.parts import AgentPart
from proctor.core.run import limits_now
from proctor.core.sample import Message, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.models.openai import ChatModel, Options, options_of


class Model(Protocol):
    """What an agent needs of a chat model."""

    name: str
    concurrency: int

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Step: ...


def make(argument: str, options: Mapping[str, object]) -> "ChatAgent":
    """The agent `openai:MODEL` with the options of `proctor.models.openai.Options`."""
    checked = options_of(options)
    model = ChatModel(argument, checked)
    return ChatAgent(
        model,
        name=f"openai:{model.name}",
        tools="native" if checked.tools == "native" else "text",
        max_steps=checked.max_steps,
    )


class ChatAgent:
    """A chat model as a system under test.

    Args:
        tools: "native" offers tools as the model's API does, "text" describes them in words.
        max_steps: replies at most in one turn, the limit of steps of the run if None; a turn that needs more stops
            as "step_limit".

    Attributes:
        model: the name that its price stands under.
    """

    def __init__(
        self, model: Model, *, name: str | None = None, tools: ToolStyle = "native", max_steps: int | None = None
    ) -> None:
        self.name = name or model.name
        self.model = model.name
        self.tools = tools
        self.concurrency = model.concurrency
        self._model = model
        self._max_steps = max_steps

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """A conversation of its own for each sample."""
        return nullcontext(ChatSession(self._model, self.tools, environment, self._max_steps))


class ChatSession:
    """One conversation.

    Attributes:
        received: the steps of the turn that is under way, for a time limit that ends it.
    """

    def __init__(
        self, model: Model, style: ToolStyle, environment: Environment | None, max_steps: int | None = None
    ) -> None:
        self.received: list[Step] = []
        self._model = model
        self._in_words = style == "text"
        self._environment = environment
        self._max_steps = max_steps
        self._history: list[Message] = []
        self._tools: Sequence[Tool] = ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        """The model's reply, or with an environment all steps until it answers."""
        self.received = []
        self._history.extend(turn.messages)
        if turn.tools:  # those of an earlier turn stay, as a simulated user brings none
            self._tools = turn.tools
        for _ in range(self._max_steps or limits_now.get().steps):
            step = await self._ask()
            calls = step.message.calls
            if not calls or self._environment is None or step.stop != "done":
                break
            await self._run(self._environment, calls)
        else:
            self.received[-1] = replace(self.received[-1], stop="step_limit")
        steps, self.received = self.received, []
        return steps

    async def _ask(self) -> Step:
        if self._in_words and self._tools:
            step = await self._model.complete([described(self._tools), *self._history])
            said = step.message  # the model sees its own words again, we see the calls in them
            step = replace(step, message=with_calls(said, self._tools))
        else:
            step = await self._model.complete(self._history, self._tools)
            said = step.message
        self._history.append(said)
        self.received.append(step)
        return step

    async def _run(self, environment: Environment, calls: Sequence[ToolCall]) -> None:
        results: list[ToolResult] = []
        for call in calls:
            result = await result_of(environment, call)
            results.append(result)
            self.received.append(Step(message=Message(role="tool", parts=(result,)), author="tool"))
        if self._in_words:
            self._history.append(told(results))
        else:
            self._history.append(Message(role="tool", parts=tuple(results)))


PART = AgentPart(make=make, options=Options)
