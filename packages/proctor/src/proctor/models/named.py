"""Make a chat model by its name, for whoever asks one besides the agent: judges, simulated users, generators.

`openai:MODEL` (any OpenAI-compatible endpoint), `local:smollm2-135m`, `scripted:FILE`, or `./mine.py:object` with a method
`complete`. Who asks counts it: `ledger.spend(step.usage)`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Self

from proctor import registry
from proctor.core.declared import ModelInfo, checked
from proctor.core.errors import BadInput
from proctor.core.task import Model


def model(name: str, options: Mapping[str, object] = {}, *, defaults: Mapping[str, object] = {}) -> Model:
    """Return the model with a name, without starting or asking anything.

    Args:
        options: those of its kind, such as temperature, max_tokens, base_url.
        defaults: options below those, for kinds that have them.

    Raises:
        BadInput: no such kind, model or file, or an unknown option.

    >>> model("openai:judge-1", {"temperature": 0}).name
    'judge-1'
    """
    kind, colon, argument = name.partition(":")
    if colon and registry.MODELS.knows(kind):
        part = registry.MODELS.find(kind)
        fields = part.options.__struct_fields__ if part.options is not None else ()
        return part.make(argument, {**{key: value for key, value in defaults.items() if key in fields}, **options})
    if registry.is_path(name):
        return _load_model(name, options)
    raise registry.unknown("model", name, [f"{kind}:" for kind in registry.MODELS.names()], paths=False)


class OpenedModels:
    """Enters others for as long as it is entered: models with a server, workers, objects that hold some."""

    def __init__(self, parts: Sequence[object]) -> None:
        self._parts = [part for part in parts if isinstance(part, AbstractAsyncContextManager)]
        self._stack: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for part in self._parts:
                await stack.enter_async_context(part)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stack is not None:
            await self._stack.__aexit__(kind, error, trace)


def _load_model(name: str, options: Mapping[str, object]) -> Model:
    if options:
        raise BadInput("The model '{name}' takes no options; give the object its values where it is made.", name=name)
    value = registry.load_object(name, "model")
    if not isinstance(value, Model):
        raise BadInput(
            "'{name}' is no model: expected an object with a name and a method complete(messages).", name=name
        )
    checked(ModelInfo, value, name)
    return value
