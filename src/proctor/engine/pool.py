"""Run trials in several processes of this machine, for agents that need CPU.

The parent owns the store and the pace: it hands samples to workers and grants every request its slot, so that results,
resuming and limits are those of one process. A worker that dies loses no sample: what it had under way is run again, one
by one in a worker of its own, so that the sample that kills is found.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from proctor.core.errors import BadInput, BudgetSpent, Refused
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.trial import Failure, Outcome, Trial, Verdict
from proctor.engine import wire
from proctor.isolation.limits import Limits
from proctor.isolation.workers import VARIABLE, default_size
from proctor.runtime.concurrent import run_to_the_end, run_together
from proctor.runtime.program import reap
from proctor.transport.client import Client

READY_SECONDS = 120.0
DEATHS = 20  # of workers, without those of suspected samples; more point to the machine rather than to a sample
TRIES_ALONE = 3  # of a sample whose workers are killed: a stray signal does not come that often

Result = tuple[Trial, list[Verdict]]


class Pool:
    """Keeps N worker processes; use it in `async with`, inside the run's client.

    `command` starts one; the number of the socket to serve is appended to it.
    """

    def __init__(
        self, size: int, command: Sequence[str], start: wire.Start, client: Client, warn: Callable[[Sentence], None]
    ) -> None:
        self._command = command
        self._size = size
        self._start = start
        self._client = client
        self._warn = warn
        self._workers: list[Worker] = []
        self._alone = asyncio.Lock()  # one suspect at a time
        self._replacing = asyncio.Lock()  # one worker is replaced at a time
        self._deaths = 0

    async def __aenter__(self) -> Self:
        try:
            await run_together(*(self._add_worker() for _ in range(self._size)))
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
        while not self._workers:
            async with self._replacing:
                pass  # all of them died at once
        worker = min(self._workers, key=lambda one: len(one.waiting))
        result = await worker.run(sample, attempt)
        if result is not None:
            return result
        await self._replace(worker)
        return await self._run_alone(sample, attempt)

    async def _run_alone(self, sample: Sample, attempt: int) -> Result:
        """Run a suspected sample in a worker of its own; more than once where the signal may have come from outside."""
        async with self._alone:
            out_of_memory = _kills_for_memory()
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
            out_of_memory = _kills_for_memory() - out_of_memory
        outcome: Outcome = "agent_failed"
        reason = say("The agent ended its process ({how}).", how=worker.how_it_ended())
        if worker.was_killed and out_of_memory:
            outcome = "environment_failed"
            reason = say(
                "The process was killed ({how}) as the machine was out of memory. Run it again with --retry-failed, and with fewer --workers.",
                how=worker.how_it_ended(),
            )
        failure = Failure(kind="worker_killed", reason=reason)
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
        self._deaths += 1
        if self._deaths > DEATHS:
            raise BadInput(
                "{count} worker processes died ({how}); giving up.", count=self._deaths, how=dead.how_it_ended()
            )

    async def _start_replacement(self) -> "Worker":
        """Start a worker in place of a dead one; what killed that one may kill the next at its start."""
        while True:
            try:
                return await self._start_worker()
            except DiedAtStart as died:
                self._count_death(died.worker)

    async def _add_worker(self) -> None:
        self._workers.append(await self._start_worker())  # at once, so that it is closed if another cannot be started

    async def _start_worker(self) -> "Worker":
        worker = Worker(self._client, self._warn)
        share = max(1, default_size(Limits()) // self._size)  # of what all of the run may have
        await worker.open(self._command, self._start, {VARIABLE: str(share)})
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

    def __init__(self, client: Client, warn: Callable[[Sentence], None]) -> None:
        self._warn = warn
        self.waiting: dict[int, asyncio.Future[Result | None]] = {}
        self._client = client
        self._held: Counter[str] = Counter()  # places at endpoints, to be given back when it dies
        self._waits: dict[int, int] = {}  # how the client numbers the waits of this process
        self._asking: set[asyncio.Task[None]] = set()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count = 0
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self, command: Sequence[str], start: wire.Start, environment: Mapping[str, str]) -> None:
        """Start the process and wait until it has resolved the parts of the run."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, **environment},
            )
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._reading = asyncio.create_task(self._read(reader))
        wire.send(self._writer, start)
        try:
            await asyncio.wait_for(self._ready, READY_SECONDS)
        except BaseException:
            await self.close()
            raise

    async def run(self, sample: Sample, attempt: int) -> Result | None:
        """Run an attempt and return how it ended; None when the process died."""
        assert self._writer is not None
        if self._reading is None or self._reading.done():
            return None
        self._count += 1
        number = self._count
        future: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        try:
            wire.send(self._writer, wire.Do(number=number, sample=sample, attempt=attempt))
            return await future
        finally:
            self.waiting.pop(number, None)

    async def close(self) -> None:
        """Terminate the process and everything it started."""
        process, writer = self._process, self._writer
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await reap(process)
        if self._reading is not None:
            await asyncio.wait([self._reading])
        if writer is not None:
            writer.close()

    @property
    def was_killed(self) -> bool:
        """True if the process ended by a signal that may come from outside, such as the system's when memory runs out."""
        return self._process is not None and self._process.returncode in (-signal.SIGKILL, -signal.SIGTERM)

    def how_it_ended(self) -> str:
        """Return the signal or exit code of the process, in words."""
        code = self._process.returncode if self._process is not None else None
        if code is None:
            return "?"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while (message := await wire.of_worker(reader)) is not None:
                self._take(message)
        finally:
            if self._process is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._process.wait(), 5)
            self._release_all()

    def _take(self, message: wire.FromWorker) -> None:
        match message:
            case wire.Ready():
                self._ready.set_result(None)
            case wire.Done(number=number, trial=trial, verdicts=verdicts):
                self._settle(number, lambda future: future.set_result((trial, list(verdicts))))
            case wire.Stuck(sentence=sentence, number=None):
                self._ready.set_exception(BadInput(sentence))
            case wire.Stuck(sentence=sentence, number=int(number), is_refused=is_refused):
                error = Refused(sentence) if is_refused else BadInput(sentence)
                self._settle(number, lambda future: future.set_exception(error))
            case wire.Ask():
                task = asyncio.create_task(self._grant(message))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
            case wire.GiveBack():
                self._give_back(message)
            case wire.NeverLeft():
                self._client.allowance.give_back()
            case wire.Waits(number=number, wait=None):
                self._client.end_wait(self._waits.pop(number, 0))
            case wire.Waits(number=number, wait=wait) if wait is not None:
                self._waits[number] = self._client.begin_wait(wait)
            case wire.Warned(sentence=sentence):
                self._warn(sentence)
            case wire.Told(origin=origin, pause=pause, tokens=tokens):
                endpoint = self._client.endpoint_at(origin)
                if pause:
                    endpoint.pause(pause)
                if tokens:
                    endpoint.spent(tokens)

    def _settle(self, number: int, how: Callable[["asyncio.Future[Result | None]"], None]) -> None:
        future = self.waiting.get(number)
        if future is not None and not future.done():
            how(future)

    async def _grant(self, asked: wire.Ask) -> None:
        endpoint = self._client.endpoint_at(asked.origin, asked.bounds)
        if endpoint.in_flight < endpoint.room:
            endpoint.in_flight += 1
        else:
            await endpoint.enter()
        if self._reading is None or self._reading.done() or self._writer is None:
            endpoint.leave()
            return
        try:
            self._client.allowance.take()
        except BudgetSpent as error:
            endpoint.leave()
            wire.send(self._writer, wire.Granted(number=asked.number, spent=error.sentence))
            return
        self._held[asked.origin] += 1
        wire.send(self._writer, wire.Granted(number=asked.number))

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
        for task in self._asking:
            task.cancel()
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


def _kills_for_memory() -> int:
    """Return how many processes the system has killed for lack of memory; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def import_paths() -> tuple[str, ...]:
    """Return the paths from which this process imports modules, for its workers."""
    return tuple(str(Path(path or ".").resolve()) for path in sys.path)
