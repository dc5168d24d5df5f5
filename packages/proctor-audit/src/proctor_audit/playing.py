"""Watch what the calls of a scripted agent do in the environment of a sample."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec

from proctor.core.errors import EpisodeOver
from proctor.core.sample import Sample, ToolCall, ToolResult
from proctor.core.sentence import clip
from proctor.core.task import ActsAsExpected, Agent, Environment, Session, Task
from proctor.engine.acting import Acting, ActingTogether

MOST_RESULT = 20_000  # characters of a result that are kept


def without_model(task: Task) -> Task:
    """Return the task with a simulated user that does what is expected of it, where it has one that can."""
    user = task.user
    return msgspec.structs.replace(task, user=user.as_expected()) if isinstance(user, ActsAsExpected) else task


class PlayedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call as the environment carried it out.

    Attributes:
        changed: the entries of the state that it changed.
    """

    name: str
    arguments: Mapping[str, Any] = {}
    result: str = ""
    is_error: bool = False
    changed: tuple[str, ...] = ()


class WatchedAgent:
    """Another agent, whose calls are noted with what they change."""

    def __init__(self, agent: Agent, calls: list[PlayedCall]) -> None:
        self.name = agent.name
        self.tools = agent.tools
        self._agent = agent
        self._calls = calls

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        return self._open(sample, environment)

    @asynccontextmanager
    async def _open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        watched = environment
        if isinstance(environment, ActingTogether):
            watched = _WatchedTogether(environment, self._calls)
        elif isinstance(environment, Acting):
            watched = _Watched(environment, self._calls)
        async with self._agent.open(sample, watched) as session:
            yield session


class _Watched:
    def __init__(self, acting: Acting, calls: list[PlayedCall]) -> None:
        self._acting = acting
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._acting, name)

    async def call(self, call: ToolCall) -> ToolResult:
        before = await self._acting.state()
        result = await self._acting.call(call)
        self._note([call], [result], before, await self._acting.state())
        return result

    async def state(self) -> Mapping[str, object]:
        return await self._acting.state()

    def _note(
        self,
        calls: Sequence[ToolCall],
        results: Sequence[ToolResult],
        before: Mapping[str, object],
        after: Mapping[str, object],
    ) -> None:
        changed = tuple(sorted(key for key in {*before, *after} if before.get(key) != after.get(key)))
        self._calls += [
            PlayedCall(
                name=call.name,
                arguments=call.arguments if isinstance(call.arguments, Mapping) else {},
                result=clip(result.content, MOST_RESULT),
                is_error=result.is_error,
                changed=changed,
            )
            for call, result in zip(calls, results, strict=False)
        ]


class _WatchedTogether(_Watched):
    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        assert isinstance(self._acting, ActingTogether)
        before = await self._acting.state()
        try:
            results = await self._acting.call_all(calls)
        except EpisodeOver as over:
            self._note(calls, over.results, before, await self._acting.state())
            raise
        if results is not None:
            self._note(calls, results, before, await self._acting.state())
        return results


def same_call(call: PlayedCall, other: PlayedCall) -> bool:
    """True if two calls have the same name and arguments."""
    return call.name == other.name and call.arguments == other.arguments


def counters(played: Sequence[PlayedCall]) -> frozenset[str]:
    """Return the entries of the state that every successful call changes: they count calls, and say nothing of their effect.

    >>> look, buy = PlayedCall(name="look", changed=("steps",)), PlayedCall(name="buy", changed=("basket", "steps"))
    >>> sorted(counters([look, buy])), sorted(counters([buy]))
    (['steps'], [])
    """
    sound = [frozenset(call.changed) for call in played if not call.is_error]
    return (
        frozenset.intersection(*sound) if len({call.name for call in played if not call.is_error}) > 1 else frozenset()
    )


def writing_tools(played: Sequence[PlayedCall]) -> frozenset[str]:
    """Return the tools of which some call changed the state.

    >>> look, buy = PlayedCall(name="look", changed=("steps",)), PlayedCall(name="buy", changed=("basket", "steps"))
    >>> sorted(writing_tools([look, buy]))
    ['buy']
    """
    counting = counters(played)
    return frozenset(call.name for call in played if not call.is_error and set(call.changed) - counting)
