"""Let a task of Inspect be played by Inspect: the agent of the run answers what its solver, tools and scorers ask."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol, Self

import msgspec
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import AgentFailed, EnvironmentFailed
from proctor.core.sample import JsonObject, Sample, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import NOTHING, Step, Stop
from proctor.models import cache, ledger
from proctor.models.named import OpenedModels
from proctor.transport.redact import redact
from proctor_adapters.bridge.agent_clock import AgentClock, ReportedLimit
from proctor_adapters.bridge.asked import GuestAsk, output_of
from proctor_adapters.bridge.worker import HUNG, Guest
from proctor_adapters.imports._messages import message, steps
from proctor_adapters.imports.inspect import CANCELLED, STOPS, InspectSample, completion_of, first_reply

STATE = "inspect"  # the key of the trajectory's state under which a sample's scores are
TIME_LIMITS = ("time", "working")
OWN_LIMITS = ("message", "token", "turn", "context", *TIME_LIMITS)


class GuestModels(Protocol):
    """Who answers what another program asks."""

    async def answer(self, ask: GuestAsk, sample: Sample) -> Step: ...

    def price_name(self, kind: str, name: str) -> str: ...

    async def close(self) -> None: ...


class GuestHost(OpenedModels):
    """The agent of a run, as Inspect asks it."""

    def __init__(self, agent: Agent, models: GuestModels, guest: Guest) -> None:
        super().__init__([agent])
        about = declared(AgentInfo, agent)
        self.name = agent.name
        self.tools = agent.tools
        self.concurrency = about.concurrency
        self.model = about.model
        self.reports_cost = about.reports_cost
        self.price_source = about.price_source
        self._models = models
        self._guest = guest

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        return nullcontext(GuestSession(sample, self._models, self._guest))

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            await self._guest.start()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._guest.close()
        await self._models.close()
        await super().__aexit__(*raised)


class GuestSession:
    """One attempt at a sample.

    Attributes:
        state: the scores of Inspect's scorers, and what it says of its end.
        received: what was said in an attempt that could not be scored.
    """

    def __init__(self, sample: Sample, models: GuestModels, guest: Guest) -> None:
        self.state: JsonObject | None = None
        self.received: Sequence[Step] = ()
        self._sample = sample
        self._models = models
        self._guest = guest
        self._said: dict[str, Step] = {}
        self._clock = AgentClock()

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Play the sample, and return what was said in it."""
        try:
            raw = await self._guest.play(self._sample.id, cache.attempt(), self)
        except BaseException as error:
            self.received = [*self._said.values()]
            limit = around.get().deadline
            if isinstance(error, asyncio.CancelledError) and limit is not None and limit.expired():
                raise self._clock.out_of_time(limit.seconds) from error
            if isinstance(error, EnvironmentFailed) and error.kind == HUNG and self._clock.is_agents_turn:
                raise self._clock.out_of_time(self._guest.seconds) from error
            raise
        try:
            sample = msgspec.convert(raw, InspectSample)
        except msgspec.ValidationError as error:
            self.received = [*self._said.values()]
            raise EnvironmentFailed("The other program wrote a line that nobody expects: {error}", kind="worker_output", error=error) from None  # fmt: skip
        played = self._steps(sample)
        self._count_others()
        seen = {"scores": raw.get("scores") or {}, "seconds": raw.get("total_time"), "cpu": raw.get("cpu")}
        self.state = {STATE: {**seen, **({"limit": sample.limit.type} if sample.limit is not None else {})}}
        self.received = played
        _raise_failure(sample, self._clock)
        if sample.limit is not None and played:
            played[-1] = replace(played[-1], stop=_stop_at(sample.limit.type, played))
        return played

    def begin(self) -> None:
        """Begin the time of the sample."""
        self._clock.begin()

    def end(self) -> None:
        """End the time of the agent, as scoring begins."""
        self._clock.end()

    async def answer(self, ask: GuestAsk, waits: Callable[[bool], None]) -> JsonObject:
        """Return the reply to a request, and report when it waits for an endpoint and when it goes on."""
        started, clock = time.time(), time.perf_counter()
        is_agent = ask.kind == "agent"
        with self._clock.asking(is_agent=is_agent) as clock_waits:

            def report(begins: bool, lost: float) -> None:
                clock_waits(begins, lost)
                waits(begins)

            limit = None if (usual := around.get().deadline) is None else ReportedLimit(usual, report)
            around.set(replace(around.get(), deadline=limit))
            step = await self._models.answer(ask, self._sample)
        seconds = time.perf_counter() - clock
        step = replace(step, started=step.started or started, seconds=step.seconds or seconds)
        if is_agent:
            id = f"proctor-{len(self._said)}"
            self._said[id] = step
            if step.message.calls:
                self._clock.run_calls()
        else:
            id = ""
            ledger.spend(step.usage, model=self._models.price_name(ask.kind, ask.model))
        worked = seconds if limit is None else max(0.0, seconds - limit.waited)
        return output_of(step, id or f"{ask.kind}-{ask.model}", worked)

    def _steps(self, sample: InspectSample) -> list[Step]:
        """Return the messages since the question as steps, with what each reply took and used."""
        raw = sample.messages or []
        messages = [message(each) for each in raw]
        first = first_reply(sample, 0)
        played = steps(messages[first:]) or completion_of(sample)
        by_number = {number: str(each.get("id")) for number, each in enumerate(raw[first:])}
        return [self._measured(step, by_number.get(number, "")) for number, step in enumerate(played)]

    def _measured(self, step: Step, id: str) -> Step:
        said = self._said.pop(id, None)
        if said is None:
            return step
        return replace(
            step,
            started=said.started,
            seconds=said.seconds,
            first_token_seconds=said.first_token_seconds,
            usage=said.usage,
            stop=said.stop,
        )

    def _count_others(self) -> None:
        """Count the replies that are in no message at the end, such as those of an agent within the agent."""
        for step in self._said.values():
            ledger.spend(step.usage or NOTHING, model=self._models.price_name("agent", ""))
        self._said.clear()


def _stop_at(limit: str, made: Sequence[Step]) -> Stop:
    """Return why a sample ended that was scored at a limit; scored is scored, also without a last word of the agent."""
    stop: Stop = STOPS.get(limit, "step_limit") if limit in OWN_LIMITS else "task_limit"
    return "task_limit" if stop == "step_limit" and not any(step.message.text for step in made) else stop


def _raise_failure(sample: InspectSample, clock: AgentClock) -> None:
    """Raise why a sample was not scored, if it was not.

    Raises:
        EnvironmentFailed: an error or a limit, of which nobody knows whose it is, or it was cancelled.
        AgentFailed: a limit that bounds the agent ended it before it was scored; one of time, only if the agent took most of it.
    """
    if sample.error is not None:
        text = redact(sample.error.message)
        kind = "cancelled" if text.startswith(CANCELLED) else text.partition("(")[0]
        raise EnvironmentFailed("Inspect: {error}", kind=kind if kind.isidentifier() else "inspect", error=text[:2_000])
    if sample.limit is None or (sample.scores and sample.limit.type != "operator"):
        return
    kind = sample.limit.type
    is_agents = clock.took_most(with_waits=kind == "time") if kind in TIME_LIMITS else kind in OWN_LIMITS
    raise (AgentFailed if is_agents else EnvironmentFailed)(
        "It ended at the limit '{limit}', and was not scored.",
        kind="cancelled" if sample.limit.type == "operator" else f"{sample.limit.type}_limit",
        limit=sample.limit.type,
    )
