"""Evaluate, score, rescore, compare: the functions that the CLI, pytest and Python code call, and the Run object."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from proctor.api import numbers, resolve
from proctor.api.bars import check_bars
from proctor.api.loop import run_in_loop
from proctor.api.options import RescoreOptions, RunOptions, budget_of, judge_of, keywords
from proctor.api.prepare import Prepared, at, check_money, judges_asked, open_existing, prepare, resumable, with_judges
from proctor.api.resolve import TaskLike
from proctor.api.resuming import with_code
from proctor.api.run import Run
from proctor.api.shards import close, find_shards, merge_shards
from proctor.api.stages import find_further, has_ended
from proctor.core.errors import BadInput, Stopped
from proctor.core.judge import JudgeChoice
from proctor.core.main_number import check_names
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import ShardedStore, Store, Summarise
from proctor.core.trial import INFRASTRUCTURE
from proctor.engine.evaluate import evaluate as run_job
from proctor.engine.progress import Progress
from proctor.engine.rescore import RescoreJob
from proctor.engine.rescore import rescore as rescore_trials
from proctor.registry import offered
from proctor.runtime.garbage import gc_paused

if TYPE_CHECKING:
    from proctor.api.comparison import Comparison

__all__ = [
    "Run",
    "RunOptions",
    "Stopped",
    "at",
    "compare",
    "copy_run",
    "evaluate",
    "evaluate_async",
    "merge_runs",
    "open_run",
    "rescore",
    "resumable",
    "run_task",
    "runs",
    "score",
]


def run_task(task: TaskLike, options: RunOptions) -> Run:
    """Run a task with an agent, or score its recorded replies, and return the run with its numbers.

    With the `run_id` of a stored run, that one is resumed. Inside a running event loop (a notebook) it works in a
    thread of its own.

    Raises:
        BadInput: anything the caller can fix, found before or by the first call of the agent.
        Stopped: Ctrl-C or SIGTERM; what was finished is kept.
    """
    options, further = find_further(options)
    prepared, progress = _prepared(task, options), options.progress or Progress()
    record = run_in_loop(partial(_run_traced, prepared, options, progress))
    run = _ended(prepared, record, progress)
    if isinstance(prepared.store, ShardedStore):
        run = run_in_loop(lambda _: _close(prepared, run))
    return run_task(task, replace(options, run_id=run.id)) if further and has_ended(record, run.store) else run


@keywords(RunOptions)
def evaluate(task: TaskLike, options: RunOptions) -> Run:
    """Run a task with an agent, and return the run with its numbers. `RunOptions` lists the keyword arguments.

    Raises:
        BadInput, Stopped: as `run_task` does.

    >>> from proctor import Sample, Task, evaluate
    >>> task = Task(name="capitals", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])
    >>> run = evaluate(task, agent=lambda question: "Paris", store=":memory:")
    >>> run.estimate("accuracy").value, dict(run.outcomes)
    (1.0, {'scored': 1})
    """
    return run_task(task, options)


@keywords(RunOptions)
async def evaluate_async(task: TaskLike, options: RunOptions) -> Run:
    """Evaluate as `evaluate` does, in the running event loop; `RunOptions` lists the keyword arguments.

    Cancelling it keeps what was finished.
    """
    options, further = find_further(options)
    prepared, progress = _prepared(task, options), options.progress or Progress()
    record = await _run_traced(prepared, options, progress, asyncio.Event())
    run = _ended(prepared, record, progress)
    if isinstance(prepared.store, ShardedStore):
        return await _close(prepared, run)
    if further and has_ended(record, run.store):
        return _ended(*await _go_on(task, replace(options, run_id=run.id)))
    return run


async def _close(prepared: Prepared, shard: Run) -> Run:
    """Return the whole run after one of its shards has ended."""
    whole = prepared.store.whole if isinstance(prepared.store, ShardedStore) else prepared.store
    prepared.store.close()
    return Run(await close(whole, shard.id, shard.summarise), whole, shard.summarise)


async def _go_on(task: TaskLike, options: RunOptions) -> tuple[Prepared, RunRecord, Progress]:
    prepared, progress = _prepared(task, options), options.progress or Progress()
    return prepared, await _run_traced(prepared, options, progress, asyncio.Event()), progress


async def _run_traced(prepared: Prepared, options: RunOptions, progress: Progress, stop: asyncio.Event) -> RunRecord:
    """Run a job; with a collector, send it the trials meanwhile, and say at the end what did not arrive."""
    job, store = prepared.job, prepared.store
    if options.trace_to is None:
        return await run_job(job, store, progress, stop)
    traces = offered("live_traces", "otlp", needed_for="--trace-to")
    live = traces.LiveTraces(job.record, options.trace_to, content=traces.wants_content(options.trace_content is True))
    try:
        return await run_job(replace(job, stored=live.add), store, progress, stop)
    finally:
        if (lost := await asyncio.to_thread(live.close)) is not None:
            progress.tell(lost)


@keywords(RunOptions)
def score(task: TaskLike, options: RunOptions) -> Run:
    """Score recorded `replies`; no agent is called. `RunOptions` lists the keyword arguments.

    The replies are what the task's benchmark writes (for `bfcl` an official result file or folder), or JSON lines with
    `id` and `answer`, `calls` or `trajectory`, or spans, whose conversations are matched with samples by id or by the
    words of the user (`traces`). With the `run_id` of a stored run, the replies that are not scored there are.

    Raises:
        BadInput: no replies, a malformed line, a reply for an unknown sample, or two for the same.
        Stopped: Ctrl-C or SIGTERM; what was scored is kept.
    """
    if options.replies is None:
        raise BadInput("Name the recorded replies to score: score(task, replies=FILE).")
    return run_task(task, options)


@keywords(RescoreOptions)
def rescore(run: Run | str, options: RescoreOptions) -> Run:
    """Apply scorers to the stored trajectories of a run; no agent is called, and no trial is changed.

    Raises:
        Stopped: Ctrl-C or SIGTERM; the verdicts so far are kept.
    """
    run = run if isinstance(run, Run) else open_run(run, store=options.store)
    job = _rescore_job(run, options)
    if options.bars:
        check_bars(options.bars, job.record, run.store.planned(run.id), has_official=run.record.official != ())
    record, summarise = _summarised_by(run, job.record)

    async def work(stop: asyncio.Event) -> None:
        nonlocal record
        await run.store.begin(record)
        try:
            record = await rescore_trials(replace(job, record=record), run.store, options.progress or Progress(), stop)
        finally:
            if record.official is not None:
                record = numbers.conclude(record, run.store, summarise)
            await run.store.end(record)
        if stop.is_set():
            raise Stopped(record.id)

    run_in_loop(work)
    return Run(record, run.store, run.summarise)


def _rescore_job(run: Run, options: RescoreOptions) -> RescoreJob:
    """Find the scorers and their judge, and the record that the run has with them."""
    model, model_options = judge_of(options.judge, options.judge_options, run.record)
    bound = resolve.scorers(options.scorers, JudgeChoice(model=model, options=model_options))
    judges = judges_asked(bound, options.judge)
    limit = budget_of(options.budget)
    check_money(limit, judges)
    names = [*run.record.scorers, *(scorer.name for scorer in bound if scorer.name not in run.record.scorers)]
    check_names(names, known=run.record.scorers)
    replaced = {scorer.name for scorer in bound}
    kept = (name for name in run.record.spec.scorers if not replaced & {name, name.rpartition(":")[2]})
    references = [*kept, *(scorer.reference for scorer in bound)]
    spec = replace(run.record.spec, scorers=tuple(dict.fromkeys(references)))
    if judges:
        spec = replace(spec, judge=model, judge_options=model_options)
    files = {"scorers": resolve.files_of_scorers(bound), "judge": resolve.files_of_judges(model_options, judges)}
    provenance = with_judges(with_code(run.record.provenance, files), judges)
    record = replace(run.record, scorers=tuple(names), spec=spec, provenance=provenance)
    return RescoreJob(record=record, scorers=bound, budget=limit, concurrency=options.concurrency)


def _summarised_by(run: Run, record: RunRecord) -> tuple[RunRecord, Summarise | None]:
    """Return what makes the official aggregates again; where nothing can, the record keeps none, as they would be stale."""
    if run.summarise is not None:
        return record, run.summarise
    try:
        function = numbers.summarise_again(record)
    except BadInput:
        return replace(record, official=None), None
    return replace(record, official=()), function


def compare(
    first: Run, second: Run, *, level: float = 0.95, seed: int = 0, detect: float | None = None
) -> "Comparison":
    """Compare the second run with the first, paired on the samples that both have scored.

    `rows[0].outcome` is the result: `better`, `worse` or `inconclusive`. Differences are adjusted by the runs that the second
    one is `given`; the first may be among them.

    Args:
        detect: a difference, 0 to 1; `needed` then says how many samples find it.

    Raises:
        BadInput: other tasks, or nothing in common.
    """
    from proctor.api.comparison import Comparison
    from proctor.api.looks import decision_between
    from proctor.reports.compare import compare as compare_runs

    given = [(run.record, run.store) for run in second.earlier]
    sides = (first.record, first.store), (second.record, second.store)
    compared = compare_runs(*sides, level=level, seed=seed, detect=detect, given=given, decided=decision_between)
    return Comparison(**asdict(compared))


def open_run(run_id: str, *, store: str | Store | None = None, given: Sequence[str] = ()) -> Run:
    """Return a stored run by its id.

    Args:
        given: earlier runs of the same store, by id or as baselines, by which its numbers are adjusted; see `Run.given`.

    Raises:
        BadInput: the store has no such run; the nearest id is named.
    """
    from proctor.stores.copy import check_whole

    opened = open_existing(store)
    record = opened.run(run_id)
    check_whole(record)
    run = Run(record, opened)
    if not given:
        return run
    from proctor.api.baselines import find_against

    return run.given(*(find_against(opened, name) for name in given))


def runs(*, store: str | Store | None = None) -> list[RunRecord]:
    """Return the records of all stored runs, the newest first."""
    return sorted(at(store).runs(), key=lambda record: record.created, reverse=True)


def copy_run(run_id: str, source: Store, target: Store | str) -> None:
    """Copy a run with all its trials and verdicts to another store; at an address it is opened once the run is found."""
    from proctor.stores.copy import check_whole, copy

    check_whole(source.run(run_id))
    into = at(target)
    run_in_loop(lambda _: copy(source, into, run_id))


def merge_runs(stores: Sequence[Store | str], target: Store | str, run_id: str | None = None) -> Run:
    """Merge the shards of a run, each in a store of its own, into one run of another store.

    Stores that are named by their addresses are opened one after the other, and the target when all shards were found.

    Raises:
        BadInput: a shard is missing, is there twice, has not ended, or was made under other conditions; says which.
    """
    shards = find_shards(stores, run_id)
    into = at(target)
    return Run(run_in_loop(lambda _: merge_shards(shards, into)), into)


def _prepared(task: TaskLike, options: RunOptions) -> Prepared:
    if options.agent is None and options.replies is None:
        raise BadInput("Name the agent to evaluate: evaluate(task, agent=...).")
    with gc_paused():
        prepared = prepare(task, options)
    if options.progress is not None:
        for note in prepared.job.task.notes:
            options.progress.tell(note)
    return prepared


def _ended(prepared: Prepared, record: RunRecord, progress: Progress) -> Run:
    job, status = prepared.job, progress.status
    if record.state == "stopped":
        raise Stopped(record.id)
    if prepared.resumed and not status.here and (status.is_complete or status.is_decided):
        progress.tell(_nothing_run(record, prepared.store, retried=job.retry_failed))
    return Run(record, prepared.store, job.task.summarise)


def _nothing_run(record: RunRecord, store: Store, *, retried: bool) -> Sentence:
    """Say why calling a stored run again ran nothing."""
    values = {
        "count": record.planned,
        "run": record.id,
        "when": time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created)),
    }
    if record.looked is not None and record.looked.saved:
        return say(
            "Nothing was run: '{run}' had decided {rule}. To run the rest all the same: proctor run --run {run} --until end",
            run=record.id,
            rule="" if record.spec.until is None else record.spec.until.rule,
        )
    failed = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in INFRASTRUCTURE)
    if failed and not retried:
        return say(
            "Nothing was run: every one of the {count} trials of '{run}' (begun {when}) has ended, {failed} of them without a result. To run those again add --retry-failed; for a new run choose another name (--run).",
            **values,
            failed=failed,
        )
    return say(
        "Nothing was run: the {count} trials of '{run}' (begun {when}) were finished before, with the same code and options. For a new run choose another name (--run).",
        **values,
    )
