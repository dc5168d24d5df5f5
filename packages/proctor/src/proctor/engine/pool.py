"""Run trials in several processes, of this machine or of a cluster, for agents that need CPU.

The parent owns the store and the pace: it hands samples to workers and grants every request its slot, so that results,
resuming and limits are those of one process. A worker that dies loses no sample: what it had under way is run again, one
by one in a worker of its own, so that the sample that kills is found. One that is lost with its machine blames no sample.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from msgspec.structs import replace

from proctor.core.errors import BadInput, BudgetSpent, EndpointRefused
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.trial import Outcome, Trial, TrialFailure, Verdict
from proctor.engine import wire
from proctor.isolation.limits import WorkerLimits
from proctor.isolation.workers import VARIABLE, default_size
from proctor.models import cache
from proctor.runtime.concurrent import run_to_the_end, run_together
from proctor.transport.client import Client
from proctor.transport.pace import Endpoint

READY_SECONDS = 120.0
DEATHS = 20  # of workers, without those of suspected samples; more point to the machine rather than to a sample
TRIES_ALONE = 3  # of a sample whose workers are killed: a stray signal does not come that often

CLOCK_SECONDS = 5.0  # by which the clocks of two machines may differ unsaid

Result = tuple[Trial, list[Verdict]]


class Hired(Protocol):
    """A worker process, wherever it runs, and the connection to it.

    Attributes:
        is_lost: its machine is gone, or the way to it.
        was_killed: it ended by a signal that may come from outside, or is lost.
        was_out_of_memory: its machine killed processes for lack of memory.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def is_lost(self) -> bool: ...

    @property
    def was_killed(self) -> bool: ...

    @property
    def was_out_of_memory(self) -> bool: ...

    def how_it_ended(self) -> str: ...

    async def end(self) -> None:
        """Wait a moment until it is known how the worker ended whose connection was closed."""

    async def close(self) -> None:
        """Kill the worker and everything it started."""


class Crew(Protocol):
    """Where workers come from.

    Attributes:
        size: how many work at once.
        paths: from where they import modules.
        is_here: True if they are on this machine, and share its folders.
    """

    size: int
    paths: tuple[str, ...]
    is_here: bool

    async def hire(self, variables: Mapping[str, str], *, is_spare: bool) -> Hired:
        """Start a worker with these variables in its environment; a spare one takes the place of a dead one, or of none."""


class CrewPool:
    """Keeps the workers of a crew; use it in `async with`, inside the run's client."""

    def __init__(self, crew: Crew, start: wire.Start, client: Client, warn: Callable[[Sentence], None]) -> None:
        self._crew = crew
        self._start = start
        self._client = client
        self._warn = warn
        self._workers: list[Worker] = []
        self._alone = asyncio.Lock()  # one suspect at a time
        self._replacing = asyncio.Lock()  # one worker is replaced at a time
        self._deaths = 0

    async def __aenter__(self) -> Self:
        try:
            await run_together(*(self._add_worker() for _ in range(self._crew.size)))
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def run(self, sample: Sample, attempt: int) -> Result:
        """Run one attempt at one sample in the least busy worker."""
        for _ in range(TRIES_ALONE):
            if not self._workers:  # all of them died at once
                async with self._replacing:
                    if not self._workers:  # who was to replace them failed
                        self._workers.append(await self._start_replacement())
            worker = min(self._workers, key=lambda one: len(one.waiting))
            result = await worker.run(sample, attempt)
            if result is not None:
                return result
            await self._replace(worker)
            if not worker.is_lost:
                break
        return await self._run_alone(sample, attempt)

    async def _run_alone(self, sample: Sample, attempt: int) -> Result:
        """Run a suspected sample in a worker of its own; more than once where the signal may have come from outside."""
        async with self._alone:
            for _ in range(TRIES_ALONE):
                worker = await self._start_replacement()
                try:
                    result = await worker.run(sample, attempt)
                finally:
                    await worker.close()
                if result is not None:
                    return result
                if not worker.was_killed:
                    break
        outcome: Outcome = "agent_failed"
        reason = say("The agent ended its process ({how}).", how=worker.how_it_ended())
        if worker.is_lost:
            outcome = "environment_failed"
            reason = say("The machine of the worker was lost again and again. Run it again with --retry-failed.")
        elif worker.was_killed and worker.was_out_of_memory:
            outcome = "environment_failed"
            reason = say(
                "The process was killed ({how}) as the machine was out of memory. Run it again with --retry-failed, and with fewer --workers.",
                how=worker.how_it_ended(),
            )
        failure = TrialFailure(kind="worker_killed", reason=reason)
        trial = Trial(run_id=self._start.run_id, sample_id=sample.id, attempt=attempt, outcome=outcome, failure=failure)
        return trial, []

    async def _replace(self, dead: "Worker") -> None:
        async with self._replacing:
            if dead not in self._workers:
                return  # another of its samples has replaced it
            self._workers.remove(dead)
            await dead.close()
            self._count_death(dead)
            self._workers.append(await self._start_replacement())

    def _count_death(self, dead: "Worker") -> None:
        if dead.is_lost and dead.has_finished:
            return  # machines come and go
        self._deaths += 1
        if self._deaths > DEATHS:
            raise BadInput(
                "{count} worker processes died ({how}); giving up.", count=self._deaths, how=dead.how_it_ended()
            )

    async def _start_replacement(self) -> "Worker":
        """Start a worker in place of a dead one; what killed that one may kill the next at its start."""
        while True:
            try:
                return await self._start_worker(is_spare=True)
            except DiedAtStart as died:
                self._count_death(died.worker)

    async def _add_worker(self) -> None:
        self._workers.append(
            await self._start_worker(is_spare=False)
        )  # at once, so that it is closed if another cannot be started

    async def _start_worker(self, *, is_spare: bool) -> "Worker":
        share = max(1, default_size(WorkerLimits()) // self._crew.size)  # of what all of the run may have
        worker = Worker(self._client, self._warn, await self._crew.hire({VARIABLE: str(share)}, is_spare=is_spare))
        await worker.open(self._start)
        return worker

    async def _close(self) -> None:
        await run_to_the_end(*(worker.close() for worker in self._workers))


class DiedAtStart(BadInput):
    """A worker process ended before it was ready."""

    def __init__(self, worker: "Worker") -> None:
        super().__init__("A worker process ended at its start ({how}).", how=worker.how_it_ended())
        self.worker = worker


class Worker:
    """The parent's side of one worker process."""

    def __init__(self, client: Client, warn: Callable[[Sentence], None], hired: Hired) -> None:
        self._warn = warn
        self._hired = hired
        self.waiting: dict[int, asyncio.Future[Result | None]] = {}
        self.has_finished = False
        self._client = client
        self._outbox = wire.Outbox(hired.writer)
        self._cache = cache.offered()
        self._held: Counter[str] = Counter()  # places at endpoints, to be given back when it dies
        self._waits: dict[int, int] = {}  # how the client numbers the waits of this process
        self._queued: set[asyncio.Future[None]] = set()  # for places
        self._is_released = False
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count = 0
        self._reading = asyncio.create_task(self._read())

    async def open(self, start: wire.Start) -> None:
        """Wait until the process has resolved the parts of the run."""
        self._outbox.send(start)
        try:
            await asyncio.wait_for(self._ready, READY_SECONDS)
        except BaseException:
            await self.close()
            raise

    async def run(self, sample: Sample, attempt: int) -> Result | None:
        """Run an attempt and return how it ended; None when the process died."""
        if self._reading.done():
            return None
        self._count += 1
        number = self._count
        future: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        try:
            self._outbox.send(wire.Do(number=number, sample=sample, attempt=attempt))
            return await future
        finally:
            self.waiting.pop(number, None)

    async def close(self) -> None:
        """Terminate the process and everything it started."""
        await self._hired.close()
        await asyncio.wait([self._reading])
        self._hired.writer.close()

    @property
    def is_lost(self) -> bool:
        """True if the machine of the process is gone, or the way to it."""
        return self._hired.is_lost

    @property
    def was_killed(self) -> bool:
        """True if the process ended by a signal that may come from outside, such as the system's when memory runs out."""
        return self._hired.was_killed

    @property
    def was_out_of_memory(self) -> bool:
        """True if the machine killed processes for lack of memory."""
        return self._hired.was_out_of_memory

    def how_it_ended(self) -> str:
        """Return the signal or exit code of the process, in words."""
        return self._hired.how_it_ended()

    async def _read(self) -> None:
        try:
            async for message in wire.of_worker(self._hired.reader):
                self._take(message)
        finally:
            await self._hired.end()
            self._release_all()

    def _take(self, message: wire.FromWorker) -> None:
        match message:
            case wire.WorkerReady(clock=clock):
                self._compare_clocks(clock)
                self._ready.set_result(None)
            case wire.Done(number=number, trial=trial, verdicts=verdicts):
                self.has_finished = True
                self._settle(number, lambda future: future.set_result((trial, list(verdicts))))
            case wire.Stuck(sentence=sentence, number=None):
                self._ready.set_exception(BadInput(sentence))
            case wire.Stuck(sentence=sentence, number=int(number), is_refused=is_refused):
                error = EndpointRefused(sentence) if is_refused else BadInput(sentence)
                self._settle(number, lambda future: future.set_exception(error))
            case wire.Ask(origin=origin, bounds=bounds):
                endpoint = self._client.endpoint_at(origin, bounds)
                if endpoint.in_flight < endpoint.room:
                    endpoint.in_flight += 1
                    self._grant(message, endpoint)
                else:
                    slot = endpoint.queue()
                    self._queued.add(slot)
                    slot.add_done_callback(partial(self._grant_queued, message, endpoint))
            case wire.GiveBack():
                self._give_back(message)
            case wire.NeverLeft():
                self._client.allowance.give_back()
            case wire.Waits(number=number, wait=None):
                self._client.end_wait(self._waits.pop(number, 0))
            case wire.Waits(number=number, wait=wait) if wait is not None:
                left = replace(wait, until=time.monotonic() + wait.until)
                self._waits[number] = self._client.begin_wait(left)
            case wire.Find(number=number, key=key):
                data = self._cache.read(key) if self._cache is not None else None
                is_small = data is not None and len(data) <= wire.MOST_KEPT_BYTES
                self._outbox.send(wire.FoundReply(number=number, data=data if is_small else None))
            case wire.Keep(key=key, data=data) if self._cache is not None:
                self._cache.write(key, data)
            case wire.Warned(sentence=sentence):
                self._warn(sentence)
            case wire.Told(origin=origin, pause=pause, tokens=tokens):
                endpoint = self._client.endpoint_at(origin)
                if pause:
                    endpoint.pause(pause)
                if tokens:
                    endpoint.spent(tokens)

    def _compare_clocks(self, clock: float) -> None:
        if (seconds := clock - time.time()) and abs(seconds) > CLOCK_SECONDS:
            self._warn(
                say(
                    "The clock of a worker's machine is {seconds:+.0f} s off that of this one; the times in its trajectories are its own.",
                    seconds=seconds,
                )
            )

    def _settle(self, number: int, how: Callable[["asyncio.Future[Result | None]"], None]) -> None:
        future = self.waiting.get(number)
        if future is not None and not future.done():
            how(future)

    def _grant_queued(self, asked: wire.Ask, endpoint: Endpoint, slot: asyncio.Future[None]) -> None:
        self._queued.discard(slot)
        if slot.cancelled():
            return
        if self._is_released:
            endpoint.leave()
        else:
            self._grant(asked, endpoint)

    def _grant(self, asked: wire.Ask, endpoint: Endpoint) -> None:
        """Grant a request the slot that was taken for it, unless the budget is spent."""
        try:
            self._client.allowance.take()
        except BudgetSpent as error:
            endpoint.leave()
            self._outbox.send(wire.Granted(number=asked.number, spent=error.sentence))
            return
        self._held[asked.origin] += 1
        self._outbox.send(wire.Granted(number=asked.number))

    def _give_back(self, message: wire.GiveBack) -> None:
        self._held[message.origin] -= 1
        endpoint = self._client.endpoint_at(message.origin)
        if message.seconds is not None:
            endpoint.answered(message.seconds)
        elif message.refused:
            endpoint.refused(message.asked)
        else:
            endpoint.leave()

    def _release_all(self) -> None:
        self._is_released = True
        for slot in self._queued:
            slot.cancel()
        for origin, count in self._held.items():
            for _ in range(count):
                self._client.endpoint_at(origin).leave()
        self._held.clear()
        for number in self._waits.values():
            self._client.end_wait(number)
        self._waits.clear()
        for future in self.waiting.values():
            if not future.done():
                future.set_result(None)
        if not self._ready.done():
            self._ready.set_exception(DiedAtStart(self))
