"""What the doors call: evaluate, score, rescore, open_run, compare and the Run object."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from msgspec.structs import replace

from proctor.api import numbers, resolve
from proctor.api.loop import run_in_loop
from proctor.api.prepare import How, Prepared, at, check_money, judge_of, may_exist, no_judge, prepare, with_judges
from proctor.api.resuming import with_code
from proctor.api.run import Run
from proctor.config import converted
from proctor.core.errors import BadInput, Stopped
from proctor.core.judge import JudgeChoice
from proctor.core.run import Budget, RunRecord, Selection
from proctor.core.sentence import Sentence, say
from proctor.core.task import Scorer, Store, Summarise
from proctor.core.trajectory import Trajectory
from proctor.core.trial import INFRASTRUCTURE, Failure
from proctor.engine.evaluate import Job
from proctor.engine.evaluate import evaluate as run_job
from proctor.engine.progress import Progress
from proctor.engine.recorded import collected
from proctor.engine.rescore import rescore as rescore_trials
from proctor.runtime.garbage import sought_seldom, unsought

if TYPE_CHECKING:
    from proctor.reports.compare import Comparison

__all__ = [
    "Run",
    "Stopped",
    "at",
    "compare",
    "copy_run",
    "evaluate",
    "evaluate_async",
    "open_run",
    "rescore",
    "runs",
    "score",
]


def evaluate(task: resolve.TaskLike, *, agent: resolve.AgentLike, **how: Unpack[How]) -> Run:
    """Run a task with an agent, and give back the run with its numbers. `How` lists the further arguments.

    With the `run_id` of a stored run it goes on where that one stopped. Inside a running event loop (a
    notebook) it works in a thread of its own.

    Raises:
        BadInput: anything the caller can fix, found before or by the first call of the agent.
        Stopped: Ctrl-C or SIGTERM; what was finished is kept.

    >>> from proctor import Sample, Task, evaluate
    >>> task = Task(name="capitals", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])
    >>> run = evaluate(task, agent=lambda question: "Paris", store=":memory:")
    >>> run.estimate("accuracy").value, dict(run.outcomes)
    (1.0, {'scored': 1})
    """
    return run_in_loop(lambda stop: _evaluate(task, agent, stop, how))


async def evaluate_async(task: resolve.TaskLike, *, agent: resolve.AgentLike, **how: Unpack[How]) -> Run:
    """The same as `evaluate`, in the running event loop. Cancelling it keeps what was finished."""
    return await _evaluate(task, agent, asyncio.Event(), how)


def score(
    task: resolve.TaskLike,
    *,
    replies: str | Path,
    **how: Unpack[How],
) -> Run:
    """Score recorded replies; no agent is called. `How` lists the further arguments.

    `replies` is what the task's benchmark writes (for `bfcl` an official result file or folder), or JSON
    lines with `id` and `answer`, `calls` or `trajectory`, or spans, whose conversations are put to samples by id or by
    the words of the user (`evalsets.traces`). With the `run_id` of a stored run it goes on with the
    replies that are not scored there.

    Raises:
        BadInput: a malformed line, a reply for an unknown sample, or two for the same.
        Stopped: Ctrl-C or SIGTERM; what was scored is kept.
    """
    path = Path(replies)
    if not path.exists():
        raise BadInput("There is no file or folder {path}.", path=path)
    options = dict(how.get("options") or {})
    folder, _, rest = task.partition("/") if isinstance(task, str) else ("", "", "")
    part = resolve.benchmark(folder)
    if part is not None and part.replies is not None:
        found: Iterable[tuple[str, Trajectory | Failure]] | None = part.replies(
            path, {**({"category": rest} if rest else {}), **options}
        )
    else:
        from proctor.agents import replay
        from proctor.traces import is_trace

        found = None if is_trace(path) else replay.read(path)
    prepared = prepare(task, resolve.Recorded(path), **how)
    job, spec = prepared.job, prepared.job.record.spec
    if found is None:
        from proctor.traces.replies import replies as in_traces

        told = in_traces(path, job.samples(), attempts=spec.attempts)
        found, job = told.found, replace(job, record=replace(job.record, warnings=told.notes))
    is_whole = spec.selection == Selection()
    kept = collected(found, job.samples(), task=job.task.name, attempts=spec.attempts, is_whole=is_whole)
    job = replace(job, replies=kept)
    return run_in_loop(lambda stop: _run(job, prepared, how.get("progress"), stop))


def rescore(
    run: Run | str,
    *,
    scorers: Sequence[str | Scorer],
    judge: str | None = None,
    judge_options: Mapping[str, Any] | None = None,
    store: str | Store | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Apply scorers to the stored trajectories of a run; no agent is called, and no trial is changed.

    Raises:
        Stopped: Ctrl-C or SIGTERM; the verdicts so far are kept.
    """
    run = run if isinstance(run, Run) else open_run(run, store=store)
    model, model_options = judge_of(judge, judge_options, run.record)
    bound = resolve.scorers(scorers, JudgeChoice(model=model, options=model_options))
    judges = resolve.judges_of(bound)
    if judge is not None and not judges:
        raise no_judge()
    limit = budget if isinstance(budget, Budget) else converted(budget or {}, Budget, "budget")
    check_money(limit, judges)
    names = [*run.record.scorers, *(scorer.name for scorer in bound if scorer.name not in run.record.scorers)]
    replaced = {scorer.name for scorer in bound}
    kept = (one for one in run.record.spec.scorers if not replaced & {one, one.rpartition(":")[2]})
    references = [*kept, *(scorer.reference for scorer in bound)]
    spec = replace(run.record.spec, scorers=tuple(dict.fromkeys(references)))
    if judges:
        spec = replace(spec, judge=model, judge_options=model_options)
    files = {"scorers": resolve.files_of_scorers(bound), "judge": resolve.files_of_judges(model_options, judges)}
    provenance = with_judges(with_code(run.record.provenance, files), judges)
    record = replace(run.record, scorers=tuple(names), spec=spec, provenance=provenance)

    record, summarise = _summarised_by(run, record)

    async def work(stop: asyncio.Event) -> None:
        nonlocal record
        await run.store.begin(record)
        try:
            await rescore_trials(
                record,
                run.store,
                bound,
                progress=progress or Progress(),
                stop=stop,
                budget=limit,
                concurrency=concurrency,
            )
        finally:
            if record.official is not None:
                record = numbers.concluded(record, run.store, summarise)
            await run.store.end(record)
        if stop.is_set():
            raise Stopped(record.id)

    run_in_loop(work)
    return Run(record, run.store, run.summarise)


def _summarised_by(run: Run, record: RunRecord) -> tuple[RunRecord, Summarise | None]:
    """What makes the official aggregates again; where nothing can, the record keeps none, as they would be of old."""
    if run.summarise is not None:
        return record, run.summarise
    try:
        found = numbers.summarise_again(record)
    except BadInput:
        return replace(record, official=None), None
    return replace(record, official=()), found


def compare(
    first: Run, second: Run, *, level: float = 0.95, seed: int = 0, detect: float | None = None
) -> "Comparison":
    """The second run against the first, paired on the samples both have scored.

    `rows[0].outcome` is what was found: `better`, `worse` or `inconclusive`.

    Args:
        detect: a difference, 0 to 1; `needed` then says how many samples find it.

    Raises:
        BadInput: other tasks, or nothing in common.
    """
    from proctor.reports.compare import compare as compare_runs

    return compare_runs(
        (first.record, first.store), (second.record, second.store), level=level, seed=seed, detect=detect
    )


def open_run(run_id: str, *, store: str | Store | None = None) -> Run:
    """A stored run by its id.

    Raises:
        BadInput: the store has no such run; the nearest id is named.
    """
    if isinstance(store, str) and not may_exist(store):
        raise BadInput("There is no store {path}. `proctor runs` lists the runs of the usual one.", path=store)
    from proctor.stores.copy import check_whole

    opened = at(store)
    record = opened.run(run_id)
    check_whole(record)
    return Run(record, opened)


def runs(*, store: str | Store | None = None) -> list[RunRecord]:
    """The records of all stored runs, the newest first."""
    return sorted(at(store).runs(), key=lambda record: record.created, reverse=True)


def copy_run(run_id: str, source: Store, target: Store) -> None:
    """Copy a run with all its trials and verdicts to another store."""
    from proctor.stores.copy import copy

    run_in_loop(lambda _: copy(source, target, run_id))


async def _evaluate(task: resolve.TaskLike, agent: resolve.AgentLike, stop: asyncio.Event, how: How) -> Run:
    with unsought():
        prepared = prepare(task, agent, **how)
    return await _run(prepared.job, prepared, how.get("progress"), stop)


async def _run(job: Job, prepared: Prepared, shown: Progress | None, stop: asyncio.Event) -> Run:
    progress, store = shown or Progress(), prepared.store
    try:
        with sought_seldom():
            record = await run_job(job, store, progress=progress, stop=stop)
    except BadInput as error:
        if progress.done:
            error.run_id = job.record.id
            error.add_note(f"Everything finished is kept; go on with run_id={job.record.id!r}.")
        raise
    except asyncio.CancelledError:
        if stop.is_set():  # a second Ctrl-C
            raise Stopped(job.record.id) from None
        raise
    if stop.is_set() and record.state == "stopped":
        raise Stopped(record.id)
    if prepared.resumed and not progress.here and progress.done == progress.total:
        progress.tell(_nothing_run(record, store, retried=job.retry_failed))
    return Run(record, store, job.task.summarise)


def _nothing_run(record: RunRecord, store: Store, *, retried: bool) -> Sentence:
    """Why calling a stored run again ran nothing."""
    values = {
        "count": record.planned,
        "run": record.id,
        "when": time.strftime("%Y-%m-%d %H:%M", time.localtime(record.created)),
    }
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
