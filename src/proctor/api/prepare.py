"""From what a caller gives to a job that the engine can run: every name resolved, every mistake found."""

import math
import platform
import re
import secrets
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, get_args

import msgspec
from msgspec.structs import replace

import proctor
from proctor.api import numbers, resolve
from proctor.api.keys import refuse_keys
from proctor.api.resuming import check_code, check_conditions, movable, with_code
from proctor.api.sources import git_state
from proctor.calibration.figures import PROVENANCE
from proctor.config import converted, judge_name, settings, store_url
from proctor.core.declared import AgentInfo, declared
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice, JudgeInfo
from proctor.core.run import Budget, Limits, Order, Price, RunRecord, RunSpec, Selection, Target
from proctor.core.task import Agent, Scorer, Store, Task
from proctor.engine.evaluate import Job
from proctor.engine.progress import Progress
from proctor.engine.scoring import BoundScorer
from proctor.engine.selection import chosen
from proctor.stores.copy import check_whole

T = TypeVar("T")
AT_ONCE = 16  # for an agent that does not say how many samples it can take at once
LARGEST_SEED = 2**63 - 1  # as a stored number can be
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class How(TypedDict, total=False):
    """The arguments of `evaluate` beside task and agent.

    options, agent_options: for a task or an agent given by name. limit, first, ids, tags: which samples
    (`limit` draws at random with the seed). order: in which they are visited, `random` or `official`. target: what the
    intervals are about, `samples` (samples like these) or `suite` (the very samples of the task). attempts: how often each. concurrency: how many at once.
    workers: in how many processes, for agents that need CPU.
    scorers: instead of the task's own. judge, judge_options: the model that scorers ask, where they ask one.
    store: a path, an address, or an open store. run_id: the name of the run; that of a stored run goes on with it.
    budget, limits: bounds of the run and of one attempt.
    max_failed: the share of infrastructure failures above which a run is inconclusive. retry_failed: when
    going on, run those again. accept_changes: go on although files of the agent, the task or a scorer changed. cache: take the model's replies from the reply cache. progress: counts that a
    display can read.
    """

    options: Mapping[str, Any] | None
    agent_options: Mapping[str, Any] | None
    limit: int | None
    first: int | None
    ids: Sequence[str]
    tags: Mapping[str, str] | None
    order: Order
    target: Target
    attempts: int
    concurrency: int | None
    workers: int | None
    scorers: Sequence[str | Scorer] | None
    judge: str | None
    judge_options: Mapping[str, Any] | None
    seed: int
    store: str | Store | None
    run_id: str | None
    budget: Budget | Mapping[str, Any] | None
    limits: Limits | Mapping[str, Any] | None
    max_failed: float | None
    retry_failed: bool
    accept_changes: bool
    cache: bool
    progress: Progress | None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A job and the store it goes to."""

    job: Job
    store: Store
    resumed: bool


WORKER = (sys.executable, "-m", f"{__package__}.worker")


def prepare(
    task: resolve.TaskLike,
    agent: resolve.AgentLike,
    *,
    options: Mapping[str, Any] | None = None,
    agent_options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    first: int | None = None,
    ids: Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
    order: Order = "random",
    target: Target = "samples",
    attempts: int = 1,
    concurrency: int | None = None,
    workers: int | None = None,
    scorers: Sequence[str | Scorer] | None = None,
    judge: str | None = None,
    judge_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    store: str | Store | None = None,
    run_id: str | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    max_failed: float | None = None,
    retry_failed: bool = False,
    accept_changes: bool = False,
    cache: bool = False,
    progress: Progress | None = None,  # noqa: ARG001 - part of the same arguments, used by the caller
) -> Prepared:
    """Resolve every name and check every value, before anything is called or written.

    Raises:
        BadInput: whatever the caller can fix.
    """
    _check_counts(seed, limit=limit, first=first, attempts=attempts, concurrency=concurrency, workers=workers)
    made_task, named_task = resolve.task(task, options or {})
    made_agent, named_agent = resolve.agent(agent, agent_options or {})
    opened = at(store)
    stored = _stored(opened, run_id)
    if stored is not None and stored.spec.task != named_task.name:
        check_conditions(stored, replace(stored, spec=replace(stored.spec, task=named_task.name)))
    kept = stored.spec if stored is not None else None
    model, model_options = judge_of(judge, judge_options, stored)
    wanted = scorers or (kept.scorers if kept is not None else made_task.scorers)
    bound = resolve.scorers_of(made_task, wanted, JudgeChoice(model=model, options=model_options))
    judges = resolve.judges_of(bound)
    if judge is not None and not judges:
        raise no_judge()
    spec = RunSpec(
        task=named_task.name,
        agent=named_agent.name,
        task_options=options or {},
        agent_options=agent_options or {},
        scorers=kept.scorers if kept is not None and not scorers else tuple(one.reference for one in bound),
        judge=model if judges else None,
        judge_options=model_options if judges else {},
        attempts=attempts,
        seed=seed,
        selection=Selection(limit=limit, first=first, ids=tuple(ids), tags=tags or {}),
        limits=_limits(limits, kept),
        budget=budget if isinstance(budget, Budget) else converted(budget or {}, Budget, "budget"),
        max_failed=_share(max_failed, kept),
        concurrency=concurrency if concurrency is not None or kept is None else kept.concurrency,
        workers=workers if workers is not None or kept is None else kept.workers,
        order=_one_of("order", order, get_args(Order)),
        target=_one_of("target", target, get_args(Target)),
    )
    stored_texts = {
        "task": spec.task,
        "task_options": spec.task_options,
        "agent": spec.agent,
        "agent_options": spec.agent_options,
        "judge": spec.judge_options,
        "tags": spec.selection.tags,
    }
    for what, given in stored_texts.items():
        refuse_keys(what, given)
    samples = chosen(made_task, spec.selection, seed, order=order, planned=_planned(stored, opened))
    record = RunRecord(
        id=run_id or new_id(made_task.name),
        spec=spec,
        task=made_task.name,
        task_version=made_task.version,
        agent=made_agent.name,
        scorers=tuple(scorer.name for scorer in bound),
        created=time.time(),
        proctor_version=proctor.__version__,
        provenance=with_judges(_provenance(made_task, named_task, named_agent, bound, spec, judges), judges),
        strata=samples.strata,
        official=None if made_task.summarise is not None else (),  # until the run ends
    )
    if stored is not None:
        check_conditions(stored, record)
        moved = {name: getattr(spec, name) for name in movable(stored)}
        record = replace(
            check_code(stored, record, accept=accept_changes),
            spec=replace(stored.spec, **moved),
            strata=stored.strata if stored.planned else record.strata,
            official=None if made_task.summarise is not None else (),  # until the run ends
        )
    return Prepared(
        job=Job(
            record=record,
            task=made_task,
            agent=resolve.with_oracle(made_agent, made_task),
            scorers=bound,
            samples=samples.read,
            visits=samples.visits,
            conclude=lambda record, store: numbers.concluded(record, store, made_task.summarise),
            retry_failed=retry_failed,
            cache=cache,
            price=_price(made_agent, spec.budget, judges),
            concurrency=spec.concurrency,
            at_once=spec.concurrency or declared(AgentInfo, made_agent).concurrency or AT_ONCE,
            processes=_processes(spec.workers, record),
            worker=WORKER,
        ),
        store=opened,
        resumed=stored is not None,
    )


def how_of(run_id: str, store: str | Store | None, *, concurrency: int | None = None) -> dict[str, Any]:
    """The arguments that made a stored run, to go on with it.

    Raises:
        BadInput: no such run, or one made from Python objects, which only Python can give again.
    """
    opened = at(store)
    record = opened.run(run_id)
    check_whole(record)
    if "continue_from" in record.provenance:
        raise BadInput(
            "The run '{run}' was made from Python objects; go on with it from Python: evaluate(..., run_id='{run}').",
            run=run_id,
        )
    spec = record.spec
    return {
        "task": spec.task,
        "agent": spec.agent,
        "options": spec.task_options,
        "agent_options": spec.agent_options,
        "limit": spec.selection.limit,
        "first": spec.selection.first,
        "ids": spec.selection.ids,
        "tags": spec.selection.tags,
        "order": spec.order,
        "target": spec.target,
        "attempts": spec.attempts,
        "seed": spec.seed,
        "scorers": spec.scorers,
        "judge": spec.judge,
        "judge_options": spec.judge_options,
        "limits": spec.limits,
        "budget": spec.budget,
        "max_failed": spec.max_failed,
        "concurrency": spec.concurrency if concurrency is None else concurrency,
        "workers": spec.workers,
        "store": opened,
    }


def judge_of(
    asked: str | None, options: Mapping[str, Any] | None, stored: RunRecord | None
) -> tuple[str | None, Mapping[str, Any]]:
    """The model that judges, with its options: asked for, else that of the stored run, else that of the settings."""
    if asked is not None:
        return asked, options or {}
    if stored is not None and stored.spec.judge is not None:
        return stored.spec.judge, {**stored.spec.judge_options, **(options or {})}
    found = settings()
    return judge_name(found), {**found.judge_options, **(options or {})}


def no_judge() -> BadInput:
    """The error for a judge that nothing would ask."""
    return BadInput("No scorer asks a judge. Add one, for example --scorer rubric:answer-quality.")


def with_judges(provenance: Mapping[str, Any], judges: Mapping[str, JudgeInfo]) -> dict[str, Any]:
    """Provenance that tells what judged, beside what it told before."""
    known = {**provenance.get(PROVENANCE, {}), **msgspec.to_builtins(judges)}
    return {**provenance, PROVENANCE: known} if known else dict(provenance)


def may_exist(store: str) -> bool:
    """Whether there may be a store under this name: reading from one that is not there would make an empty file."""
    return store == ":memory:" or "://" in store or Path(store).expanduser().exists()


def at(store: str | Store | None) -> Store:
    """The store behind a path or address; the one of the settings when None."""
    if store is None or isinstance(store, str):
        from proctor.stores import open_store

        return open_store(store_url(store, settings()))
    return store


def new_id(task: str) -> str:
    """A run id that says what and when, and is free.

    >>> bool(RUN_ID.fullmatch(new_id("bfcl/simple_python,irrelevance")))
    True
    """
    slug = re.sub(r"[^A-Za-z0-9]+", "-", task).strip("-")[:40] or "run"
    return f"{slug}-{time.strftime('%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def _check_counts(seed: int, **counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise BadInput("{name} must be at least 1, not {value}.", name=name, value=value)
    if not -LARGEST_SEED <= seed <= LARGEST_SEED:
        raise BadInput(
            "{name} must be between {low} and {high}, not {value}.",
            name="seed",
            low=-LARGEST_SEED,
            high=LARGEST_SEED,
            value=seed,
        )


def _limits(asked: Limits | Mapping[str, Any] | None, kept: RunSpec | None) -> Limits:
    """The limits asked for, else those of the stored run, else the usual ones."""
    if asked is None and kept is not None:
        return kept.limits
    found = asked if isinstance(asked, Limits) else converted(asked or {}, Limits, "limits")
    for name, value in msgspec.structs.asdict(found).items():
        if not 0 < value < math.inf:
            raise BadInput("{name} must be greater than 0, not {value}.", name=f"limits.{name}", value=value)
    return found


def _share(asked: float | None, kept: RunSpec | None) -> float:
    """The share of failures allowed: asked for, else that of the stored run, else the usual one."""
    if asked is None:
        return kept.max_failed if kept is not None else RunSpec(task="", agent="").max_failed
    if not 0 <= asked <= 1:
        raise BadInput("max_failed is a share from 0 to 1, not {value}.", value=asked)
    return asked


def _stored(store: Store, run_id: str | None) -> RunRecord | None:
    if run_id is None:
        return None
    if not RUN_ID.fullmatch(run_id):
        raise BadInput("'{run}' cannot be a run id: use letters, digits, '.', '_' and '-', at most 100.", run=run_id)
    stored = next((record for record in store.runs() if record.id == run_id), None)
    if stored is not None:
        check_whole(stored)
    return stored


def _planned(stored: RunRecord | None, store: Store) -> Collection[str] | None:
    """The ids that a stored run drew: the rule of the draw may have been another when it began."""
    if stored is None or not stored.planned or stored.spec.selection.limit is None:
        return None
    return [sample.id for sample in store.planned(stored.id)]


def _one_of(name: str, value: T, allowed: Sequence[T]) -> T:
    if value not in allowed:
        raise BadInput(
            "{name} cannot be '{value}'. It can be: {known}.",
            name=name,
            value=value,
            known=", ".join(map(str, allowed)),
        )
    return value


def _provenance(
    task: Task,
    named_task: resolve.Named,
    named_agent: resolve.Named,
    scorers: Sequence[BoundScorer],
    spec: RunSpec,
    judges: Mapping[str, JudgeInfo],
) -> dict[str, Any]:
    found: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine(), **task.provenance}
    parts = {
        "agent": named_agent.files,
        "task": named_task.files,
        "scorers": resolve.files_of_scorers(scorers),
        "judge": resolve.files_of_judges(spec.judge_options, judges),
    }
    found = with_code(found, parts)
    if git := git_state(Path.cwd()):
        found["git"] = git
    if named_task.source:
        found["task_source"] = named_task.source
    if named_agent.source:
        found["agent_source"] = named_agent.source
    if not (named_task.again and named_agent.again):
        found["continue_from"] = "python"
    return found


def _processes(workers: int | None, record: RunRecord) -> int:
    if workers is not None and workers > 1 and "continue_from" in record.provenance:
        raise BadInput("Several processes need task and agent given by name or path, not as Python objects.")
    return workers or 1


def check_money(budget: Budget, judges: Mapping[str, JudgeInfo], unpriced: Sequence[str] = ()) -> None:
    """Refuse a budget in money where it is not known what a judge costs, or one of the other models."""
    if budget.money is None:
        return
    for model in (*unpriced, *(one for about in judges.values() for one in about.unpriced)):
        raise BadInput(
            'A budget in money needs a price. Write it into proctor.toml: [prices."{model}"] input = 1.0, output = 2.0 (for a million tokens).',
            model=model,
        )


def _price(agent: Agent, budget: Budget, judges: Mapping[str, JudgeInfo]) -> Price | None:
    about = declared(AgentInfo, agent)
    model = about.model if isinstance(about.model, str) else None
    price = settings().prices.get(model) if model else None
    is_known = price is not None or about.reports_cost
    if budget.money is not None and not is_known and not model:
        raise BadInput(
            "A budget in money cannot hold the agent {agent}: what it costs is not known. Set a budget of minutes instead, or of tokens or requests if it tells them.",
            agent=agent.name,
        )
    check_money(budget, judges, () if is_known or model is None else (model,))
    return price
