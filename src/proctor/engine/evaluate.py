"""Run all trials of a run that are not finished: N long-lived workers pull from one lazy iterator."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import Price, RunRecord, RunState
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Agent, Store, Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import INFRASTRUCTURE, Failure, Trial, Verdict
from proctor.engine.budget import Purse
from proctor.engine.garbage import collected_seldom
from proctor.engine.progress import Progress
from proctor.engine.scoring import BoundScorer, judge
from proctor.engine.trial import Work, run_trial
from proctor.engine.watchdog import watched_loop
from proctor.models import cache
from proctor.transport.client import Client

GRACE_SECONDS = 5.0
CHUNK = 256
NO_WAY = ("connect", "dns", "tls")  # kinds of failure of the first sample that would meet all others
CANNOT_GO_ON = (*NO_WAY, "timeout", "not_http", "not_json")  # the same where the endpoint has never been of use


Play = Callable[[Sample, int], Awaitable[tuple[Trial, list[Verdict]]]]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its parts resolved.

    `samples` reads the chosen samples, as often as it is called. `at_once` trials are under way in so many
    `processes`; of requests `concurrency` are in flight at each endpoint, or as many as its pace allows when None.
    With `cache` the agent's model takes replies from the reply cache; judges do so anyway.
    """

    record: RunRecord
    task: Task
    agent: Agent
    scorers: Sequence[BoundScorer]
    samples: Callable[[], Iterable[Sample]]
    at_once: int
    processes: int = 1
    concurrency: int | None = None
    retry_failed: bool = False
    cache: bool = False
    price: Price | None = None


async def evaluate(job: Job, store: Store, *, progress: Progress, stop: asyncio.Event) -> RunRecord:
    """Run what is not finished and give back the record as it ended.

    When `stop` is set, no new trial starts and those in flight get a moment to finish. The first trial runs
    alone: it is the probe of key, model and agent. When the budget is spent, the rest is recorded as skipped.

    Raises:
        BadInput: found before or by the first call; a run without any trial is removed again.
    """
    started = time.monotonic()
    await store.begin(job.record)
    record = job.record
    state: RunState = "stopped"
    note: Sentence | None = None
    try:
        record = await _planned(job, store)
        finished = store.finished(record.id, failed_too=not job.retry_failed)
        purse = Purse(record.spec.budget, spent=store.usage(record.id), seconds=record.seconds)
        progress.begin(record.planned, len(finished), purse)
        todo = _todo(job, finished)
        with watched_loop(progress.warn), collected_seldom(), cache.opened(agents=job.cache, warn=progress.warn):
            await _run(job, store, progress, stop, todo)
        note = purse.reached() if progress.done < progress.total and not stop.is_set() else None
        if note is not None:
            await _skip(record.id, todo, store)
        state, note = _state(record, store, progress, note)
    finally:
        seconds = record.seconds + time.monotonic() - started
        warnings = (*record.warnings, *(one for one in progress.warnings if one not in record.warnings))
        record = replace(record, state=state, seconds=seconds, note=note, warnings=warnings)
        await store.end(record)
        if state == "stopped" and not progress.done and not stop.is_set():
            store.delete(record.id)
    return record


async def record_replies(job: Job, replies: Iterable[tuple[str, Trajectory | Failure]], store: Store) -> RunRecord:
    """Score replies that were recorded elsewhere; no agent is called.

    Raises:
        BadInput: a reply for a sample that the task does not have, or a second one for the same sample.
    """
    started = time.monotonic()
    await store.begin(job.record)
    try:
        record = await _planned(job, store)
        with cache.opened(agents=False):
            await _accept(replace(job, record=record), replies, store)
    except BaseException:
        await store.end(job.record)
        store.delete(job.record.id)  # nothing was paid for; half a score would only mislead
        raise
    record = replace(record, state="finished", seconds=time.monotonic() - started)
    await store.end(record)
    return record


async def _accept(job: Job, replies: Iterable[tuple[str, Trajectory | Failure]], store: Store) -> None:
    sample_by_id = {sample.id: sample for sample in job.samples()}
    chunk: list[tuple[Trial, list[Verdict], Sample]] = []
    seen: dict[str, int] = {}
    for sample_id, reply in replies:
        sample = sample_by_id.get(sample_id)
        if sample is None:
            raise BadInput(
                "There is a reply for '{id}', but no such sample in {task}.", id=sample_id, task=job.task.name
            )
        attempt = seen[sample_id] = seen.get(sample_id, -1) + 1
        if attempt >= job.record.spec.attempts:
            raise BadInput("There is more than one reply for the sample '{id}'.", id=sample_id)
        cache.begin(attempt)
        trial = _recorded(job.record.id, sample_id, attempt, reply)
        chunk.append((trial, await judge(trial, sample, job.scorers) if trial.outcome == "scored" else [], sample))
        if len(chunk) >= CHUNK:
            await _add_all(store, chunk)
            chunk = []
    await _add_all(store, chunk)


async def _planned(job: Job, store: Store) -> RunRecord:
    if job.record.planned:
        return job.record
    samples = await store.plan(job.record.id, job.samples())
    return replace(job.record, planned=samples * job.record.spec.attempts)


def _state(
    record: RunRecord, store: Store, progress: Progress, spent: Sentence | None
) -> tuple[RunState, Sentence | None]:
    if spent is not None:
        return "inconclusive", spent
    if progress.done < progress.total:
        return "stopped", None
    failed = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in INFRASTRUCTURE)
    share, allowed = failed / record.planned, record.spec.max_failed
    if share > allowed:
        return "inconclusive", say(
            "{share} of the trials failed for reasons outside the agent; more than {allowed} makes a run inconclusive.",
            share=f"{share:.1%}",
            allowed=f"{allowed:.1%}",
        )
    return "finished", None


async def _skip(run_id: str, todo: Iterable[tuple[Sample, int]], store: Store) -> None:
    """Record what the budget left out, so that every planned trial has an outcome."""
    chunk: list[Trial] = []
    for sample, attempt in todo:
        chunk.append(Trial(run_id=run_id, sample_id=sample.id, attempt=attempt, outcome="skipped"))
        if len(chunk) >= CHUNK:
            await asyncio.gather(*(store.add(trial) for trial in chunk))
            chunk = []
    await asyncio.gather(*(store.add(trial) for trial in chunk))


def _todo(job: Job, finished: set[tuple[str, int]]) -> Iterator[tuple[Sample, int]]:
    for sample in job.samples():
        for attempt in range(job.record.spec.attempts):
            if (sample.id, attempt) not in finished:
                yield sample, attempt


async def _run(
    job: Job, store: Store, progress: Progress, stop: asyncio.Event, todo: Iterator[tuple[Sample, int]]
) -> None:
    work = Work(
        run_id=job.record.id,
        task=job.task,
        agent=job.agent,
        scorers=job.scorers,
        limits=job.record.spec.limits,
        price=job.price,
    )

    async def one(sample: Sample, attempt: int) -> Trial:
        progress.in_flight += 1
        try:
            trial, verdicts = await play(sample, attempt)
        finally:
            progress.in_flight -= 1
        await store.add(trial, verdicts, sample)  # before the next: a kill repeats no more calls than were in flight
        progress.add(trial, verdicts)
        return trial

    async def worker() -> None:
        for sample, attempt in todo:
            await one(sample, attempt)
            if stop.is_set() or progress.purse.reached() is not None:
                return

    async def probe() -> None:
        for sample, attempt in todo:
            _check_probe(await one(sample, attempt), fatal)
            return

    fatal = NO_WAY if progress.done else CANNOT_GO_ON
    async with Client(concurrency=job.concurrency) as client, _player(job, work, client) as play:
        for count, work_of_each in ((1, probe), (job.at_once, worker)):
            if progress.purse.reached() is None and not stop.is_set():
                await _at_once(count, work_of_each, stop)


async def _at_once(count: int, worker: Callable[[], "asyncio._CoroutineLike[None]"], stop: asyncio.Event) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(worker()) for _ in range(count)]
            watcher = group.create_task(_cancel_after_stop(stop, workers))
            await asyncio.wait(workers)
            watcher.cancel()
    except* BadInput as several:
        raise several.exceptions[0] from None


async def _cancel_after_stop(stop: asyncio.Event, workers: Sequence["asyncio.Task[None]"]) -> None:
    await stop.wait()
    await asyncio.sleep(GRACE_SECONDS)
    for worker in workers:
        worker.cancel()


@asynccontextmanager
async def _player(job: Job, work: Work, client: Client) -> AsyncIterator[Play]:
    if job.processes == 1:
        async with _opened(job.agent):
            yield partial(run_trial, work)
        return
    from proctor.engine import pool, wire

    start = wire.Start(
        run_id=work.run_id,
        spec=job.record.spec,
        scorers=tuple(scorer.reference for scorer in work.scorers),
        price=work.price,
        paths=pool.import_paths(),
        cache=job.cache,
    )
    async with pool.Pool(job.processes, start, client) as workers:
        yield workers.run


def _opened(agent: Agent) -> AbstractAsyncContextManager[object]:
    """Agents that hold a server or a pool are context managers for the length of a run."""
    return agent if isinstance(agent, AbstractAsyncContextManager) else nullcontext()


def _check_probe(trial: Trial, fatal: Collection[str]) -> None:
    if trial.outcome == "provider_failed" and trial.failure is not None and trial.failure.kind in fatal:
        raise BadInput(
            "The first sample could not be run, so no other was tried: {reason}", reason=trial.failure.reason
        )


def _recorded(run_id: str, sample_id: str, attempt: int, reply: Trajectory | Failure) -> Trial:
    if isinstance(reply, Failure):
        return Trial(run_id=run_id, sample_id=sample_id, attempt=attempt, outcome="provider_failed", failure=reply)
    return Trial(
        run_id=run_id,
        sample_id=sample_id,
        attempt=attempt,
        outcome="scored",
        trajectory=reply,
        seconds=sum(step.seconds for step in reply.steps),
        usage=reply.usage,
    )


async def _add_all(store: Store, chunk: Sequence[tuple[Trial, list[Verdict], Sample]]) -> None:
    await asyncio.gather(*(store.add(trial, verdicts, sample) for trial, verdicts, sample in chunk))
