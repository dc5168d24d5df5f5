"""`python:FILE:NAME`: a class of the user's, whose public methods are the tools and whose attributes are the state.

NAME is a class (one object is made for each attempt at a sample), a function that makes such an object, or an object (each
attempt gets a deep copy). The arguments of a class or function come from `--environment-set`, and those in the sample's
`meta["environment"]` go before them. What a method raises is an error that the model sees as the result of its call.

The object lives in a thread of its own, so that a tool that blocks holds up nobody else; one with async methods lives in
the event loop. It may be a context manager, which is left when the attempt is over. `state()` gives its state if it has
that method, else its public attributes are it.
"""

import asyncio
import copy
import inspect
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, suppress
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, TracebackType
from typing import Any, Protocol, Self, cast, runtime_checkable

import msgspec

from proctor import registry
from proctor.config import unknown_option
from proctor.core.declared import EnvironmentRules, checked
from proctor.core.errors import BadInput, EnvironmentFailed, EpisodeOver, ProctorError
from proctor.core.parts import EnvironmentPart
from proctor.core.sample import Sample, Tool, ToolCall, ToolResult
from proctor.core.task import Environment
from proctor.core.validation import in_words
from proctor.environments import call_failures
from proctor.environments._signatures import Signature, signature_of
from proctor.environments.results import plain, raised, refusal, result_of_value
from proctor.runtime.threads import OwnThread

LEAVE_SECONDS = 5.0

Made = Callable[..., Any]


def make(argument: str, options: Mapping[str, Any]) -> Callable[[Sample], Environment]:
    """Return what makes the environment of a sample.

    Raises:
        BadInput: there is no such object, it has no public method, or does not take these arguments.
    """
    return wrap(registry.load_object(argument, "environment"), name=argument, arguments=options)


def wrap(
    target: object, *, name: str = "", arguments: Mapping[str, object] | None = None
) -> Callable[[Sample], Environment]:
    """Return what makes the environment of a sample from a class, a function or an object.

    Raises:
        BadInput: it has no public method, or does not take these arguments.
    """
    named = target if hasattr(target, "__qualname__") else type(target)
    name, arguments = name or str(getattr(named, "__qualname__", "")), arguments or {}
    if isinstance(target, type):
        _check_arguments(target, name, arguments)
        if not is_environment(target):
            _check_tools(signatures(target), name)
        return partial(_made, target, arguments)
    if isinstance(target, FunctionType):
        _check_arguments(target, name, arguments)
        return partial(_made, target, arguments)
    _check_tools(signatures(type(target)), name)
    for option in arguments:
        raise unknown_option(name, option, [])
    try:
        copy.deepcopy(target)
    except Exception as error:
        raise BadInput(
            "'{name}' cannot be copied for each sample ({type}: {error}). Name its class, or a function that makes one.",
            name=name,
            type=type(error).__name__,
            error=str(error),
        ) from error
    return partial(_copied, name, target)


def is_environment(kind: type) -> bool:
    """True for a class that is an environment by itself: it has `tools`, an async `call(call)` and `state()`."""
    attributes = _attributes(kind)
    return inspect.iscoroutinefunction(attributes.get("call")) and {"state", "tools"} <= attributes.keys()


@runtime_checkable
class _HasState(Protocol):
    state: Callable[[], object]


class PythonEnvironment:
    """Calls the public methods of an object."""

    def __init__(self, make: Made, *, in_thread: bool) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._make = make
        self._thread = OwnThread() if in_thread else None
        self._target: Any = None
        self._signatures: Mapping[str, Signature] = {}
        self._rules = EnvironmentRules()
        self._stuck = False
        self._left = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            if self._thread is not None:
                stack.callback(self._thread.close)
            instance = await self._within_limit("__init__", self._make)
            self._rules = checked(EnvironmentRules, instance, type(instance).__name__)
            self._signatures = signatures(type(instance))
            _check_tools(self._signatures, type(instance).__name__)
            if _is_async(type(instance)):  # where a function makes the object, that is known only now
                self._thread = None
            self._target = await self._entered(instance, stack)
            self._left = stack.pop_all()
        self.tools = tuple(signature.tool for signature in self._signatures.values())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._left.__aexit__(kind, error, trace)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call the method of that name; what it raises is the result, as are arguments that do not fit."""
        signature = self._signatures.get(call.name)
        if signature is None:
            known = ", ".join(self._signatures)
            return refusal(call, f"There is no tool '{call.name}'. The tools are: {known}.")
        if call.raw is not None:
            return refusal(call, "The arguments are no JSON object.")
        try:
            placed, named = signature.read(call.arguments)
        except msgspec.ValidationError as error:
            return refusal(call, f"The arguments do not fit: {in_words(error)}.")
        method = partial(getattr(self._target, call.name), *placed, **named)
        try:
            value = await self._within_limit(call.name, method)
        except EnvironmentFailed as failure:
            if not self._stuck:  # the tool's own word
                raise
            if not await self._answers_again():
                raise call_failures.died(failure, self._rules.blame_death) from failure
            return call_failures.timed_out(call, self._seconds)
        except (ProctorError, EpisodeOver):
            raise
        except Exception as error:  # noqa: BLE001 - the tool's own, which the model is shown
            return raised(call, error)
        except SystemExit as error:
            ended = EnvironmentFailed("The tool '{name}' ended the program.", kind="exited", name=call.name)
            raise call_failures.died(ended, self._rules.blame_death) from error
        return value if isinstance(value, ToolResult) else result_of_value(call, value)

    async def state(self) -> Mapping[str, object]:
        """Return what the object's own `state()` says, or its public attributes."""
        is_own = isinstance(self._target, _HasState)
        state = await self._within_limit("state", self._target.state if is_own else partial(plain, self._target))
        return plain(state) if isinstance(state, Mapping) else {"state": plain(state)}

    async def _within_limit(self, name: str, function: Callable[[], Any]) -> object:
        """Return what a function of the object returns.

        Raises:
            EnvironmentFailed: it takes too long, or an earlier one did: a thread cannot be stopped.
        """
        if self._stuck:
            raise EnvironmentFailed("The environment failed earlier in this sample.")
        seconds = self._seconds
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await self._run(function)
        except TimeoutError:
            self._stuck = limit.expired()
            if not self._stuck:  # it is the tool's own
                raise
            raise call_failures.too_late(name, seconds) from None

    @property
    def _seconds(self) -> float:
        return call_failures.seconds_for_a_call(self._rules.call_seconds)

    async def _answers_again(self) -> bool:
        """True if the object can be used after a call that took too long: its thread is free, or the call was cancelled."""
        with suppress(TimeoutError):
            async with asyncio.timeout(call_failures.HEALTH_SECONDS):
                if self._thread is not None:
                    await self._thread.run(lambda: None)
                self._stuck = False
        return not self._stuck

    async def _run(self, function: Callable[[], Any]) -> Any:
        value = function() if self._thread is None else await self._thread.run(function)
        return await value if inspect.isawaitable(value) else value

    async def _entered(self, made: object, stack: AsyncExitStack) -> object:
        """Enter an object that is a context manager; as with `with`, what that gives is the object."""
        if isinstance(made, AbstractAsyncContextManager):
            return await stack.enter_async_context(made)
        if not isinstance(made, AbstractContextManager):
            return made
        within = await self._within_limit("__enter__", made.__enter__)

        async def leave(*error: Any) -> None:
            async with asyncio.timeout(LEAVE_SECONDS):  # a tool may still hold the thread
                await self._run(partial(made.__exit__, *error))

        stack.push_async_exit(leave)
        return within


def signatures(kind: type) -> Mapping[str, Signature]:
    """Return the tools of a class by name: its public methods, or those that its attribute `tools` names.

    Properties, class methods (often other constructors) and `state` are no tools.

    Raises:
        BadInput: `tools` names something else, or a method cannot be described.
    """
    return _signatures(cast(Hashable, kind))


@lru_cache(maxsize=256)
def _signatures(kind: Hashable) -> Mapping[str, Signature]:
    assert isinstance(kind, type)
    found = {
        name: signature_of(method, name, is_method=not isinstance(inspect.getattr_static(kind, name), staticmethod))
        for name, method in _methods(kind).items()
    }
    chosen = _attributes(kind).get("tools")
    if not (isinstance(chosen, tuple | list) and all(isinstance(name, str) for name in chosen)):
        return found
    for name in chosen:
        if name not in found:
            raise registry.unknown("tool", name, [*found], paths=False)
    return {name: found[name] for name in chosen}


def _attributes(kind: type) -> dict[str, Any]:
    """Return what a class and its bases define, as it is written there."""
    return {name: value for base in reversed(kind.__mro__) for name, value in vars(base).items()}


def _methods(kind: type) -> dict[str, Any]:
    """Return the public methods, in the order in which they are written, those of base classes first."""
    own = [base for base in reversed(kind.__mro__) if base.__module__ not in ("builtins", "abc", "typing")]
    names = dict.fromkeys(name for base in own for name in vars(base) if not name.startswith("_") and name != "state")
    attributes = {name: inspect.getattr_static(kind, name) for name in names}
    return {
        name: getattr(kind, name)
        for name, value in attributes.items()
        if isinstance(value, FunctionType | staticmethod | BuiltinFunctionType)
    }


def _is_async(kind: type) -> bool:
    methods = (*_methods(kind).values(), _attributes(kind).get("state"))
    return any(map(inspect.iscoroutinefunction, methods)) or hasattr(kind, "__aenter__")


def _made(target: Callable[..., Any], options: Mapping[str, object], sample: Sample) -> Environment:
    arguments = copy.deepcopy({**options, **(sample.known.environment or {})})  # the object may keep and change them
    if isinstance(target, FunctionType) and "sample" in inspect.signature(target).parameters:
        arguments["sample"] = sample
    if isinstance(target, type) and is_environment(target):
        environment: Environment = target(**arguments)
        return environment
    in_thread = not (_is_async(target) if isinstance(target, type) else inspect.iscoroutinefunction(target))
    return PythonEnvironment(partial(target, **arguments), in_thread=in_thread)


def _copied(name: str, target: object, sample: Sample) -> Environment:
    if sample.known.environment:
        raise BadInput(
            "The sample '{id}' has arguments for its environment, but '{name}' is an object. Name its class, or a function that makes one.",
            id=sample.id,
            name=name,
        )
    return PythonEnvironment(partial(copy.deepcopy, target), in_thread=not _is_async(type(target)))


def _check_arguments(target: Callable[..., Any], name: str, arguments: Mapping[str, object]) -> None:
    try:
        parameters = inspect.signature(target).parameters
    except ValueError:  # written in C
        return
    known = [
        key
        for key, parameter in parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    for key in arguments:
        if key not in known and not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            raise unknown_option(name, key, known)


def _check_tools(found: Mapping[str, Signature], name: str) -> None:
    if not found:
        raise BadInput("'{name}' has no public method, so it has no tools.", name=name)


PART = EnvironmentPart(make=make)
