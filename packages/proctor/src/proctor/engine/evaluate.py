"""Run all trials of a run that are not finished: N long-lived workers pull from one lazy iterator."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from proctor.core.declared import AgentInfo, ScorerInfo, declared
from proctor.core.errors import BadInput, EndpointRefused
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.engine.admission import Admission
from proctor.engine.clusters import cluster_of
from proctor.engine.first_trials import FirstTrials
from proctor.engine.job import Job
from proctor.engine.progress import Progress
from proctor.engine.recorded import score_recorded
from proctor.engine.recording import opened_run
from proctor.engine.refusals import PlayedTrial
from proctor.engine.saving import Saving
from proctor.engine.status import RunStatus
from proctor.engine.todo import Play
from proctor.engine.trial import run_trial
from proctor.models.named import OpenedModels
from proctor.transport.client import Client
from proctor.transport.pace import START

if TYPE_CHECKING:
    from proctor.engine.pool import Crew

GRACE_SECONDS = 5.0


async def evaluate(job: Job, store: Store, progress: Progress, stop: asyncio.Event) -> RunRecord:
    """Run all trials that are not finished, and return the record of the run as it ended.

    When `stop` is set, no new trial starts and those in flight get a moment to finish. When the job's watch has seen enough,
    they finish. The first trial runs
    alone: it is the probe of key, model and agent. In a conversation its first turn is enough, unless a judge is still to
    be tried, or the budget needs to know what a trial takes. When the budget is spent, the rest is recorded as skipped.

    Raises:
        BadInput: found before or by the first call; a run without any trial is removed again.
        Stopped: cancelled after `stop` was set; what was finished is kept.
    """
    status = RunStatus(progress)
    async with opened_run(job, store, status, stop) as run:
        client = Client(concurrency=job.concurrency, allowance=run.allowance)
        under_way, is_batched = _event_of(job)  # the first trial has more turns to come
        async with client, _player(job, client, status, under_way) as play:
            status.waits = client.waits
            admission = Admission(
                client,
                status.tracker,
                stop,
                most=job.at_once,
                is_paced=job.concurrency is None and not is_batched,
                slots=START if job.cache else None,
                is_decided=lambda: status.is_decided,
            )
            first = FirstTrials(job, status)
            save_all = partial(Saving, store, status, waits=job.task.environment is not None, stored=job.stored)

            async def worker(*, is_probe: bool) -> None:
                while await admission.enter():
                    status.in_flight = admission.in_flight
                    try:
                        given = await run.todo.take()
                        if given is None:
                            admission.close()
                            continue
                        try:
                            follows = "after" in given[0].meta
                            if follows and stop.is_set():
                                continue
                            if job.watch is not None and not await job.watch.turn(*given):
                                continue
                            result = await (run.todo.play_on(play, *given) if follows else play(*given))
                            kept = run.refusals.take(PlayedTrial(*result, given[0]), admission.in_flight)
                            if run.refusals.held or admission.is_alone:
                                admission.follow(run.refusals)
                            for played in kept:
                                await saving.save(*played)
                                is_alone = is_probe and not under_way.is_set()
                                if is_alone or is_batched or played.trial.failure is not None:
                                    first.check(played.trial, is_probe=is_alone)
                        except EndpointRefused as error:  # others may have been paid for: they are let through
                            run.refusals.refuse(error.sentence)
                            admission.close()
                        finally:
                            run.todo.settle(*given)
                    finally:
                        admission.leave()
                        status.in_flight = admission.in_flight
                    if is_probe and (under_way.is_set() or not run.refusals.is_open):
                        return

            async with save_all() as saving, workers_until(stop) as start:
                await _until_known(start(worker(is_probe=True)), under_way)
                for _ in range(0 if admission.is_over else job.at_once):
                    start(worker(is_probe=False))
            async with save_all() as saving:
                for played in run.refusals.rest():
                    await saving.save(*played)
        if run.refusals.reason is not None:
            raise EndpointRefused(run.refusals.reason)
    return run.record


def _event_of(job: Job) -> tuple[asyncio.Event, bool]:
    """Return the event, set where replies come hours later so that all trials begin at once, and True if they do."""
    under_way, is_batched = asyncio.Event(), declared(AgentInfo, job.agent).is_batched
    if is_batched:
        under_way.set()
    return under_way, is_batched


async def _until_known(probe: "asyncio.Task[None]", under_way: asyncio.Event) -> None:
    """Wait until the first trial has ended, or its conversation goes on."""
    going_on = asyncio.create_task(under_way.wait())
    try:
        await asyncio.wait({probe, going_on}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        going_on.cancel()


@asynccontextmanager
async def workers_until(
    stop: asyncio.Event,
) -> AsyncIterator[Callable[[Coroutine[object, object, None]], "asyncio.Task[None]"]]:
    """Run the workers that the block starts to their end; when `stop` is set they are cancelled after a moment."""
    workers: list[asyncio.Task[None]] = []

    def start(work: Coroutine[object, object, None]) -> "asyncio.Task[None]":
        workers.append(group.create_task(work))
        return workers[-1]

    try:
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(_cancel_after_stop(stop, workers))
            yield start
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
async def _player(job: Job, client: Client, status: RunStatus, under_way: asyncio.Event) -> AsyncIterator[Play]:
    """Open what plays a sample: this process, several others, or the replies that were recorded.

    `under_way` is set when a conversation goes on after its first turn, where a run may rely on that.
    """
    has_judge = any(declared(ScorerInfo, scorer.function).judge is not None for scorer in job.scorers)
    work = job.work() if has_judge or status.tracker.is_bounded else replace(job.work(), under_way=under_way)
    if job.replies is not None:
        async with OpenedModels(work.judges):
            yield partial(score_recorded, work, job.replies)
        return
    if job.processes == 1 and job.on is None:
        async with OpenedModels(work.opened):
            yield partial(run_trial, work)
        return
    from proctor.engine import pool, wire

    warn = _once(status.warn)
    async with _crew(job, warn) as crew:
        start = wire.Start(
            run_id=work.run_id,
            created=work.created,
            spec=job.record.spec,
            scorers=tuple(scorer.reference for scorer in work.scorers),
            price=work.price,
            paths=crew.paths,
            cache=job.cache,
            shares_folders=crew.is_here,
        )
        async with pool.CrewPool(crew, start, client, warn) as workers:
            yield workers.run


@asynccontextmanager
async def _crew(job: Job, warn: Callable[[Sentence], None]) -> AsyncIterator["Crew"]:
    """Open where the workers of a run come from: this machine, or a cluster."""
    if job.on is None:
        from proctor.engine.processes import Processes

        yield Processes(job.processes, job.worker)
        return
    cluster, address = cluster_of(job.on)
    async with cluster.crew(address, job.processes, job.record.spec, warn) as crew:
        yield crew


def _once(warn: Callable[[Sentence], None]) -> Callable[[Sentence], None]:
    """Pass each warning on once, whichever of the processes it comes from."""
    seen: set[str] = set()

    def warn_once(sentence: Sentence) -> None:
        name = str(sentence.values.get("name", sentence))
        if name not in seen:
            seen.add(name)
            warn(sentence)

    return warn_once
