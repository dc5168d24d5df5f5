"""Let a task of Inspect be played by Inspect: the agent of the run answers what its solver, tools and scorers ask."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import AgentFailed, EnvironmentFailed
from proctor.core.sample import Sample, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import NOTHING, Step, Stop
from proctor.models import cache, ledger
from proctor.models.named import OpenedModels
from proctor.transport.redact import redact
from proctor_adapters.bridge.asked import GuestAsk, output_of
from proctor_adapters.bridge.worker import Guest
from proctor_adapters.imports._messages import message, steps
from proctor_adapters.imports.inspect import STOPS, InspectSample, completion_of, first_reply

STATE = "inspect"  # the key of the trajectory's state under which a sample's scores are
OWN_LIMITS = ("message", "token", "turn", "time", "working", "context")


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

    async def __aexit__(self, *raised: Any) -> None:
        await self._guest.close()
        await self._models.close()
        await super().__aexit__(*raised)


class GuestSession:
    """One attempt at a sample.

    Attributes:
        state: the scores of Inspect's scorers, and what it says of its end.
    """

    def __init__(self, sample: Sample, models: GuestModels, guest: Guest) -> None:
        self.state: Mapping[str, Any] | None = None
        self._sample = sample
        self._models = models
        self._guest = guest
        self._said: dict[str, Step] = {}

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Play the sample, and return what was said in it."""
        try:
            raw = await self._guest.play(self._sample.id, cache.attempt(), self._answer)
        except BaseException:
            self._count_others()
            raise
        sample = msgspec.convert(raw, InspectSample)
        made = self._steps(sample)
        self._count_others()
        seen = {"scores": raw.get("scores") or {}, "seconds": raw.get("total_time"), "cpu": raw.get("cpu")}
        self.state = {STATE: {**seen, **({"limit": sample.limit.type} if sample.limit is not None else {})}}
        _raise_failure(sample)
        if sample.limit is not None and made:
            stop: Stop = STOPS.get(sample.limit.type, "step_limit")
            made[-1] = replace(made[-1], stop=stop if sample.limit.type in OWN_LIMITS else "task_limit")
        return made

    async def _answer(self, ask: GuestAsk) -> Mapping[str, Any]:
        started, clock = time.time(), time.perf_counter()
        step = await self._models.answer(ask, self._sample)
        step = replace(step, started=step.started or started, seconds=step.seconds or time.perf_counter() - clock)
        if ask.kind == "agent":
            id = f"proctor-{len(self._said)}"
            self._said[id] = step
        else:
            id = ""
            ledger.spend(step.usage, model=self._models.price_name(ask.kind, ask.model))
        return output_of(step, id or f"{ask.kind}-{ask.model}")

    def _steps(self, sample: InspectSample) -> list[Step]:
        """Return the messages since the question as steps, with what each reply took and used."""
        raw = sample.messages or []
        messages = [message(one) for one in raw]
        first = first_reply(sample, 0)
        found = steps(messages[first:]) or completion_of(sample)
        by_number = {number: str(one.get("id")) for number, one in enumerate(raw[first:])}
        return [self._measured(step, by_number.get(number, "")) for number, step in enumerate(found)]

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


def _raise_failure(sample: InspectSample) -> None:
    """Raise why a sample was not scored, if it was not.

    Raises:
        EnvironmentFailed: an error, of which nobody knows whose it is.
        AgentFailed: a limit of the task's own ended it before it was scored.
    """
    if sample.error is not None:
        text = redact(sample.error.message)
        kind = text.partition("(")[0]
        raise EnvironmentFailed("Inspect: {error}", kind=kind if kind.isidentifier() else "inspect", error=text[:2_000])
    if sample.limit is not None and not sample.scores:
        raise AgentFailed(
            "It ended at the limit '{limit}', and was not scored.",
            kind=f"{sample.limit.type}_limit",
            limit=sample.limit.type,
        )
