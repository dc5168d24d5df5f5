"""`local:smollm2-135m` or `local:./model.gguf`: a model that runs on this machine, without a key or a network.

The server starts with the run and ends with it.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import Self

from proctor.agents.openai import conversation_with
from proctor.config import converted
from proctor.core.parts import AgentPart
from proctor.core.sample import Sample
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import ToolStyle
from proctor.models.local import LocalModel, Options


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """The agent `local:MODEL` with the options of `proctor.models.local.Options`; nothing is started yet.

    Raises:
        BadInput: no such model or file, no GGUF, an unknown option; `MissingExtra` without xllamacpp.
    """
    return LocalAgent(LocalModel(argument, converted(options, Options, f"local:{argument}")))


class LocalAgent:
    """A local model as a system under test; `async with` it, so that its server ends with the run."""

    tools: ToolStyle = "native"

    def __init__(self, model: LocalModel) -> None:
        self.name = f"local:{model.name}"
        self.model = model.name  # its price, if it has one, stands under this
        self.concurrency = model.concurrency
        self._model = model

    async def __aenter__(self) -> Self:
        await self._model.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._model.stop()

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """A conversation of its own for each sample."""
        return nullcontext(conversation_with(self._model, "native", environment))


PART = AgentPart(make=make, options=Options)
