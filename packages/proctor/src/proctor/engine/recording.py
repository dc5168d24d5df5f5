"""Keep the record of a run while it is open: begin and plan it, save it in case of a kill, and end it in the right state."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import BadInput, Stopped
from proctor.core.run import RunRecord, RunState
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import IN_THE_MEAN, INFRASTRUCTURE, Trial
from proctor.engine.budget import BudgetTracker
from proctor.engine.evidence import settle_silent
from proctor.engine.job import Job
from proctor.engine.refusals import HeldRefusals
from proctor.engine.status import RunStatus
from proctor.engine.todo import Key, Todo, nothing_to_do
from proctor.engine.trial import OUTCOME_BY_BLAMED
from proctor.engine.watchdog import watched_loop
from proctor.models import cache
from proctor.runtime.concurrent import run_together
from proctor.runtime.garbage import gc_relaxed
from proctor.transport.allowance import Allowance

CHUNK = 256
KEPT_SECONDS = 1.0


class OpenRun:
    """A run while it is being played.

    Attributes:
        job: what is run.
        record: as it is saved next.
        todo: the samples and attempts that are left.
        allowance: how many requests it may send.
        refusals: the trials whose refusal is not understood yet.
    """

    def __init__(self, job: Job, store: Store, status: RunStatus) -> None:
        self.record = job.record
        self.todo = nothing_to_do()
        self.allowance = Allowance()
        self.refusals = HeldRefusals(answered=False)
        self.job = job
        self._store = store
        self._status = status
        self._started = time.monotonic()

    async def plan(self) -> None:
        """Write the plan of a new run, and count the finished trials of an old one."""
        job, store, status = self.job, self._store, self._status
        strata = self.record.strata
        if self.record.planned < max(strata.drawn if strata is not None else 0, 1) * self.record.spec.attempts:
            in_order = job.samples if self.record.spec.until is None else job.visits  # looks go along the plan
            samples = await store.plan(self.record.id, in_order())
            self.record = replace(self.record, planned=samples * self.record.spec.attempts)
            await store.save(self.record)  # others who look at the run see how much there is to do
        record = self.record
        if record.unbooked:
            status.warn(
                say(
                    "When the run was cut off, at most {count} requests were under way whose results are lost: they are in no figure, but count against a budget of requests.",
                    count=record.unbooked,
                )
            )
        await self._settle_undecided()
        finished = self._finished()
        spent = store.usage(record.id) + Usage(requests=record.unbooked)
        budget = record.spec.budget.share(record.spec.shard)
        if budget.requests is not None:
            self.allowance.most = max(0, budget.requests - spent.requests)
        tracker = BudgetTracker(budget, spent=spent, trials=len(finished), seconds=record.seconds)
        status.begin(job.total(record.planned), len(finished), tracker)
        self.todo = Todo(
            record.id,
            job.todo(finished),
            self._finished,
            self._stored,
            self._followed,
            are_recorded=job.replies is not None,
        )
        if job.watch is not None:
            job.watch.begin(record, store, finished)
            status.watch = job.watch
        outcomes = store.outcomes(record.id)
        answered = any(outcomes.get(outcome) for outcome in IN_THE_MEAN)
        self.refusals = HeldRefusals(answered=answered, before=set(record.refused))

    async def save_now_and_then(self) -> None:
        """Save, now and then, what a kill would lose: how long the run has taken, and the requests that are in no trial yet."""
        with suppress(BadInput):  # a store that cannot be written says so with the next trial
            while True:
                await asyncio.sleep(KEPT_SECONDS)
                unbooked = self.record.unbooked + self._under_way()
                await self._store.save(replace(self.record, seconds=self._seconds(), unbooked=unbooked))

    async def end(self, state: RunState, note: Sentence | None, *, is_stopped: bool) -> None:
        """Save how the run ended; one without any trial is removed, unless the user stopped it, and so is a fork, which is not resumed."""
        record, refusals, status = self.record, self.refusals, self._status
        refused = record.refused
        if refusals.reason:
            refused = tuple(dict.fromkeys((*refused, *(played.key for played in refusals.held))))
        self.record = replace(
            record,
            state=state,
            seconds=self._seconds(),
            note=note,
            warnings=(*record.warnings, *(warning for warning in status.warnings if warning not in record.warnings)),
            refused=refused,
            unbooked=record.unbooked + max(0, self.allowance.sent - status.booked),
            looked=record.looked if status.watch is None else status.watch.looked(),
        )
        try:
            await settle_silent(self.record, self._store)
            self.record = self.job.conclude(self.record, self._store)
        finally:
            await self._store.end(self.record)
            self.todo = nothing_to_do()  # it knows us: with it, the store would stay open until garbage is collected
        if state == "stopped" and not is_stopped and (record.fork or not self._store.outcomes(record.id)):
            self._store.delete(record.id)

    async def _settle_undecided(self) -> None:
        """Give the trials that were left undecided the outcome that the run is resumed with."""
        blamed = self.record.spec.on_agent_error
        if blamed is None or not self._store.outcomes(self.record.id).get("undecided"):
            return
        outcome = OUTCOME_BY_BLAMED[blamed]
        for trial in list(self._store.trials(self.record.id, outcome="undecided")):
            # what it used is already in the sums of the store
            await self._store.add(replace(trial, outcome=outcome, usage=Usage()))

    def _finished(self) -> set[Key]:
        return self._store.finished(self.record.id, failed_too=not self.job.retry_failed)

    def _stored(self, key: Key) -> Trial | None:
        trials = self._store.trials(self.record.id, sample_id=key[0])
        return next((trial for trial in trials if trial.attempt == key[1]), None)

    def _followed(self, id: str) -> str | None:
        sample = self._store.sample(self.record.id, id)
        return None if sample is None else sample.known.after or None

    def _seconds(self) -> float:
        return self.job.record.seconds + time.monotonic() - self._started

    def _under_way(self) -> int:
        """Return the greatest number of requests that may be under way."""
        if not self.allowance.sent or declared(AgentInfo, self.job.agent).is_batched:  # a batch is asked for again
            return 0
        in_flight = self._status.in_flight
        samples = in_flight + in_flight // 4 + 1  # the pace may grow before the next time
        most = samples * max(1, self._status.tracker.most_requests)
        return max(most, self.allowance.sent - self._status.booked)


@asynccontextmanager
async def opened_run(job: Job, store: Store, status: RunStatus, stop: asyncio.Event) -> AsyncIterator[OpenRun]:
    """Begin a run, and end it however the block ends. When the budget is spent, the rest is recorded as skipped."""
    await store.begin(job.record)
    run = OpenRun(job, store, status)
    try:
        async with _ended_in_any_case(run, store, status, stop):
            yield run
    except BadInput as error:
        if status.done and job.record.fork is None:
            error.run_id = job.record.id
            error.add_note(f"Everything finished is kept; go on with run_id={job.record.id!r}.")
        raise
    except asyncio.CancelledError:
        if stop.is_set():  # a second Ctrl-C
            raise Stopped(job.record.id) from None
        raise


@asynccontextmanager
async def _ended_in_any_case(run: OpenRun, store: Store, status: RunStatus, stop: asyncio.Event) -> AsyncIterator[None]:
    state: RunState = "stopped"
    note: Sentence | None = None
    try:
        await run.plan()
        with gc_relaxed(), watched_loop(status.warn), cache.opened(agents=run.job.cache, warn=status.warn):
            saving = asyncio.create_task(run.save_now_and_then())
            try:
                yield
            finally:
                saving.cancel()
        note = status.spent if not stop.is_set() else None
        if (
            note is not None and status.watch is None
        ):  # what was looked at ends where the budget does, and misses nothing
            await _skip(run.record.id, run.todo.rest(), store)
        status.warn_of_unanswered_calls()
        state, note = state_at_the_end(run.record, store, status, note)
    finally:
        await run.end(state, note, is_stopped=stop.is_set())


def state_at_the_end(
    record: RunRecord, store: Store, status: RunStatus, spent: Sentence | None
) -> tuple[RunState, Sentence | None]:
    """Return how a run ended, and why if it is inconclusive."""
    if spent is not None:
        return "inconclusive", spent
    looked = None if status.watch is None else status.watch.looked()
    if not status.is_complete and (looked is None or looked.decision is None):
        return "stopped", None
    is_judged = status.judge_failed or status.here < status.done  # those of before count too
    count = record.planned if status.watch is None else max(status.done, 1)
    return state_of_failures(record, store, record.scorers if is_judged else (), count)


def state_of_failures(
    record: RunRecord, store: Store, scorers: Sequence[str], count: int
) -> tuple[RunState, Sentence | None]:
    """Return how a run of `count` trials ended by the share that failed, and why if it is inconclusive.

    Args:
        scorers: those whose judges may have failed.
    """
    failed = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in INFRASTRUCTURE)
    failed = max([failed, *(_count_unjudged(record.id, scorer, store) for scorer in scorers)])
    share = failed / count
    allowed = record.spec.max_failed
    if share > allowed:
        return "inconclusive", say(
            "{share} of the trials failed for reasons outside the agent; more than {allowed} makes a run inconclusive.",
            share=f"{share:.1%}",
            allowed=f"{allowed:.1%}",
        )
    return "finished", None


def _count_unjudged(run_id: str, scorer: str, store: Store) -> int:
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
