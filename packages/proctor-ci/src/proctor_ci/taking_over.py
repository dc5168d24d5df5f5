"""Take trials over that another tier made under the same conditions, so that no sample is run twice.

The conditions are all that is recorded of a run: task and options, agent with its options and code, seed, limits, scorers and
judges, data, commit, version. Only the choice of samples, the number of attempts and what sets the pace may differ. A tier never
takes over its own trials: whoever runs it again wants to measure again. For the same reason it takes a trial over only once.
"""

import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

import msgspec
from msgspec.structs import replace

from proctor.api.loop import run_in_loop
from proctor.core.digest import digest
from proctor.core.judge import PROVENANCE
from proctor.core.run import RunRecord
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trial import IN_THE_MEAN, StoredTrial
from proctor.engine.job import Job
from proctor.runtime.concurrent import run_together

MADE_BY = "made_by"  # in the notes of a trial: the run that made it
MAY_DIFFER = (
    "selection",
    "attempts",
    "order",
    "target",
    "budget",
    "max_failed",
    "concurrency",
    "workers",
    "until",
    "shard",
)
CHUNK = 256


def begin_with_trials_of_others(job: Job, store: Store, hours: float) -> Job:
    """Return the job with its run begun by the trials of other tiers; the same job if there are none.

    Args:
        hours: how old a run may be whose trials are taken over.
    """
    wanted = _wanted(job, store, hours)
    first = next(wanted, None)
    return job if first is None else run_in_loop(lambda _: _begin(job, store, chain([first], wanted)))


def has_same_conditions(one: RunRecord, other: RunRecord) -> bool:
    """True if trials of the two runs are interchangeable: they were made under the same conditions.

    Runs that were made from Python objects have the conditions of no other: nothing shows that the objects are the same.
    """
    is_again = not any("continue_from" in record.provenance for record in (one, other))
    return is_again and _conditions(one) == _conditions(other)


def _conditions(record: RunRecord) -> str:
    spec = msgspec.to_builtins(record.spec)
    for name in MAY_DIFFER:
        del spec[name]
    provenance = {name: value for name, value in record.provenance.items() if name != PROVENANCE}
    judges = {
        name: (about["model"], about.get("rubric_digest"))  # not what is known of it by now
        for name, about in record.provenance.get(PROVENANCE, {}).items()
    }
    about = (record.task, record.task_version, record.agent, record.proctor_version, sorted(record.scorers))
    return digest([spec, provenance, judges, about])


def _wanted(job: Job, store: Store, hours: float) -> Iterator[StoredTrial]:
    """Yield the trials of other tiers that are as good as those that the job would make, each key once."""
    record = job.record
    others = [run for run in store.runs() if run.tier and run.id != record.id]
    since = time.time() - 3600 * hours
    sources = [
        other
        for other in others
        if other.tier != record.tier and other.created >= since and has_same_conditions(other, record)
    ]
    if not sources or not hours:
        return
    own = [other for other in others if other.tier == record.tier]
    used = {origin for other in own for origin in (other.id, *other.taken_over)}
    digests = {sample.id: digest(sample) for sample in job.samples()}
    seen = set(store.finished(record.id)) if record.planned else set()
    for source in sorted(sources, key=lambda one: one.created, reverse=True):
        for stored in store.stored(source.id):
            trial = stored.trial
            key = (trial.sample_id, trial.attempt)
            if (
                key not in seen
                and trial.attempt < record.spec.attempts
                and trial.notes.get(MADE_BY, source.id) not in used
                and _is_whole(stored, record)
                and digests.get(trial.sample_id) == digest(stored.sample)
            ):
                seen.add(key)
                yield stored


def _is_whole(stored: StoredTrial, record: RunRecord) -> bool:
    """True if a trial came to its end, and every scorer to a verdict on it."""
    if stored.trial.outcome not in IN_THE_MEAN:
        return False
    verdicts = {verdict.scorer: verdict.result for verdict in stored.verdicts}
    failed = any(not isinstance(verdict, Score) and verdict.why != "not_applicable" for verdict in verdicts.values())
    return not failed and (stored.trial.outcome != "scored" or verdicts.keys() >= set(record.scorers))


async def _begin(job: Job, store: Store, found: Iterator[StoredTrial]) -> Job:
    """Plan the run, add the trials, and close it again, to be resumed."""
    record = job.record
    await store.begin(record)
    try:
        if not record.planned:
            samples = await store.plan(record.id, job.samples())
            record = replace(record, planned=samples * record.spec.attempts)
        while chunk := list(islice(found, CHUNK)):
            await run_together(*(_add(stored, record, store) for stored in chunk))
        made_by = Counter(trial.notes[MADE_BY] for trial in store.trials(record.id) if MADE_BY in trial.notes)
        warning = say(
            "{count} of its trials are those of {runs}, made under the same conditions: the costs of these are in both.",
            count=made_by.total(),
            runs=", ".join(made_by),
        )
        record = replace(record, taken_over=dict(made_by), warnings=(*record.warnings, warning))
    finally:
        await store.end(replace(record, state="stopped"))
    return replace(job, record=record)


async def _add(stored: StoredTrial, record: RunRecord, store: Store) -> None:
    trial = stored.trial
    notes = {MADE_BY: trial.run_id, **trial.notes}  # whoever made it first
    verdicts = [replace(verdict, run_id=record.id) for verdict in stored.verdicts]
    await store.add(replace(trial, run_id=record.id, notes=notes), verdicts, stored.sample)
