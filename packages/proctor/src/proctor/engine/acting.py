"""Give an agent the environment of a sample: whatever breaks in it ends the sample as a failure of the environment."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import msgspec

from proctor.core.around import around
from proctor.core.declared import EnvironmentInfo, checked, declared
from proctor.core.errors import EnvironmentFailed, EpisodeOver, PartFailed, ProctorError
from proctor.core.sample import Message, Sample, Tool, ToolCall, ToolResult
from proctor.core.task import CallsTogether, Environment, MakeEnvironment, ToolWording
from proctor.core.trajectory import InjectedFault, StateChange
from proctor.engine.blame import from_outside
from proctor.engine.file_limits import FileLimits
from proctor.engine.perturbing import Faults
from proctor.transport.redact import quoted

STATE_BYTES = 1 << 20  # a larger state is kept in part
CHANGES_SHOWN = 200  # of one turn
DEEPEST = 8
SOUND_SECONDS = 60.0  # for a fresh environment to show that it works
LEAVE_SECONDS = 10.0  # for an environment to end; one that does not is left alone

State = Mapping[str, Any]


class Acting:
    """The environment as the agent is given it.

    Attributes:
        ended: what ended the sample inside a call. A framework may turn an exception of a tool into words for its model, so it
            is kept here until the turn is over.
        tools, wording, check: those that the environment declares.
        faults: what was put into calls on purpose so far.
        environment: itself, for a simulated user that is made for it.
        max_steps: replies at most in one turn by the rules of the task.
        file_limits: those of the files in results.
        busy_since: when the call under way began, by `time.perf_counter`; it stays when a time limit ends that call.
    """

    def __init__(self, environment: Environment, sample: Sample, faults: Faults | None = None) -> None:
        about = checked(EnvironmentInfo, environment, type(environment).__name__)
        self.ended: EpisodeOver | ProctorError | None = None
        self.wording: ToolWording | None = about.wording
        self.check: Callable[[Message], None] | None = about.check
        self.max_steps = about.max_steps or sample.known.max_steps
        self.busy_since: float | None = None
        self.environment = environment
        self._faults = faults
        self.file_limits = FileLimits()

    @property
    def faults(self) -> Sequence[InjectedFault]:
        return () if self._faults is None else self._faults.made

    @property
    def tools(self) -> Sequence[Tool]:
        return declared(EnvironmentInfo, self.environment).tools

    async def call(self, call: ToolCall) -> ToolResult:
        """Return the result of a call, with the id of that call.

        Raises:
            EnvironmentFailed: the tool broke.
            EpisodeOver: a rule of the task ends the conversation.
        """
        with _Blamed(self, call.name):
            if self._faults is None:
                return self._checked(await self.environment.call(call), call)
            results = await self._faults.around([call], self._run_each)
            assert results is not None
            return results[0]

    async def state(self) -> State:
        """Return a copy of the state, as JSON values."""
        with _Blamed(self):
            state = self.environment.state()
            if inspect.isawaitable(state):
                state = await state
            return _plain(state)

    async def _run_each(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
        return [self._checked(await self.environment.call(call), call) for call in calls]

    def _checked(self, result: object, call: ToolCall) -> ToolResult:
        return self.file_limits.apply(_checked(result, call))


class ActingTogether(Acting):
    """An acting environment that runs all calls of a message at once."""

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Return the results in the order of the calls; None if the calls may not be run, which ends the turn."""
        with _Blamed(self, calls[0].name):
            return await (self._run_all(calls) if self._faults is None else self._faults.around(calls, self._run_all))

    async def _run_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        assert isinstance(self.environment, CallsTogether)
        results = await self.environment.call_all(calls)
        if results is None:
            return None
        if not isinstance(results, list | tuple) or len(results) != len(calls):
            raise TypeError(f"not one result for each of {len(calls)} calls")
        return [self._checked(result, call) for result, call in zip(results, calls, strict=True)]


class _Blamed:
    """Turns what is raised in the block into a failure of the environment, and keeps it."""

    def __init__(self, acting: Acting | None = None, tool: str = "") -> None:
        self._acting = acting
        self._tool = tool

    def __enter__(self) -> None:
        if self._acting is not None:
            self._acting.busy_since = time.perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._acting is not None and not isinstance(error, asyncio.CancelledError):
            self._acting.busy_since = None
        if error is None or from_outside(error):
            return
        if isinstance(error, EpisodeOver) and self._acting is not None:
            error.results = [self._acting.file_limits.apply(result) for result in error.results]
        ended = error if isinstance(error, EpisodeOver | ProctorError) else self._failure(error)
        if self._acting is not None:
            self._acting.ended = self._acting.ended or ended
        if ended is not error:
            raise ended from error

    def _failure(self, error: BaseException) -> PartFailed:
        values = {"type": type(error).__name__, "error": quoted(error)}
        if self._tool:
            return EnvironmentFailed("The tool '{name}' broke: {type}: {error}", name=self._tool, **values)
        return EnvironmentFailed("The environment broke: {type}: {error}", **values)


@asynccontextmanager
async def entered(
    make: MakeEnvironment | str | Sequence[str], sample: Sample, faults: Faults | None = None
) -> AsyncIterator[Acting | None]:
    """Make the environment of a sample, and keep it entered; an error on leaving it does not fail the sample.

    Raises:
        EnvironmentFailed: it could not be made or entered.
    """
    assert callable(make), "names are resolved before the run"
    async with AsyncExitStack() as stack:
        with _Blamed():
            environment = make(sample)
            if isinstance(environment, AbstractAsyncContextManager):
                await environment.__aenter__()
                stack.push_async_exit(partial(_leave, environment))
            acting: Acting | None = None
            if environment is not None:  # samples of the same task may have none
                together = isinstance(environment, CallsTogether)
                acting = (ActingTogether if together else Acting)(environment, sample, faults)
        yield acting


async def is_sound(make: MakeEnvironment | str | Sequence[str], sample: Sample) -> bool:
    """True if a fresh environment of a sample can be made, entered, and asked for its state."""
    try:
        async with asyncio.timeout(SOUND_SECONDS), entered(make, sample) as acting:
            return acting is not None and await acting.state() is not None
    except Exception:  # noqa: BLE001 - whatever is wrong with it
        return False


async def _leave(environment: AbstractAsyncContextManager[Any], *raised: Any) -> None:
    try:
        async with asyncio.timeout(LEAVE_SECONDS):
            await environment.__aexit__(*raised)
    except BaseException as error:
        if from_outside(error):
            raise


def _checked(result: object, call: ToolCall) -> ToolResult:
    """Return the result with the id of its call; what is none, or more than any model reads, is a fault of the tool."""
    if not isinstance(result, ToolResult) or not isinstance(result.content, str):
        kind = type(result.content if isinstance(result, ToolResult) else result).__name__
        raise TypeError(f"the result is {kind} instead of text in a ToolResult")
    if len(result.content) > around.get().limits.reply_bytes:
        raise EnvironmentFailed(
            "The tool '{name}' returned {size} characters; the limit is {limit}.",
            kind="too_large",
            name=call.name,
            size=len(result.content),
            limit=around.get().limits.reply_bytes,
        )
    return result if result.id == call.id else msgspec.structs.replace(result, id=call.id)


def _plain(state: State) -> State:
    decoded = msgspec.json.decode(msgspec.json.encode(state, enc_hook=str))
    if not isinstance(decoded, dict):
        raise TypeError(f"state() returned {type(state).__name__} instead of a mapping")
    return decoded


def kept(start: State | None, state: State) -> State:
    """Return the part of a state that is stored: all of it, or of a large one the entries that changed since the start."""
    if start is None or len(msgspec.json.encode(state)) <= STATE_BYTES:
        return state
    return {key: value for key, value in state.items() if key not in start or start[key] != value}


def changes(turn: int, before: object, after: object) -> list[StateChange]:
    """Return what differs between two states, by JSON path.

    >>> [(one.path, one.before, one.after) for one in changes(0, {"a": [1, 2]}, {"a": [1, 3], "b": 4})]
    [('$.a[1]', 2, 3), ('$.b', None, 4)]
    """
    differences: list[StateChange] = []
    _compare(turn, "$", before, after, DEEPEST, differences)
    return differences


def _compare(turn: int, path: str, before: object, after: object, depth: int, found: list[StateChange]) -> None:
    if before == after or len(found) >= CHANGES_SHOWN:
        return
    if depth and isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            _compare(turn, f"{path}.{key}", before.get(key), after.get(key), depth - 1, found)
    elif depth and isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            old, new = (of[index] if index < len(of) else None for of in (before, after))
            _compare(turn, f"{path}[{index}]", old, new, depth - 1, found)
    else:
        found.append(StateChange(turn=turn, path=path, before=before, after=after))
