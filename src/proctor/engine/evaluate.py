"""Run all trials of a run that are not finished: N long-lived workers pull from one lazy iterator."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import msgspec
from msgspec.structs import replace

from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import BadInput, Refused
from proctor.core.run import Price, RunRecord, RunState
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Agent, Store, Task
from proctor.core.trajectory import Usage
from proctor.core.trial import IN_THE_MEAN, INFRASTRUCTURE, Trial, Verdict
from proctor.engine.admission import Admission
from proctor.engine.budget import BudgetTracker
from proctor.engine.progress import Progress
from proctor.engine.recorded import Replies, score_recorded
from proctor.engine.refusals import Played, Refusals
from proctor.engine.saving import Saving
from proctor.engine.scoring import BoundScorer, with_place
from proctor.engine.trial import Work, run_trial
from proctor.engine.watchdog import watched_loop
from proctor.models import cache
from proctor.models.named import Opened
from proctor.runtime.concurrent import run_together
from proctor.transport.allowance import Allowance
from proctor.transport.client import Client
from proctor.transport.pace import START

GRACE_SECONDS = 5.0
CHUNK = 256
KEPT_SECONDS = 1.0
FIRST = 10  # trials of a new run; where the agent fails in each of them it would fail in all
NO_WAY = ("connect", "dns", "tls")  # kinds of failure of the first sample that would meet all others
NOT_ACCEPTED = ("http_400", "http_422")  # of the first sample; others may be accepted, but a parameter never is
CANNOT_GO_ON = (*NO_WAY, "timeout", "not_http", "not_json")  # the same where the endpoint has never been of use


Play = Callable[[Sample, int], Awaitable[tuple[Trial, list[Verdict]]]]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its parts resolved.

    `samples` reads the chosen samples in the order of the task, `visits` in that in which they are run, as often as they
    are called. `conclude` is given the record as the run ended, and what it returns is kept. `at_once` trials are under way in so many
    `processes`, each begun by the command `worker`; of requests `concurrency` are in flight at each endpoint, or as many as its pace allows when None.
    With `cache` the agent's model takes replies from the reply cache; judges do so anyway. Where there are `replies`,
    recorded elsewhere, those are scored and no agent is called.
    """

    record: RunRecord
    task: Task
    agent: Agent
    scorers: Sequence[BoundScorer]
    samples: Callable[[], Iterable[Sample]]
    visits: Callable[[], Iterable[Sample]]
    conclude: Callable[[RunRecord, Store], RunRecord] = lambda record, _: record
    at_once: int
    processes: int = 1
    worker: Sequence[str] = ()
    concurrency: int | None = None
    retry_failed: bool = False
    cache: bool = False
    price: Price | None = None
    replies: Replies | None = None


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
    allowance = Allowance()
    refusals = Refusals(answered=False)
    try:
        record = await _planned(job, store)
        _tell_lost(record, progress)
        finished = store.finished(record.id, failed_too=not job.retry_failed)
        spent = store.usage(record.id) + Usage(requests=record.unbooked)
        tracker = BudgetTracker(record.spec.budget, spent=spent, trials=len(finished), seconds=record.seconds)
        if record.spec.budget.requests is not None:
            allowance.most = max(0, record.spec.budget.requests - spent.requests)
        total = record.planned if job.replies is None else sum(map(len, job.replies.values()))
        progress.begin(total, len(finished), tracker)
        todo = _todo(job, finished)
        outcomes = store.outcomes(record.id)
        answered = any(outcomes.get(outcome) for outcome in IN_THE_MEAN)
        refusals = Refusals(answered=answered, before=set(record.refused))
        with watched_loop(progress.warn), cache.opened(agents=job.cache, warn=progress.warn):
            async with _figures_kept(record, store, progress, allowance, started):
                await _run(job, store, progress, stop, todo, allowance, refusals)
        note = _spent(progress) if not stop.is_set() else None
        if note is not None:
            await _skip(record.id, todo, store)
        state, note = _state(record, store, progress, note)
    finally:
        record = replace(
            record,
            state=state,
            seconds=record.seconds + time.monotonic() - started,
            note=note,
            warnings=(*record.warnings, *(one for one in progress.warnings if one not in record.warnings)),
            refused=tuple(dict.fromkeys((*record.refused, *(played.key for played in refusals.held))))
            if refusals.reason
            else record.refused,
            unbooked=record.unbooked + max(0, allowance.sent - progress.booked),
        )
        try:
            record = job.conclude(record, store)
        finally:
            await store.end(record)
        if state == "stopped" and not stop.is_set() and not store.outcomes(record.id):
            store.delete(record.id)
    return record


@asynccontextmanager
async def _figures_kept(
    record: RunRecord, store: Store, progress: Progress, allowance: Allowance, started: float
) -> AsyncIterator[None]:
    """Save now and then what a kill would lose: how long the run has taken, and how many requests are in no trial yet."""

    def under_way() -> int:
        if not allowance.sent:
            return 0
        samples = progress.in_flight + progress.in_flight // 4 + 1  # the pace may grow before the next time
        most = samples * max(1, progress.tracker.most_requests)
        return max(most, allowance.sent - progress.booked)

    async def keep() -> None:
        with suppress(BadInput):  # a store that cannot be written says so with the next trial
            while True:
                await asyncio.sleep(KEPT_SECONDS)
                seconds = record.seconds + time.monotonic() - started
                await store.save(replace(record, seconds=seconds, unbooked=record.unbooked + under_way()))

    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeping.cancel()


def _tell_lost(record: RunRecord, progress: Progress) -> None:
    if record.unbooked:
        progress.warn(
            say(
                "When the run was cut off, at most {count} requests were under way whose results are lost: they are in no figure, but count against a budget of requests.",
                count=record.unbooked,
            )
        )


def _spent(progress: Progress) -> Sentence | None:
    """Which bound is reached, or leaves too little for another sample; also where it was reached by the last one."""
    reached = progress.tracker.reached()
    return reached if reached is not None or progress.done >= progress.total else progress.tracker.too_small()


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
    if progress.judge_failed or progress.here < progress.done:  # those of before count too
        failed = max([failed, *(_unjudged(record.id, scorer, store) for scorer in record.scorers)])
    share, allowed = failed / record.planned, record.spec.max_failed
    if share > allowed:
        return "inconclusive", say(
            "{share} of the trials failed for reasons outside the agent; more than {allowed} makes a run inconclusive.",
            share=f"{share:.1%}",
            allowed=f"{allowed:.1%}",
        )
    return "finished", None


def _unjudged(run_id: str, scorer: str, store: Store) -> int:
    return sum(value.why == "judge_failed" for value in store.values(run_id, scorer))


async def _skip(run_id: str, todo: Iterable[tuple[Sample, int]], store: Store) -> None:
    """Record what the budget left out, so that every planned trial has an outcome."""
    chunk: list[Trial] = []
    for sample, attempt in todo:
        chunk.append(Trial(run_id=run_id, sample_id=sample.id, attempt=attempt, outcome="skipped"))
        if len(chunk) >= CHUNK:
            await run_together(*(store.add(trial) for trial in chunk))
            chunk = []
    await run_together(*(store.add(trial) for trial in chunk))


def _todo(job: Job, finished: set[tuple[str, int]]) -> Iterator[tuple[Sample, int]]:
    """What is not finished; samples that were refused come last, so that they do not stop the others again."""
    refused = set(job.record.refused)
    for is_last in (False, True) if refused else (False,):
        for sample in job.visits():
            attempts = job.record.spec.attempts if job.replies is None else len(job.replies.get(sample.id, ()))
            for attempt in range(attempts):
                key = (sample.id, attempt)
                if key not in finished and (key in refused) is is_last:
                    yield sample, attempt


async def _run(
    job: Job,
    store: Store,
    progress: Progress,
    stop: asyncio.Event,
    todo: Iterator[tuple[Sample, int]],
    allowance: Allowance,
    refusals: Refusals,
) -> None:
    work = Work(
        run_id=job.record.id,
        task=job.task,
        agent=job.agent,
        scorers=job.scorers,
        limits=job.record.spec.limits,
        price=job.price,
    )

    async def play_next() -> Sequence[Played]:
        """Play a sample; what can be kept now, of it and of those held before."""
        sample, attempt = next(todo, (None, 0))
        if sample is None:
            admission.close()
            return ()
        try:
            trial, verdicts = await play(sample, attempt)
        except Refused as error:  # others may have been paid for: they are let through
            refusals.refuse(error.sentence)
            admission.close()
            return ()
        kept = refusals.take(Played(trial, verdicts, sample), admission.in_flight)
        admission.is_alone = refusals.is_unknown
        if refusals.reason is not None:
            admission.close()
        return kept

    async def worker(*, is_probe: bool = False) -> None:
        while await admission.enter():
            progress.in_flight = admission.in_flight
            try:
                for played in await play_next():
                    await saving.save(*played)
                    if is_new and progress.here >= FIRST and played.trial.failure is not None:
                        _check_first(played.trial, progress)
                    if is_probe:
                        _check_probe(played.trial, fatal, progress)
                        if job.replies is None:
                            _tell_uncounted(played.trial, job.agent, progress)
            finally:
                admission.leave()
                progress.in_flight = admission.in_flight
            if is_probe and not refusals.is_open:
                return

    is_new = not progress.done and job.replies is None
    fatal = () if job.replies is not None else NO_WAY if progress.done else CANNOT_GO_ON
    client = Client(concurrency=job.concurrency, allowance=allowance)
    async with client, _player(job, work, client, progress) as play:
        progress.waits = client.waits
        admission = Admission(
            client,
            progress.tracker,
            stop,
            most=job.at_once,
            is_paced=job.concurrency is None,
            places=START if job.cache else None,
        )
        for count, work_of_each in ((1, partial(worker, is_probe=True)), (job.at_once, worker)):
            if not admission.is_over:
                async with Saving(store, progress) as saving:
                    await at_once(count, work_of_each, stop)
        async with Saving(store, progress) as saving:
            for played in refusals.rest():
                await saving.save(*played)
    if refusals.reason is not None:
        raise Refused(refusals.reason)


async def at_once(count: int, worker: Callable[[], "asyncio._CoroutineLike[None]"], stop: asyncio.Event) -> None:
    """So many workers until all are done; when `stop` is set they get a moment to finish."""
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
async def _player(job: Job, work: Work, client: Client, progress: Progress) -> AsyncIterator[Play]:
    if job.replies is not None:
        async with Opened(work.judges):
            yield partial(score_recorded, work, job.replies)
        return
    if job.processes == 1:
        async with Opened((job.agent, *work.judges)):
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
    async with pool.Pool(job.processes, job.worker, start, client, _once(progress)) as workers:
        yield workers.run


def _once(progress: Progress) -> Callable[[Sentence], None]:
    """Pass each warning on once, whichever of the processes it comes from."""
    told: set[str] = set()

    def warn(sentence: Sentence) -> None:
        name = str(sentence.values.get("name", sentence))
        if name not in told:
            told.add(name)
            progress.warn(sentence)

    return warn


def _tell_uncounted(trial: Trial, agent: Agent, progress: Progress) -> None:
    """Say so where a bound will not be reached because the agent does not tell what it uses."""
    if trial.outcome != "scored" or "cache_hits" in trial.notes or declared(AgentInfo, agent).reports_cost:
        return
    kinds = progress.tracker.uncounted(trial.usage)
    if kinds:
        progress.warn(
            say(
                "The agent does not tell what it uses, so the budget ({kinds}) counts only what judges use. Set a budget of minutes too.",
                kinds=", ".join(kinds),
            )
        )


def _check_first(trial: Trial, progress: Progress) -> None:
    if trial.failure is not None and progress.outcomes["agent_failed"] == progress.here:
        raise BadInput(
            "The agent failed in each of the first {count} trials, so the rest was not run. {reason}",
            count=progress.here,
            reason=with_place(trial.failure),
        )


def _check_probe(trial: Trial, fatal: Collection[str], progress: Progress) -> None:
    if trial.failure is not None and trial.failure.kind in NOT_ACCEPTED:
        progress.warn(
            say(
                "The first sample's request was not accepted. If that is because of an option of the agent, stop here (Ctrl-C) and change it: {reason}",
                reason=trial.failure.reason,
            )
        )
    if trial.outcome == "provider_failed" and trial.failure is not None and trial.failure.kind in fatal:
        raise BadInput(
            "The first sample could not be run, so no other was tried: {reason}", reason=trial.failure.reason
        )
