"""An agent that is a chat model: `openai:MODEL`, at any OpenAI-compatible endpoint.

With an environment it calls tools until it answers; without one its first reply ends the turn.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

import msgspec

from proctor.agents.conversation import AgentConversation
from proctor.core.declared import ModelInfo, declared
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Sample, Tool
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.models.named import OpenedModels
from proctor.models.openai import ChatModel, OpenAIOptions, options_of


class AgentModel(Protocol):
    """The part of a chat model that an agent uses."""

    name: str
    concurrency: int

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Step: ...


def make(argument: str, options: Mapping[str, object]) -> "ChatAgent":
    """Return the agent `openai:MODEL` with the options of `proctor.models.openai.OpenAIOptions`."""
    return agent_of("openai", ChatModel(argument, options_of(options)))


def agent_of(kind: str, model: ChatModel) -> "ChatAgent":
    """Return a chat model as the agent `KIND:MODEL`, by its own options."""
    return ChatAgent(
        model,
        name=f"{kind}:{model.name}",
        tools="native" if model.options.tools == "native" else "text",
        max_steps=model.options.max_steps,
    )


def part_of(
    kind: str, make: Callable[[str, Mapping[str, object]], ChatModel], options: type[msgspec.Struct]
) -> AgentPart:
    """Return the part for agents `KIND:MODEL` that are chat models of that kind, with the options of those."""
    return AgentPart(make=lambda argument, values: agent_of(kind, make(argument, values)), options=options)


class ModelConversation(AgentConversation):
    """A conversation with a chat model, which knows nothing but the messages it is sent."""

    def resume(self, messages: Sequence[Message]) -> None:
        """Begin with what was said in an earlier conversation."""
        self._messages = [*messages]


class ChatAgent(OpenedModels):
    """A chat model as an agent; use it in `async with`, so that a server started for the model stops with the run.

    Args:
        tools: "native" offers tools as the model's API does, "text" describes them in words.
        max_steps: replies at most in one turn, the limit of steps of the run if None; a turn that needs more stops
            as "step_limit".

    Attributes:
        model: the name that its price is listed under.
    """

    def __init__(
        self, model: AgentModel, *, name: str | None = None, tools: ToolStyle = "native", max_steps: int | None = None
    ) -> None:
        super().__init__([model])
        self.name = name or model.name
        self.model = model.name
        self.tools = tools
        self.concurrency = model.concurrency
        self.reports_cost = isinstance(model, ChatModel) and model.reports_cost
        self.is_batched = isinstance(model, ChatModel) and model.is_batched
        self.price_source = model.price_source if isinstance(model, ChatModel) else ""
        self._model = model
        self._max_steps = max_steps
        self._about: ModelInfo | None = None

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """Return a conversation of its own for each sample."""
        if self._about is None:  # when the run has begun, and the model with it
            self._about = declared(ModelInfo, self._model)
        return nullcontext(conversation_with(self._model, self.tools, environment, self._max_steps, self._about))


def conversation_with(
    model: AgentModel,
    tools: ToolStyle,
    environment: Environment | None,
    max_steps: int | None = None,
    about: ModelInfo | None = None,
) -> ModelConversation:
    """Return a conversation with a chat model; the style "text" describes its tools in words, `about` is what the model declares."""

    async def ask(messages: Sequence[Message], offered: Sequence[Tool]) -> Sequence[Step]:
        return [await model.complete(messages, offered)]

    about = declared(ModelInfo, model) if about is None else about
    return ModelConversation(ask, environment, max_steps=max_steps, prompted=tools == "text", about=about)


PART = AgentPart(make=make, options=OpenAIOptions)
