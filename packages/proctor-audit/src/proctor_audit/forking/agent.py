"""A chat model whose conversation begins with the recorded steps of an earlier trial, and goes on from there with the model."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
from msgspec.structs import replace

from proctor.agents.conversation import Ask
from proctor.agents.openai import ChatAgent, ModelConversation
from proctor.core.declared import ModelInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Reasoning, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.sentence import Sentence, say
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step
from proctor.runtime.visible import one_line

SHOWN = 200  # characters of a result in a message


class ForkedPrefix(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded steps before a fork, and what is changed at it.

    Attributes:
        prompt: replaces the system messages of the sample.
        reply: replaces the step of the fork: the words of the agent, or the result of a tool where `changes_result`.
        drops_reasoning: what a model wrote for itself is left out, as another provider cannot read it.
    """

    steps: tuple[Step, ...]
    prompt: str | None = None
    reply: str | None = None
    changes_result: bool = False
    drops_reasoning: bool = False


class ForkedAgent(ChatAgent):
    """The chat model of a fork: replies are those recorded until they are used up, then the model's own."""

    def __init__(self, agent: ChatAgent, prefix: ForkedPrefix, *, name: str) -> None:
        super().__init__(agent._model, name=name, tools=agent.tools, max_steps=agent._max_steps)
        self._prefix = prefix

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        """Yield a conversation, which has to come as far as the recording does.

        Raises:
            BadInput: it ended before.
        """

        async def ask(messages: Sequence[Message], tools: Sequence[Tool]) -> Sequence[Step]:
            return [await self._model.complete(messages, tools)]

        conversation = ForkedConversation(
            ask,
            environment,
            max_steps=self._max_steps,
            prompted=self.tools == "text",
            about=declared(ModelInfo, self._model),
            prefix=self._prefix,
        )
        yield conversation
        conversation.check_used_up()


class ForkedConversation(ModelConversation):
    """A conversation whose first replies are recorded; its calls are made again, and have to come out as recorded."""

    def __init__(
        self,
        ask: Ask,
        environment: Environment | None,
        *,
        max_steps: int | None,
        prompted: bool,
        about: ModelInfo,
        prefix: ForkedPrefix,
    ) -> None:
        super().__init__(ask, environment, max_steps=max_steps, prompted=prompted, about=about)
        self._prefix = prefix
        self._next = 0  # the recorded step that comes next

    def check_used_up(self) -> None:
        """Raise BadInput if the conversation ended before the step of the fork."""
        if self._next < len(self._prefix.steps):
            raise _differs(self._next, say("the conversation ended before it"))

    async def send(self, turn: Turn) -> Sequence[Step]:
        prompt = self._prefix.prompt
        if prompt is not None and not self._messages:
            rest = (message for message in turn.messages if message.role != "system")
            turn = replace(turn, messages=(Message.of("system", prompt), *rest))
        return await super().send(turn)

    async def _reply(self) -> Sequence[Step]:
        recorded = self._recorded()
        if recorded is None:
            if self._next == len(self._prefix.steps) and not self._prefix.changes_result:
                self._next += 1
                if self._prefix.reply is not None:
                    return self._say(Message.of("assistant", self._prefix.reply))
            return await super()._reply()
        if recorded.message.role != "assistant":
            raise _differs(self._next, say("the recording has a result of a tool where the agent replies"))
        self._next += 1
        message = recorded.message
        if self._prefix.drops_reasoning:
            message = replace(message, parts=tuple(p for p in message.parts if not isinstance(p, Reasoning)))
        return self._say(message, recorded)

    def _say(self, message: Message, recorded: Step | None = None) -> Sequence[Step]:
        self._messages.append(message)
        return [Step(message=message, stop="done" if recorded is None else recorded.stop)]

    async def _run(self, environment: Environment, calls: Sequence[ToolCall]) -> bool:
        before = len(self.received)
        goes_on = await super()._run(environment, calls)
        for index in range(before, len(self.received)):
            self.received[index] = self._checked(self.received[index])
        return goes_on

    def _checked(self, step: Step) -> Step:
        """Return a step of results, once it is known to be as recorded, or the one that replaces it."""
        recorded = self._recorded()
        if recorded is None:
            if self._next == len(self._prefix.steps) and self._prefix.changes_result:
                self._next += 1
                return self._with_result(step)
            return step
        self._next += 1
        if _results(recorded.message) != _results(step.message):
            was, now = (_text_of(message) for message in (recorded.message, step.message))
            raise _differs(self._next - 1, say("it was {was}, and is {now} now", was=was, now=now))
        return replace(step, seconds=0.0)

    def _with_result(self, step: Step) -> Step:
        """Return a step with the words given in place of its result, which are also what the model sees."""
        (result,) = (part for part in step.message.parts if isinstance(part, ToolResult))
        changed = replace(result, content=self._prefix.reply or "", is_error=False, files=())
        last = self._messages[-1]
        self._messages[-1] = replace(last, parts=tuple(changed if part is result else part for part in last.parts))
        return replace(step, message=replace(step.message, parts=(changed,)))

    def _recorded(self) -> Step | None:
        return self._prefix.steps[self._next] if self._next < len(self._prefix.steps) else None


def _results(message: Message) -> list[ToolResult]:
    """Return the results in a message without their ids, which differ from run to run."""
    return [replace(part, id="") for part in message.parts if isinstance(part, ToolResult)]


def _text_of(message: Message) -> str:
    return one_line("; ".join(f"{result.name}: {result.content}" for result in _results(message)), SHOWN)


def _differs(index: int, why: Sentence) -> BadInput:
    return BadInput(
        "Step {step} does not come out as recorded: {why}. What would follow it is another conversation, so no fork is kept.",
        step=index + 1,
        why=why,
    )
