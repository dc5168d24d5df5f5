"""The `llm` of HelloAgents, any object with `invoke(messages) -> str`, as a model of ours and as an agent."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.agents.function import call_function
from proctor.chat.messages import to_messages
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import Message, Tool
from proctor.core.task import Model
from proctor.core.trajectory import Step, Usage
from proctor.models.named import model
from proctor_compat.hello_agents._settings import endpoint, model_id


class InvokedModel:
    """Asks an object with `invoke`, in a thread of its own where that blocks."""

    def __init__(self, llm: Any) -> None:
        if not callable(getattr(llm, "invoke", None)):
            raise BadInput("'{name}' is no llm: it has no method invoke(messages).", name=type(llm).__name__)
        self.name = name_of(llm)
        self._invoke = llm.invoke

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, object] | None = None,
    ) -> Step:
        """Return the reply of the user's model; a schema is not passed on, as the prompt asks for the same form."""
        started = time.time()
        said = await call_function(self._invoke, to_messages(messages, {}))
        text = said if isinstance(said, str) else getattr(said, "content", None)
        if not isinstance(text, str):
            raise AgentFailed("The llm gave {type} instead of text.", type=type(said).__name__)
        return Step(
            message=Message.of("assistant", text),
            started=started,
            seconds=time.time() - started,
            usage=Usage(requests=1),
        )


class LlmWriter:
    """An llm as an agent that writes: each prompt alone, and calls at least so many seconds apart."""

    def __init__(self, llm: object, delay_seconds: float = 0.0) -> None:
        self.name = name_of(llm) if llm is not None else model_id() or "llm"
        self._model = model_of(llm)
        self._delay = delay_seconds
        self._free_at = 0.0

    async def run(self, prompt: str) -> str:
        """Return the reply to a prompt."""
        wait = self._free_at - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        try:
            step = await self._model.complete([Message.of("user", prompt)])
        finally:
            self._free_at = time.monotonic() + self._delay
        return step.message.text


def model_of(llm: object, name: str = "") -> Model:
    """Return the model of an llm; without one that of a name, or of `LLM_MODEL_ID`, at an OpenAI-compatible endpoint."""
    return model(f"openai:{name}", endpoint()) if llm is None else InvokedModel(llm)


def name_of(llm: object) -> str:
    """Return what the model is called in results.

    >>> class Llm:
    ...     model = "qwen-plus"
    >>> name_of(Llm()), name_of(3)
    ('qwen-plus', 'int')
    """
    name = getattr(llm, "model", None)
    return name if isinstance(name, str) and name else type(llm).__name__
