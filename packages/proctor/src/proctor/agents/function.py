"""Use the user's own agent: a function, an object with `.run(text)`, a class of such objects, or an `Agent` unchanged.

One parameter: the text of the question comes in, an answer as text goes out. Two parameters, or one called
`messages`: the whole conversation (and the tools) as the plain dicts of chat completions come in; text, a message or
a list of new messages goes out. Everything may be async, or a generator of pieces of text.

A last parameter called `environment` is what the function itself calls tools with (`Tools`, `AsyncTools`): `environment.tools`
describes them as chat completions do, and `environment.call(name, **arguments)` returns a `ToolResult`.

What is not async runs in a thread of its own: one that never returns holds up neither other samples nor our end.
"""

import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from types import GeneratorType
from typing import Any, Literal, Protocol, TypeGuard, runtime_checkable

from proctor import registry
from proctor.agents.acting_functions import ActingSession
from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.conversation import AgentConversation, Clock
from proctor.agents.environment_tools import refuse_tools
from proctor.agents.libraries import wrapper_of
from proctor.chat.agent_replies import steps_of
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_messages, to_tools
from proctor.config import unknown_option
from proctor.core.declared import AgentInfo, checked, own_name
from proctor.core.digest import digest_bytes
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.parts import AgentPart
from proctor.core.run import Limits
from proctor.core.sample import Message, Sample, Tool, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.runtime.threads import in_thread

ENVIRONMENT = "environment"
MOST_CHARACTERS = Limits().reply_bytes * 2  # where the pieces of a generator stop being collected

Takes = Literal["text", "messages", "messages and tools"]
Call = Callable[..., Awaitable[Any]]


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent `function:package.module:object` or `function:./file.py:object`; the path alone means the same."""
    name = f"function:{argument}"
    for option in options:
        raise unknown_option(name, option, [])
    return wrap(registry.load_object(argument, "agent"), name=name)


def wrap(target: object, *, name: str | None = None) -> Agent:
    """Return an agent that calls the user's object.

    A class is made anew for each sample, so that its objects may remember the turns of one conversation; an object
    or a function is shared by all samples.

    Raises:
        BadInput: it cannot be called in one of the ways above.
    """
    name = name or own_name(target) or identity(target)
    if _is_agent(target):
        checked(AgentInfo, target, name)
        return target
    if (wrap_known := wrapper_of(target)) is not None:
        return wrap_known(target, name=name)
    if isinstance(target, type):
        return _of_function(target, _run_of(target, name), name)
    function = target.run if isinstance(target, _Runs) and callable(target.run) else target
    if not callable(function):
        raise BadInput(
            "'{name}' is no agent: expected a function, an object with a method run(text), or an Agent; got {type}.",
            name=name,
            type=type(target).__name__,
        )
    return _of_function(function, function, name)


def _of_function(target: Callable[..., object], called: Callable[..., object], name: str) -> "FunctionAgent":
    acts = _acts(called)
    return FunctionAgent(target, name=name, takes=_takes(called, name, acts=acts), acts=acts)


def identity(target: object) -> str:
    """Return the name that an object is recorded by, and can be found by again: `module:name` or `./file.py:name`."""
    module, _, name = qualified_name(target).partition(":")
    return f"{registry.path_of(module) or module}:{name}"


def qualified_name(target: object) -> str:
    """Return `module:name` of a function or class, or of the class of an object."""
    owner = _unwrapped(target)
    owner = owner if hasattr(owner, "__qualname__") else type(owner)
    return f"{getattr(owner, '__module__', '')}:{getattr(owner, '__qualname__', '')}"


def source_digest(target: object) -> str | None:
    """Return a digest of the source of a function or class, or of an object's class; None if there is no source."""
    owner: Any = _unwrapped(target)
    owner = owner if hasattr(owner, "__qualname__") else type(owner)
    try:
        return digest_bytes(inspect.getsource(owner).encode("utf-8", "replace"))
    except (OSError, TypeError):
        return None


def continuable(target: object) -> bool:
    """True if another process can find the object by `identity`: it is not in `__main__`, no lambda and no inner function."""
    module, _, path = qualified_name(target).partition(":")
    if module == "__main__":
        return False
    value: object = sys.modules.get(module)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value is target


@runtime_checkable
class _Runs(Protocol):
    run: Callable[..., Any]


class FunctionAgent:
    """Calls a function, or `run` of an object made for the sample."""

    def __init__(self, function: Callable[..., object], *, name: str, takes: Takes, acts: bool = False) -> None:
        self.name = name
        self.tools: ToolStyle = "native" if takes == "messages and tools" else "text"
        self._takes = takes
        self._acts = acts
        self._is_async = _is_async(function)
        self._made_anew = function if isinstance(function, type) else None
        self._call = call_function if self._made_anew else _caller(function)

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        if self._made_anew is not None:
            return self._anew(self._made_anew, environment)
        return nullcontext(self._session(self._call, environment, is_async=self._is_async))

    @asynccontextmanager
    async def _anew(self, kind: type, environment: Environment | None) -> AsyncIterator[Session]:
        run = (await call_function(kind)).run
        yield self._session(_caller(run), environment, is_async=_is_async(run))

    def _session(self, call: Call, environment: Environment | None, *, is_async: bool) -> Session:
        if self._acts:
            ask = None if self._takes == "text" else self._ask
            return ActingSession(call, ask, environment, is_async=is_async)
        if self._takes == "text":
            return _TextSession(call, self.name, environment)
        return AgentConversation(partial(self._ask, call), environment)

    async def _ask(
        self, call: Call, messages: Sequence[Message], tools: Sequence[Tool], *more: object
    ) -> Sequence[Step]:
        given = to_messages(messages, {})
        mine = {id(message) for message in given}
        arguments = (list(given), to_tools(tools, {}))
        clock = Clock()
        reply = await call(*arguments[: 2 if self._takes == "messages and tools" else 1], *more)
        if isinstance(reply, list | tuple):  # `messages.append(answer); return messages` is common
            reply = [item for item in reply if id(item) not in mine]
        return clock.timed(steps_of(reply))


class _TextSession:
    """Gives each turn as text; the function itself remembers earlier turns if it wants to."""

    def __init__(self, call: Call, name: str, environment: Environment | None) -> None:
        self._call = call
        self._name = name
        self._environment = environment

    async def send(self, turn: Turn) -> Sequence[Step]:
        refuse_tools(self._name, turn, self._environment, "function")
        clock = Clock()
        return clock.timed(steps_of(await self._call(text_of(turn.messages))))


def _caller(function: Callable[..., object]) -> Call:
    """`call_function` for a function of which we look only once whether it is async."""
    return partial(call_function, function, is_async=_is_async(function))


async def call_function(function: Callable[..., object], *arguments: object, is_async: bool | None = None) -> Any:
    """Return the result of the user's function, async or not, with the pieces of a generator joined.

    Raises:
        AgentFailed: it raised; the cause is kept. Our own errors pass through, and those of a model's provider are
            told apart (see `agent_errors`).
    """
    with map_agent_errors():
        if _is_async(function) if is_async is None else is_async:
            result = function(*arguments)
        else:
            result = await in_thread(partial(_collected, function, *arguments))
        if not isinstance(result, str):  # the usual answer of a plain function
            if inspect.isawaitable(result):
                result = await result
            if inspect.isasyncgen(result):
                result = await _joined(result)
    return result


def _collected(function: Callable[..., object], *arguments: object) -> object:
    result = function(*arguments)
    return _pieces(result) if isinstance(result, GeneratorType) else result


def _pieces(generator: Iterator[object]) -> object:
    pieces: list[object] = []
    size = 0
    for piece in generator:
        pieces.append(piece)
        size = _measured(size, piece)
    return _whole(pieces)


async def _joined(generator: AsyncIterator[object]) -> object:
    pieces: list[object] = []
    size = 0
    async for piece in generator:
        pieces.append(piece)
        size = _measured(size, piece)
    return _whole(pieces)


def _measured(size: int, piece: object) -> int:
    size += len(piece) if isinstance(piece, str) else 1
    if size > MOST_CHARACTERS:
        raise AgentFailed("The agent gave more than {limit} characters.", kind="too_large", limit=MOST_CHARACTERS)
    return size


def _whole(pieces: list[Any]) -> object:
    return "".join(pieces) if pieces and all(isinstance(piece, str) for piece in pieces) else pieces or None


def _acts(function: Callable[..., object]) -> bool:
    """True if a function calls tools itself."""
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return False
    return len(names) > 1 and names[-1] == ENVIRONMENT


def _takes(function: Callable[..., object], name: str, *, acts: bool = False) -> Takes:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built-in functions have no signature
        return "text"
    parameters = parameters[:-1] if acts else parameters
    placed = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    needed = [parameter for parameter in placed if parameter.default is parameter.empty]
    names = [parameter.name for parameter in placed]
    missing = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    ]
    rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    if missing or len(needed) > 2 or not (placed or rest):
        raise BadInput(
            "'{name}' cannot be called as an agent: it takes {signature}. An agent takes one text, or messages and tools.",
            name=name,
            signature=str(inspect.signature(function)),
        )
    if len(needed) == 2 or names[:2] == ["messages", "tools"]:
        return "messages and tools"
    return "messages" if names[:1] == ["messages"] else "text"


def _run_of(kind: type, name: str) -> Callable[..., object]:
    """Return the method `run` of a class as its objects will have it."""
    run = kind.run if isinstance(kind, _Runs) else None
    if not callable(run):
        raise BadInput("The class '{name}' is no agent: it has no method run(text).", name=name)
    try:
        inspect.signature(kind).bind()
    except TypeError as error:
        raise BadInput(
            "The class '{name}' cannot be made without arguments: {error}. Give an object of it.",
            name=name,
            error=error,
        ) from None
    except ValueError:  # no signature
        pass
    return partial(run, None) if inspect.isfunction(inspect.getattr_static(kind, "run", None)) else run


def _is_agent(target: object) -> TypeGuard[Agent]:
    return not isinstance(target, type) and isinstance(target, Agent) and target.tools in ("native", "text")


def _is_async(function: Callable[..., Any]) -> bool:
    function = function.func if isinstance(function, partial) else function
    return any(
        inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
        for one in (function, type(function).__call__)
    )


def _unwrapped(target: object) -> object:
    return _unwrapped(target.func) if isinstance(target, partial) else target


PART = AgentPart(make=make, is_internal=True)
