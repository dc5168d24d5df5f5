"""Prepare a job that the engine can run: resolve every name, and find every mistake, before anything is called."""

import os
import platform
import secrets
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api import numbers, resolve
from proctor.api.bars import check_bars
from proctor.api.baselines import find_against
from proctor.api.keys import refuse_keys
from proctor.api.looks import END, looks
from proctor.api.names import check_run_id, make_slug
from proctor.api.options import RunOptions, approve_of, blamed_of, judge_of
from proctor.api.resuming import check_code, check_conditions, movable, with_code
from proctor.api.shards import store_of_shard
from proctor.api.sources import git_state
from proctor.api.stages import check_more, has_ended, plan_stage
from proctor.config import settings, store_url
from proctor.core.declared import AgentInfo, UserInfo, declared
from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE, JudgeChoice, JudgeInfo
from proctor.core.main_number import check_names
from proctor.core.run import Budget, Price, RunRecord, RunSpec, SpreadDraw, Strata, Until
from proctor.core.sentence import Sentence, say
from proctor.core.shard import shard_of
from proctor.core.task import Agent, AgentChoice, ShardedStore, Store, Summarise, Task
from proctor.core.version import __version__
from proctor.engine.clusters import cluster_of
from proctor.engine.job import Job
from proctor.engine.looking import LookWatch
from proctor.engine.scoring import BoundScorer
from proctor.engine.selection import MOST_LAZY, ChosenSamples, choose
from proctor.stores.copy import check_whole

WORKER = (sys.executable, "-m", f"{__package__}.worker")
AT_ONCE = 16  # for an agent that does not say how many samples it can take at once


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A job and the store it goes to."""

    job: Job
    store: Store
    resumed: bool


class _Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that the options of a run name; `stored` is the run to resume, None for a new one."""

    task: Task
    named_task: resolve.Named
    named_user: resolve.Named | None
    agent: Agent
    named_agent: resolve.Named
    named_environment: resolve.Named
    scorers: Sequence[BoundScorer]
    judges: Mapping[str, JudgeInfo]
    store: Store
    stored: RunRecord | None
    spec: RunSpec


def prepare(task: resolve.TaskLike, options: RunOptions) -> Prepared:
    """Resolve every name and check every value, before anything is called or written.

    Raises:
        BadInput: whatever the caller can fix.
    """
    options.check()
    parts = _resolve(task, options)
    for what, given in _stored_texts(parts.spec).items():
        refuse_keys(what, given)
    parts = _with_stage(parts, options)
    samples = _choose(parts, _planned_ids(parts.stored, parts.store))
    spread = _spread(parts, options, samples.strata)
    if isinstance(spread, SpreadDraw):
        samples = _choose(parts, spread.ids)
        samples = replace(samples, strata=replace(samples.strata, spread=spread))
    if isinstance(parts.store, ShardedStore):
        parts.store.read = samples.read
        parts.store.check = partial(check_code, accept=options.accept_changes)
    if options.more is not None and parts.stored is None:
        check_more(samples.strata, options)
        samples = replace(samples, strata=replace(samples.strata, announced=options.more))
    record = _record(parts, options, samples.strata)
    if isinstance(spread, Sentence):
        record = replace(record, warnings=(*record.warnings, spread))
    if parts.stored is None and samples.strata.total <= MOST_LAZY:
        record = replace(record, known=None if record.spec.until is None else looks().know(record, parts.store))
    if options.bars:
        check_bars(options.bars, record, samples.read(), has_official=parts.task.summarise is not None)
    return Prepared(job=_job(parts, options, record, samples), store=parts.store, resumed=parts.stored is not None)


def _choose(parts: _Parts, planned: Collection[str] | None) -> ChosenSamples:
    shard, is_shared = parts.spec.shard, isinstance(parts.store, ShardedStore)
    return choose(
        parts.task,
        parts.spec.selection,
        parts.spec.seed,
        order=parts.spec.order,
        planned=planned,
        stages=_later(parts.stored),
        is_looked_at=parts.spec.until is not None,
        shard=shard if planned is None or is_shared else None,  # else the stored plan is the shard
    )


def _spread(parts: _Parts, options: RunOptions, strata: Strata) -> SpreadDraw | Sentence | None:
    """Return the samples that a new run of some samples draws by what stored runs know, or why these know too few.

    None where it draws by the seed alone.
    """
    spec, limit = parts.spec, parts.spec.selection.limit
    if parts.stored is not None or limit is None or spec.shard is not None or options.more is not None:
        return None
    if not limit < strata.total <= MOST_LAZY:
        return None
    from proctor.engine.spread_drawing import draw_known, find_unknown, has_samples  # only needed here
    from proctor.reports.history import find_same_draw, read_history
    from proctor.stats.item_fit import find_agreement

    record = _record(parts, options, strata)
    same = find_same_draw(record, parts.store)
    if same is not None and (same.spread is None or has_samples(parts.task, spec.selection, same.spread.ids)):
        return same.spread
    history = read_history(record, parts.store)
    if not history.runs:
        return None
    drawn = draw_known(parts.task, spec.selection, spec.seed, history.expected)
    if drawn is None:
        unknown = find_unknown(parts.task, spec.selection, history.expected)
        return (
            None
            if unknown is None
            else _too_few(len(history.runs), strata.total, unknown, next(iter(history.expected), ""))
        )
    agreement = find_agreement(history.systems)
    return SpreadDraw(
        ids=tuple(drawn),
        expected=tuple(drawn.values()),
        runs=len(history.runs),
        agreement=None if agreement is None else agreement[:2],
        systems=0 if agreement is None else agreement[2],
    )


def _too_few(runs: int, total: int, unknown: tuple[int, str], other: str) -> Sentence:
    known, missing = unknown
    return say(
        "Stored runs ({runs}) know {known} of the {total} samples of this task, too few to draw by; they know '{other}', not '{missing}'. A log takes the task's ids from its metadata: proctor runs import FILE --id KEY",
        runs=runs,
        known=known,
        total=total,
        other=other[:100],
        missing=missing[:100],
    )


def _with_stage(parts: _Parts, options: RunOptions) -> _Parts:
    """Return the parts, the stored run among them planned to draw further samples if that is wanted, and what was planned has ended."""
    stored = parts.stored
    if options.more is None or stored is None or not has_ended(stored, parts.store):
        return parts
    return msgspec.structs.replace(parts, stored=plan_stage(stored, parts.store, parts.task, options))


def _later(stored: RunRecord | None) -> Sequence[Sequence[str]]:
    known = None if stored is None else stored.strata
    return [] if known is None else [stage.ids for stage in known.stages[1:]]


def _resolve(task: resolve.TaskLike, options: RunOptions) -> _Parts:
    """Find task, agent, scorers and judges by their names, once."""
    made_task, named_task, named_user = resolve.task_with_user(
        task,
        options.options or {},
        options.user,
        options.user_options or {},
        seed=options.seed or 0,
        talked_with=options.replies is None,
    )
    agent = options.agent if options.replies is None else resolve.RecordedReplies(Path(options.replies))
    made_agent, named_agent = resolve.agent(agent, options.agent_options or {})
    choice = AgentChoice(name=agent if isinstance(agent, str) else None, options=options.agent_options or {})
    made_task, named_environment = resolve.environment(
        made_task, options.environments, options.environment_options or {}, acted_in=options.replies is None
    )
    made_task = _with_listed_samples(made_task)
    _check_acting(made_task, options)
    store = store_of_shard(at(options.store), shard_of(options.shard))
    stored = _stored(store, options.run_id)
    if stored is not None:
        stored = _settled(stored, made_task, options)
        if stored.spec.task != named_task.name:
            check_conditions(stored, replace(stored, spec=replace(stored.spec, task=named_task.name)))
    kept = stored.spec if stored is not None else None
    model, model_options = judge_of(options.judge, options.judge_options, stored)
    names = options.scorers or (made_task.scorers if kept is None else kept.scorers)
    bound = resolve.scorers_of(made_task, names, JudgeChoice(model=model, options=model_options))
    judges = judges_asked(bound, options.judge)
    spec = replace(
        options.spec(named_task.name, named_agent.name, stored=kept),
        scorers=kept.scorers if kept and not options.scorers else tuple(scorer.reference for scorer in bound),
        judge=model if judges else None,
        judge_options=model_options if judges else {},
        user=named_user.name if named_user is not None and options.user is not None else None,
        until=_until(options, stored, store),
    )
    return _Parts(
        task=made_task,
        named_task=named_task,
        named_user=named_user,
        agent=resolve.played(made_agent, made_task, choice),
        named_agent=named_agent,
        named_environment=named_environment,
        scorers=bound,
        judges=judges,
        store=store,
        stored=stored,
        spec=spec,
    )


def _with_listed_samples(task: Task) -> Task:
    """Return the task with its samples in a list where an iterator gives them, which can be read only once."""
    return replace(task, samples=list(task.samples)) if isinstance(task.samples, Iterator) else task


def _check_acting(task: Task, options: RunOptions) -> None:
    """Refuse faults and approvals where nothing could meet or give them."""
    if options.perturb and options.replies is None and task.environment is None:
        raise BadInput(
            "--perturb puts faults between an agent and the tools of an environment; the task {task} has none, and an agent's own tools are out of reach. Name one: --environment python:./tools.py:Tools",
            task=task.name,
        )
    if approve_of(options.approve) == "ask" and options.replies is None and task.user is None:
        raise BadInput(
            "--approve ask needs a simulated user, such as --user scripted:FILE or --user model:openai:MODEL."
        )


def _settled(stored: RunRecord, task: Task, options: RunOptions) -> RunRecord:
    """Return the stored run with what nobody could decide so far: no number rests on it yet."""
    spec = stored.spec
    if spec.approve is None and task.user is None:
        spec = replace(spec, approve=approve_of(options.approve))
    if spec.on_agent_error is None:  # what is undecided is in no mean
        spec = replace(spec, on_agent_error=blamed_of(options.on_agent_error))
    return replace(stored, spec=spec)


def _until(options: RunOptions, stored: RunRecord | None, store: Store) -> Until | None:
    """Return what the run is looked at for."""
    if isinstance(options.until, Until) and options.against is None and options.error is None:
        return options.until
    if options.until == END:
        if stored is None or stored.spec.until is None:
            raise BadInput("--until end runs the rest of a run that ended early: name it with --run.")
        return stored.spec.until
    if options.until is None or isinstance(options.until, Until):
        if options.against is not None or options.error is not None:
            raise BadInput("--against and --error go with --until RULE.")
        return None
    if options.replies is not None:
        raise BadInput("--until goes with an agent that is called; recorded replies cost nothing.")
    against = find_against(store, options.against).id if options.against else ""
    return looks().read(options.until, against, options.error)


def _record(parts: _Parts, options: RunOptions, strata: Strata | None) -> RunRecord:
    """Return the record of a new run, or that of the stored one under the same conditions and with the same code."""
    official = None if parts.task.summarise is not None else ()  # until the run ends
    scorers = tuple(scorer.name for scorer in parts.scorers)
    record = RunRecord(
        id=options.run_id or new_id(parts.task.name),
        spec=parts.spec,
        task=parts.task.name,
        task_version=parts.task.version,
        agent=parts.agent.name,
        scorers=scorers,
        main=next(iter(scorers), ""),
        created=time.time(),
        proctor_version=__version__,
        provenance=with_judges(_provenance(parts), parts.judges),
        strata=strata,
        official=official,
    )
    stored = parts.stored
    if stored is None:
        check_names(scorers)
        return record
    check_conditions(stored, record)
    moved = {name: getattr(parts.spec, name) for name in movable(stored)}
    return replace(
        check_code(stored, record, accept=options.accept_changes),
        spec=replace(stored.spec, **moved),
        strata=stored.strata if stored.planned else strata,
        official=official,
    )


def _job(parts: _Parts, options: RunOptions, record: RunRecord, samples: ChosenSamples) -> Job:
    spec, task = parts.spec, parts.task
    job = Job(
        record=record,
        task=task,
        agent=parts.agent,
        scorers=parts.scorers,
        samples=samples.whole if isinstance(parts.store, ShardedStore) else samples.read,
        visits=samples.visits,
        conclude=partial(_conclude, task.summarise),
        retry_failed=options.retry_failed,
        cache=options.cache,
        price=_price(parts.agent, spec.budget, parts.judges, declared(UserInfo, task.user).unpriced),
        concurrency=spec.concurrency,
        at_once=spec.concurrency or declared(AgentInfo, parts.agent).concurrency or max(AT_ONCE, spec.workers or 1),
        processes=_processes(spec, record),
        on=spec.on,
        worker=WORKER,
        watch=_watch(parts, options, record),
    )
    if options.replies is None:
        return job
    name = parts.named_task.name if parts.named_task.again else None
    from proctor.api.replies import with_replies  # what reads traces is slow to load

    return with_replies(job, Path(options.replies), name)


def _conclude(summarise: Summarise | None, record: RunRecord, store: Store) -> RunRecord:
    return record if isinstance(store, ShardedStore) else numbers.conclude(record, store, summarise)


def _watch(parts: _Parts, options: RunOptions, record: RunRecord) -> LookWatch | None:
    """Return what looks at the run; a run of a race is looked at by the race alone."""
    until = parts.spec.until
    if until is None or until.among or options.until == END:
        return None
    watch: LookWatch = looks().watch(until, record, parts.store)
    return watch


def resumable(run_id: str, store: str | Store | None) -> tuple[str, RunOptions]:
    """Return the task of a stored run and the options that made it, to resume it.

    Raises:
        BadInput: no such run, or one made from Python objects, which only Python can give again.
    """
    opened = at(store)
    record = opened.run(run_id)
    check_whole(record)
    return record.spec.task, RunOptions.of_run(record, opened)


def _stored_texts(spec: RunSpec) -> dict[str, object]:
    """Return what is stored with a run as it was given, by what it is."""
    return {
        "task": spec.task,
        "task_options": spec.task_options,
        "agent": spec.agent,
        "agent_options": spec.agent_options,
        "environment": list(spec.environment),
        "environment_options": spec.environment_options,
        "judge": spec.judge_options,
        "user": spec.user_options,
        "tags": spec.selection.tags,
    }


def no_judge() -> BadInput:
    """Return the error for a judge that nothing would ask."""
    return BadInput("No scorer asks a judge. Add one, for example --scorer rubric:answer-quality.")


def judges_asked(scorers: Sequence[BoundScorer], judge: str | None) -> Mapping[str, JudgeInfo]:
    """Return the judges that scorers ask.

    Raises:
        BadInput: a judge is named, and none of them asks one.
    """
    judges = resolve.judges_of(scorers)
    if judge is not None and not judges:
        raise no_judge()
    return judges


def with_judges(provenance: Mapping[str, Any], judges: Mapping[str, JudgeInfo]) -> dict[str, object]:
    known = {**provenance.get(PROVENANCE, {}), **msgspec.to_builtins(judges)}
    return {**provenance, PROVENANCE: known} if known else dict(provenance)


def at(store: str | Store | None) -> Store:
    """Open the store at a path or address; the one of the settings when None."""
    if store is None or isinstance(store, str):
        from proctor.stores import open_store

        return open_store(store_url(store, settings()))
    return store


def open_existing(store: str | Store | None, *, skip_damaged: bool = False) -> Store:
    """Open a store that is read; where there is none of that name, none is made.

    Args:
        skip_damaged: trials whose records cannot be read are left out; `stores.tables.TableStore.damaged` names them.

    Raises:
        BadInput: there is none.
    """
    if isinstance(store, str):
        check_existing(store)
    opened = at(store)
    if skip_damaged:
        from proctor.stores.tables import TableStore  # only needed here

        if isinstance(opened, TableStore):
            opened.skips_damaged = True
    return opened


def check_existing(store: str) -> None:
    """Raise a `BadInput` if there is certainly no store of this name."""
    if not (store == ":memory:" or "://" in store or Path(store).expanduser().exists()):
        raise BadInput("There is no store {path}. `proctor runs` lists the runs of the usual one.", path=store)


def new_id(task: str) -> str:
    """Make a run id that names task and time, and that no other run has: hundreds may begin in one second.

    >>> check_run_id(new_id("bfcl/simple_python,irrelevance"))
    """
    return f"{make_slug(task, 40)}-{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(4)}"


def _stored(store: Store, run_id: str | None) -> RunRecord | None:
    if run_id is None:
        return None
    check_run_id(run_id)
    if all(record.id != run_id for record in store.runs()):
        return None
    stored = store.run(run_id)
    check_whole(stored)
    return stored


def _planned_ids(stored: RunRecord | None, store: Store) -> Collection[str] | None:
    """Return the ids that a stored run drew: an earlier version may have drawn by another rule."""
    if stored is None or not stored.planned or stored.spec.selection.limit is None:
        return None
    later = [id for ids in _later(stored) for id in ids]
    known = [sample.id for sample in store.planned(stored.id)]
    return dict.fromkeys([*known, *later])


def _provenance(parts: _Parts) -> dict[str, object]:
    named_task, named_agent = parts.named_task, parts.named_agent
    fields = {"python": platform.python_version(), "machine": platform.machine(), **parts.task.provenance}
    files = {
        "agent": named_agent.files,
        "task": named_task.files,
        "scorers": resolve.files_of_scorers(parts.scorers),
        "judge": resolve.files_of_judges(parts.spec.judge_options, parts.judges),
        "user": parts.named_user.files if parts.named_user is not None else {},
        "environment": parts.named_environment.files,
    }
    fields = with_code(fields, files)
    if git := git_state(Path.cwd()):
        fields["git"] = git
    if named_task.source:
        fields["task_source"] = named_task.source
    if named_agent.source:
        fields["agent_source"] = named_agent.source
    if price := declared(AgentInfo, parts.agent).price_source:
        fields["price"] = price
    is_again = parts.named_user is None or parts.named_user.again
    if not (named_task.again and named_agent.again and is_again):
        fields["continue_from"] = "python"
    return fields


def _processes(spec: RunSpec, record: RunRecord) -> int:
    is_elsewhere = spec.on is not None or (spec.workers is not None and spec.workers > 1)
    if is_elsewhere and "continue_from" in record.provenance:
        raise BadInput("Several processes need task and agent given by name or path, not as Python objects.")
    if spec.on is None:
        return spec.workers or 1
    _, address = cluster_of(spec.on)
    if address and spec.workers is None:
        raise BadInput("Say with --workers how many processes the run may have on the machines of {on}.", on=spec.on)
    return spec.workers or os.cpu_count() or 1


def check_money(budget: Budget, judges: Mapping[str, JudgeInfo], unpriced: Sequence[str] = ()) -> None:
    """Refuse a budget in money if the price of a judge or of another model is unknown."""
    if budget.money is None:
        return
    for model in (*unpriced, *(name for about in judges.values() for name in about.unpriced)):
        raise BadInput(
            'A budget in money needs a price. Write it into proctor.toml: [prices."{model}"] input = 1.0, output = 2.0 (for a million tokens).',
            model=model,
        )


def _price(agent: Agent, budget: Budget, judges: Mapping[str, JudgeInfo], unpriced: Sequence[str] = ()) -> Price | None:
    about = declared(AgentInfo, agent)
    model = about.model if isinstance(about.model, str) else None
    price = settings().prices.get(model) if model else None
    is_known = price is not None or about.reports_cost
    if budget.money is not None and not is_known and not model:
        raise BadInput(
            "A budget in money cannot hold the agent {agent}: what it costs is not known. Set a budget of minutes instead, or of tokens or requests if it tells them.",
            agent=agent.name,
        )
    check_money(budget, judges, unpriced if is_known or model is None else (model, *unpriced))
    return price
