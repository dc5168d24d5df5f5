"""Make the environment of a sample from names: `KIND:ARGUMENT` or `LABEL=KIND:ARGUMENT`, one or several at once."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from inspect import isawaitable
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from proctor import registry
from proctor.config import unknown_option
from proctor.core.declared import EnvironmentInfo, declared
from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sample import Sample, Tool, ToolCall, ToolResult
from proctor.core.task import Environment, MakeEnvironment
from proctor.environments.results import refusal

_LABELLED = re.compile(r"([A-Za-z][A-Za-z0-9]{0,30})=(?=[a-z][a-z_-]*:)")


def environment_of(names: Sequence[str], options: Mapping[str, object]) -> MakeEnvironment:
    """Return what makes the environment of a sample.

    The options of an environment with a label are those that begin with it, `LABEL.option`; several environments need labels for
    that.

    Raises:
        BadInput: there is no such kind, two have one label, or an option belongs to none of them.
    """
    if len(names) == 1 and _LABELLED.match(names[0]) is None:
        return _made(names[0], options)
    makers: list[tuple[str, MakeEnvironment]] = []
    for name in names:
        labelled = _LABELLED.match(name)
        label = labelled[1] if labelled is not None else ""
        if label and label in (known for known, _ in makers):
            raise BadInput("Two environments are labelled '{label}'.", label=label)
        own = options.get(label, {}) if label else {}
        if not isinstance(own, Mapping):
            raise BadInput("'{label}' is an environment; its options are written {label}.NAME=VALUE.", label=label)
        makers.append((label, _made(name.removeprefix(f"{label}="), own)))
    labels = [label for label, _ in makers if label]
    for key in options:
        if key not in labels:
            raise unknown_option("--environment", key, labels)
    return Makers(makers)


def _made(name: str, options: Mapping[str, object]) -> MakeEnvironment:
    kind, colon, argument = name.partition(":")
    room = kind.replace("-", "_")
    if colon and registry.ENVIRONMENTS.knows(room):
        return registry.ENVIRONMENTS.find(room).make(argument, options)
    known = [f"{one}:" for one in registry.ENVIRONMENTS.names()]
    meant = [f"{other}{argument}" for other in near(f"{kind}:", known)]
    if not meant and registry.is_path(name):
        meant = [f"python:{name}"]
    raise registry.unknown("environment", name, known, paths=False, meant=meant)


class Makers:
    """Makes several environments for a sample, and joins them."""

    def __init__(self, makers: Sequence[tuple[str, MakeEnvironment]]) -> None:
        self._makers = makers
        self._left = AsyncExitStack()

    def __call__(self, sample: Sample) -> Environment:
        made = ((label, make(_for_label(sample, label))) for label, make in self._makers)
        return SeveralEnvironments([(label, part) for label, part in made if part is not None])

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for _, make in self._makers:
                if isinstance(make, AbstractAsyncContextManager):
                    await stack.enter_async_context(make)
            self._left = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._left.__aexit__(kind, error, trace)


class SeveralEnvironments:
    """Several environments as one: the tools of one with a label are called LABEL_TOOL, and its state is under the label."""

    def __init__(self, parts: Sequence[tuple[str, Environment]]) -> None:
        self._parts = parts
        self._left = AsyncExitStack()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(replace(tool, name=name) for name, (_, tool) in self._by_name().items())

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for _, part in self._parts:
                if isinstance(part, AbstractAsyncContextManager):
                    await stack.enter_async_context(part)
            self._by_name()
            self._left = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._left.__aexit__(kind, error, trace)

    async def call(self, call: ToolCall) -> ToolResult:
        """Let the environment that has the tool run the call."""
        tools = self._by_name()
        if call.name not in tools:
            return refusal(call, f"There is no tool '{call.name}'. The tools are: {', '.join(tools)}.")
        part, tool = tools[call.name]
        return replace(await part.call(replace(call, name=tool.name)), name=call.name)

    async def state(self) -> Mapping[str, object]:
        """Return the states, each under its label; those without one together."""
        states: dict[str, object] = {}
        for label, part in self._parts:
            state = part.state()
            state = await state if isawaitable(state) else state
            states.update({label: state} if label else state)
        return states

    def _by_name(self) -> dict[str, tuple[Environment, Tool]]:
        found: dict[str, tuple[Environment, Tool]] = {}
        for label, part in self._parts:
            for tool in declared(EnvironmentInfo, part).tools:
                name = f"{label}_{tool.name}" if label else tool.name
                if name in found:
                    raise BadInput(
                        "Two environments have a tool '{name}'. Give one of them a label, and its tools are called LABEL_{name}: --environment LABEL=KIND:NAME.",
                        name=name,
                    )
                found[name] = part, tool
        return found


def _for_label(sample: Sample, label: str) -> Sample:
    """Return the sample as the environment of a label is given it: with its own part of what the sample says of environments."""
    start = sample.known.environment
    own = start.get(label) if start is not None and label else start
    return sample if own is start else replace(sample, meta={**sample.meta, "environment": own})
