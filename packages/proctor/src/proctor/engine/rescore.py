"""Apply scorers to stored trajectories; no agent is called."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from proctor.core.errors import EndpointRefused
from proctor.core.run import Budget, RunRecord
from proctor.core.score import Unscored
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.engine.admission import Admission
from proctor.engine.budget import BudgetTracker
from proctor.engine.evaluate import workers_until
from proctor.engine.evidence import settle_silent
from proctor.engine.progress import Progress
from proctor.engine.recording import state_at_the_end
from proctor.engine.refusals import HeldRefusals
from proctor.engine.scoring import BoundScorer, score_trial
from proctor.engine.status import RunStatus
from proctor.models import cache
from proctor.models.named import OpenedModels
from proctor.transport import retry
from proctor.transport.allowance import Allowance
from proctor.transport.client import Client
from proctor.transport.pace import START

JUDGED_AT_ONCE = 256  # as far as the pace of the judges' endpoints allows
CHUNK = 500  # trials whose verdicts are written together, where no model is asked


class RescoreJob(msgspec.Struct, frozen=True, kw_only=True):
    """A run whose trials are scored again.

    Attributes:
        among: the scored trials (sample and attempt) that are scored again, where not all are.
        keep: takes the verdicts in place of the store, which then stays as it was.
    """

    record: RunRecord
    scorers: Sequence[BoundScorer]
    budget: Budget = Budget()
    concurrency: int | None = None
    among: Collection[tuple[str, int]] | None = None
    keep: Callable[[Sequence[Verdict]], Awaitable[None]] | None = None

    @property
    def asks_models(self) -> bool:
        return any(scorer.is_async for scorer in self.scorers)

    def trials(self, store: Store) -> Iterator[Trial]:
        """Yield the trials that are scored again."""
        for trial in store.trials(self.record.id, outcome="scored"):
            if self.among is None or (trial.sample_id, trial.attempt) in self.among:
                yield trial


async def rescore(job: RescoreJob, store: Store, progress: Progress, stop: asyncio.Event) -> RunRecord:
    """Append the scorers' verdicts to every scored trial of a run, and return its record.

    The run is inconclusive where the budget did not last, or a judge failed more often than the run allows.

    Where scorers ask models, many trials are under way and each verdict is written at once: it was paid for. When this is
    repeated, earlier replies of judges come from the reply cache.
    """
    tracker, status = BudgetTracker(job.budget), RunStatus(progress)
    count = store.outcomes(job.record.id).get("scored", 0) if job.among is None else len(job.among)
    status.begin(count, 0, tracker)
    workers = (job.concurrency or JUDGED_AT_ONCE) if job.asks_models else 1
    client = Client(concurrency=job.concurrency, allowance=Allowance(job.budget.requests))
    admission = Admission(client, tracker, stop, most=workers, is_paced=job.concurrency is None, slots=START)
    refusals = HeldRefusals(answered=False)
    status.waits = client.waits
    trials = job.trials(store)
    async with client, OpenedModels([scorer.function for scorer in job.scorers]):
        with cache.opened(agents=False, warn=status.warn):
            async with workers_until(stop) as start:
                for _ in range(workers):
                    start(_score_chunks(job, store, trials, status, admission, refusals))
    if job.keep is None:
        await settle_silent(job.record, store)
    if refusals.reason is not None:
        raise EndpointRefused(refusals.reason)
    return _ended(job.record, store, status, stop)


async def _score_chunks(
    job: RescoreJob,
    store: Store,
    trials: Iterator[Trial],
    status: RunStatus,
    admission: Admission,
    refusals: HeldRefusals,
) -> None:
    """Score one chunk of the trials after the other, until none is left or no more may be asked."""
    keep, size = job.keep or store.judge, 1 if job.asks_models else CHUNK
    while await admission.enter():
        try:
            chunk = list(islice(trials, size))
            if not chunk:
                admission.close()
                continue
            verdicts = [verdict for trial in chunk for verdict in await _judge(trial, job.record, store, job.scorers)]
            if not refusals.take_verdicts(verdicts, admission.in_flight):
                admission.close()
                continue
            await keep(verdicts)
            status.add_verdicts(len(chunk), verdicts)
        finally:
            admission.leave()


def _ended(record: RunRecord, store: Store, status: RunStatus, stop: asyncio.Event) -> RunRecord:
    """Return the record with the state in which the judging left the run."""
    if not status.is_complete:
        if stop.is_set():
            return record
        note = status.spent or say("The rest of the budget did not hold all that the judges of a sample asked.")
        status.warn(note)
        return replace(record, state="inconclusive", note=note)
    if record.state not in ("finished", "inconclusive") or store.outcomes(record.id).get("skipped"):
        return record  # the run itself did not come to its end
    state, why = state_at_the_end(record, store, status, None)
    return replace(record, state=state, note=why)


async def _judge(trial: Trial, record: RunRecord, store: Store, scorers: Sequence[BoundScorer]) -> list[Verdict]:
    cache.begin(trial.attempt, f"{record.id}/{trial.sample_id}", record.created)
    retry.record_calls()
    sample = store.sample(trial.run_id, trial.sample_id)
    if sample is not None:
        return await score_trial(trial, sample, scorers)
    missing = Unscored(why="not_applicable", reason=say("The sample was not kept with the run."))
    return [scorer.verdict(trial, missing) for scorer in scorers]
