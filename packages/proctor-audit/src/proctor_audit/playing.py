"""Watch what the calls of a scripted agent do in the environment of a sample."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import EpisodeOver
from proctor.core.sample import Sample, ToolCall, ToolResult
from proctor.core.sentence import clip
from proctor.core.task import ActsAsExpected, Agent, Environment, Session, Task
from proctor.engine.acting import Acting, ActingTogether
from proctor_audit.inspector.tool_kinds import is_shell

COMMANDS = frozenset(("cmd", "code", "command", "query", "script", "sql", "statement"))  # arguments that read or write
MOST_RESULT = 20_000  # characters of a result that are kept
UNKNOWN = 1_000_003  # added to a number that names something
WRITES = 0.2  # of the calls of a tool that writes


def without_model(task: Task) -> Task:
    """Return the task with a simulated user that does what is expected of it, where it has one that can."""
    user = task.user
    return replace(task, user=user.as_expected()) if isinstance(user, ActsAsExpected) else task


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


def names_in(value: object) -> list[str]:
    """Return the texts and whole numbers in arguments, in their order, as texts.

    >>> names_in({"order": "W1", "items": [7], "paid": True})
    ['W1', '7']
    """
    if isinstance(value, Mapping):
        return [name for each in value.values() for name in names_in(each)]
    if isinstance(value, list | tuple):
        return [name for each in value for name in names_in(each)]
    return [str(value)] if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else []


def rename(value: Any, gone: Collection[str]) -> Any:
    """Return arguments in which each of these names is another one, which nothing has.

    >>> rename({"order": "W1", "item": 7}, ["W1", "7"])
    {'order': 'W1_gone', 'item': 1000010}
    """
    if isinstance(value, Mapping):
        return {key: rename(each, gone) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rename(each, gone) for each in value]
    if str(value) not in gone or not names_in(value):
        return value
    return f"{value}_gone" if isinstance(value, str) else value + UNKNOWN


class WatchedAgent:
    """Another agent, whose calls are noted with what they change; `gone` names what the environment does not know."""

    def __init__(self, agent: Agent, calls: list[PlayedCall], gone: Collection[str] = ()) -> None:
        self.name = agent.name
        self.tools = agent.tools
        self._agent = agent
        self._calls = calls
        self._gone = gone

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        watched = environment
        if isinstance(environment, ActingTogether):
            watched = _WatchedTogether(environment, self._calls, self._gone)
        elif isinstance(environment, Acting):
            watched = _Watched(environment, self._calls, self._gone)
        async with self._agent.open(sample, watched) as session:
            yield session


class _Watched:
    def __init__(self, acting: Acting, calls: list[PlayedCall], gone: Collection[str]) -> None:
        self._acting = acting
        self._calls = calls
        self._gone = gone

    def __getattr__(self, name: str) -> Any:
        return getattr(self._acting, name)

    async def call(self, call: ToolCall) -> ToolResult:
        call = self._renamed(call)

        async def act() -> Sequence[ToolResult]:
            return [await self._acting.call(call)]

        results = await self._watch([call], act)
        assert results is not None
        return results[0]

    async def state(self) -> Mapping[str, object]:
        return await self._acting.state()

    def _renamed(self, call: ToolCall) -> ToolCall:
        return replace(call, arguments=rename(call.arguments, self._gone)) if self._gone else call

    async def _watch(
        self, calls: Sequence[ToolCall], act: Callable[[], Awaitable[Sequence[ToolResult] | None]]
    ) -> Sequence[ToolResult] | None:
        """Return the results of calls, which are noted with what they changed, also where they end the conversation."""
        before = await self._acting.state()
        try:
            results = await act()
        except EpisodeOver as over:
            results = over.results or [ToolResult(name=call.name, id=call.id, content="") for call in calls[:1]]
            self._note(calls, results, before, await self._acting.state())
            raise
        self._note(calls, results or (), before, await self._acting.state())
        return results

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
        acting = self._acting
        assert isinstance(acting, ActingTogether)
        calls = [self._renamed(call) for call in calls]
        return await self._watch(calls, lambda: acting.call_all(calls))


def same_call(call: PlayedCall, other: PlayedCall) -> bool:
    """True if two calls have the same name and arguments."""
    return call.name == other.name and call.arguments == other.arguments


def counters(played: Sequence[PlayedCall]) -> frozenset[str]:
    """Return the entries of the state that every successful call changes: they count calls, and say nothing of their effect.

    >>> look, buy = PlayedCall(name="look", changed=("steps",)), PlayedCall(name="buy", changed=("basket", "steps"))
    >>> sorted(counters([look, buy])), sorted(counters([buy]))
    (['steps'], [])
    """
    sound = [call for call in played if not call.is_error]
    if len({call.name for call in sound}) < 2:
        return frozenset()
    return frozenset.intersection(*(frozenset(call.changed) for call in sound))


def mixed_tools(played: Sequence[PlayedCall]) -> frozenset[str]:
    """Return the tools that may also be used to read: of which two different calls never changed anything, or that take commands.

    >>> reads = [PlayedCall(name="cart", arguments={"item": item}) for item in ("tea", "jam")]
    >>> sorted(mixed_tools(reads)), sorted(mixed_tools(reads[:1])), sorted(mixed_tools([PlayedCall(name="run_sql")]))
    (['cart'], [], ['run_sql'])
    """
    counting = counters(played)
    sound = [call for call in played if not call.is_error]
    changing = [call for call in sound if set(call.changed) - counting]
    still: dict[str, set[str]] = {}
    for call in sound:
        if not any(same_call(call, other) for other in changing):
            still.setdefault(call.name, set()).add(repr(sorted(call.arguments.items())))
    takes_commands = {call.name for call in played if is_shell(call.name) or COMMANDS & call.arguments.keys()}
    return frozenset({*takes_commands, *(name for name, calls in still.items() if len(calls) > 1)})


def writing_tools(played: Sequence[PlayedCall]) -> frozenset[str]:
    """Return the tools of which a fifth of the calls or more changed the state: what changes by itself makes no tool a writer.

    >>> look, buy = PlayedCall(name="look", changed=("steps",)), PlayedCall(name="buy", changed=("basket", "steps"))
    >>> sorted(writing_tools([look, buy]))
    ['buy']
    """
    counting = counters(played)
    calls = Counter(call.name for call in played if not call.is_error)
    changing = Counter(call.name for call in played if not call.is_error and set(call.changed) - counting)
    return frozenset(name for name, count in changing.items() if count >= WRITES * calls[name])
