"""An agent of Proctor as an agent of Inspect, for its tasks of one turn."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

from proctor.api import resolve
from proctor.core.errors import AgentFailed, needs
from proctor.core.sample import Sample, Turn
from proctor_adapters.imports._messages import message


def inspect_agent(agent: resolve.AgentLike, **options: object) -> Any:
    """Return an agent of Inspect that answers as an agent of Proctor does.

    `eval(task, solver=inspect_agent("./mine.py:answer"), model=None)`: it is given the messages so far and adds one. Tools of the task cannot be offered to it, as Inspect hands an agent no tools.

    Args:
        agent: a name, a function, an object with `.run`, or an agent.
        options: those of `--agent-set`, of an agent given by name.

    Raises:
        MissingExtra: Inspect is not installed.
    """
    with needs("inspect-tasks", "inspect_agent"):
        from inspect_ai.agent import agent as declare
        from inspect_ai.model import ModelOutput
    answering, named = resolve.agent(agent, options)

    async def execute(state: Any) -> Any:
        asked = tuple(message(each.model_dump(mode="json", exclude_none=True)) for each in state.messages)
        turn = Turn(messages=asked)
        async with AsyncExitStack() as stack:
            if isinstance(answering, AbstractAsyncContextManager):
                await stack.enter_async_context(answering)
            session = await stack.enter_async_context(answering.open(Sample(id="inspect", turns=(turn,)), None))
            steps = await session.send(turn)
        texts = [step.message.text for step in steps if step.message.role == "assistant"]
        if not texts:
            raise AgentFailed("The agent gave no message.", kind="empty")
        state.output = ModelOutput.from_content(model=named.name, content=texts[-1])
        state.messages.append(state.output.message)
        return state

    def proctor_agent() -> object:
        return execute

    return declare(name="proctor", description=named.name)(proctor_agent)()
