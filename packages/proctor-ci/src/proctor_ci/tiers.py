"""Run a tier: the tasks of a stage of testing, each with its share of samples and its gate, as `proctor.toml` lists them.

    [tiers.quick]
    tasks = ["customer-service", { task = "bfcl/simple_python", limit = 100, gate = "bfcl.toml" }]
    limit = 40
    gate = "gate.toml"
    budget = { minutes = 20 }

Draws with one seed are nested, so the samples of a small tier are among those of a larger one; trials that another tier made under
the same conditions are taken over (`taking_over`), and not made again.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from proctor.api import Run, RunOptions, Stopped
from proctor.api.baselines import find_against
from proctor.api.loop import run_in_loop
from proctor.api.prepare import Prepared, at, prepare
from proctor.api.resolve import AgentLike
from proctor.config import converted, settings
from proctor.core.errors import BadInput
from proctor.core.project import project_table, table_of
from proctor.core.run import Budget, RunRecord
from proctor.core.task import Store
from proctor.engine.evaluate import evaluate as run_job
from proctor.engine.progress import Progress
from proctor.registry import unknown
from proctor.runtime.garbage import gc_paused
from proctor_ci.gate import Decision, Gate, gate
from proctor_ci.policy import GatePolicy, find_policy
from proctor_ci.reachable import check_policy, never_met
from proctor_ci.taking_over import begin_with_trials_of_others, has_same_conditions

REUSE_HOURS = 24.0


class TierTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of a tier.

    Attributes:
        task: as for `proctor run`.
        options: those of the task.
        limit: how many samples are drawn; all if None.
        tags: tags that a sample must have to be drawn.
        attempts: how often each sample is tried; as in the settings if None.
        gate: the policy that decides about the run: a file, or the name of a task that brings one; '' decides nothing.
        against: the baseline of that policy, in place of the one that it names.
    """

    task: str
    options: Mapping[str, Any] = {}
    limit: int | None = None
    tags: Mapping[str, str] = {}
    attempts: int | None = None
    gate: str = ""
    against: str = ""


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of a stage of testing.

    Attributes:
        budget: of all its runs together, with the trials that were taken over; without one each run has that of the settings.
        reuse_hours: how old a run may be so that its trials are taken over, or that it is resumed; 0 makes all of them again.
    """

    name: str
    tasks: tuple[TierTask, ...]
    budget: Budget = Budget()
    reuse_hours: float = REUSE_HOURS


class TierResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out of a tier.

    Attributes:
        gates: the decision about each run; None where its task has no gate.
        left_out: tasks that were not begun, as the budget was spent.
        decision: NO-GO by one gate is NO-GO, GO needs GO by all; None without any gate.
    """

    tier: Tier
    runs: tuple[Run, ...]
    gates: tuple[Gate | None, ...]
    left_out: tuple[TierTask, ...] = ()
    decision: Decision | None = None


def read_tiers(path: str | Path | None = None) -> Mapping[str, Tier]:
    """Return the tiers of a project by name, in the order of the file; that of this folder or one above it if None.

    Raises:
        BadInput: there is something wrong with one of them; names the tier.
    """
    pair = project_table("") if path is None else (str(path), table_of(str(path)))
    file, table = pair or ("proctor.toml", {})
    tiers = table.get("tiers", {})
    if not isinstance(tiers, Mapping):
        raise BadInput("{path}: a tier begins with [tiers.NAME].", path=file)
    return {name: _tier(name, values, Path(file)) for name, values in tiers.items()}


def find_tier(name: str, path: str | Path | None = None) -> Tier:
    """Return the tier of a name.

    Raises:
        BadInput: the project has none of that name (the nearest is suggested), or none at all.
    """
    tiers = read_tiers(path)
    if not tiers:
        raise BadInput(
            "There are no tiers: proctor.toml has no [tiers.NAME]. `proctor init ci` writes some to start from."
        )
    if name not in tiers:
        raise unknown("tier", name, list(tiers), paths=False)
    return tiers[name]


def run_tier(
    tier: Tier | str,
    agent: AgentLike = None,
    *,
    options: RunOptions | None = None,
    store: str | Store | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> TierResult:
    """Run the tasks of a tier one after the other, and decide about each run by its gate.

    A run of the tier that was cut off is resumed. Everything that can be wrong is found before the first call.

    Args:
        tier: one of `proctor.toml` by its name, or made in Python.
        agent: the system under test; that of the settings if None.
        options: those of every run, in place of the settings of the project; what the tier says goes before.
        fresh: take over nothing, and resume nothing.

    Raises:
        BadInput: whatever the caller can fix.
        Stopped: Ctrl-C or SIGTERM; what was finished is kept, and the tier goes on from there when it is run again.
    """
    tier = find_tier(tier) if isinstance(tier, str) else tier
    opened = at(store if store is not None else options.store if options is not None else None)
    usual = replace(options or RunOptions.usual(settings()), store=opened, progress=progress)
    usual = _with_agent(usual, agent, tier)
    hours = 0.0 if fresh else tier.reuse_hours
    policies = [_policy(task, opened) for task in tier.tasks]
    with gc_paused():
        jobs = [_prepared(tier, task, usual, opened, hours) for task in tier.tasks]
    for policy, prepared in zip(policies, jobs, strict=True):
        if policy is not None:
            _check_gate(policy, prepared, progress or Progress())
    runs: list[Run] = []
    for prepared in jobs:
        budget = _left(tier.budget, runs)
        if budget is None:
            break
        runs.append(_run(prepared, tier, budget, hours, progress or Progress()))
    gates = tuple(
        None if policy is None else gate(run, policy=policy, against=task.against or None)
        for run, policy, task in zip(runs, policies, tier.tasks, strict=False)
    )
    left_out = tier.tasks[len(runs) :]
    return TierResult(
        tier=tier, runs=tuple(runs), gates=gates, left_out=left_out, decision=_decision(gates, policies[len(runs) :])
    )


def _with_agent(usual: RunOptions, agent: AgentLike, tier: Tier) -> RunOptions:
    """Return the options with the agent that is named; that of the settings else."""
    if agent is not None:
        return replace(usual, agent=agent)
    if usual.agent is None:
        raise BadInput(
            "Name the agent to evaluate: {example}, or agent in proctor.toml.",
            example=f"proctor ci tier {tier.name} --agent openai:MODEL",
        )
    return usual


def _check_gate(policy: GatePolicy, prepared: Prepared, progress: Progress) -> None:
    """Refuse a policy that is about other numbers than the run will have, and tell of rules that no agent can meet."""
    job = prepared.job
    check_policy(policy, job.record, has_official=job.task.summarise is not None)
    for note in never_met(policy, job.record, [*job.samples()]):
        progress.tell(note)


def _run(prepared: Prepared, tier: Tier, budget: Budget, hours: float, progress: Progress) -> Run:
    """Run a job within what is left of the budget, after the trials of other tiers were taken over."""
    job, store = prepared.job, prepared.store
    spec = job.record.spec if budget == Budget() else replace(job.record.spec, budget=budget)
    record = replace(job.record, spec=spec, tier=tier.name)
    for note in job.task.notes:
        progress.tell(note)
    job = begin_with_trials_of_others(replace(job, record=record), store, hours)
    record = run_in_loop(partial(run_job, job, store, progress))
    if record.state == "stopped":
        raise Stopped(record.id)
    return Run(record, store, job.task.summarise)


def _prepared(tier: Tier, task: TierTask, usual: RunOptions, store: Store, hours: float) -> Prepared:
    chosen = usual.changed(
        {
            "options": task.options or None,
            "limit": task.limit,
            "tags": task.tags or None,
            "attempts": task.attempts,
            "budget": None if tier.budget == Budget() else tier.budget,
        }
    )
    prepared = prepare(task.task, chosen)
    cut_off = _cut_off(replace(prepared.job.record, tier=tier.name), store, hours)
    return prepared if cut_off is None else prepare(task.task, replace(chosen, run_id=cut_off))


def _cut_off(wanted: RunRecord, store: Store, hours: float) -> str | None:
    """Return the newest run of the same tier under the same conditions that did not come to its end."""
    since = time.time() - 3600 * hours
    runs = [
        record
        for record in store.runs()
        if record.tier == wanted.tier
        and record.state in ("running", "stopped")
        and record.created >= since
        and (record.spec.selection, record.spec.attempts) == (wanted.spec.selection, wanted.spec.attempts)
        and has_same_conditions(record, wanted)
        and store.writer(record.id) is None
    ]
    return max(runs, key=lambda record: record.created).id if runs else None


def _policy(task: TierTask, store: Store) -> GatePolicy | None:
    """Return the policy of a task; a baseline that is not there is found before anything is run."""
    if not task.gate:
        return None
    policy = find_policy(task.gate)
    against = task.against or policy.against
    if against:
        find_against(store, against)
    return policy


def _left(budget: Budget, runs: Sequence[Run]) -> Budget | None:
    """Return what is left of a budget; None if that is nothing."""
    spent = {
        "money": sum(run.usage.cost or 0.0 for run in runs),
        "tokens": sum(run.usage.input_tokens + run.usage.output_tokens for run in runs),
        "requests": sum(run.usage.requests for run in runs),
        "minutes": sum(run.record.seconds for run in runs) / 60,
    }
    left = {name: None if bound is None else bound - spent[name] for name, bound in asdict(budget).items()}
    return None if any(value is not None and value <= 0 for value in left.values()) else Budget(**left)


def _decision(gates: Sequence[Gate | None], left_out: Sequence[GatePolicy | None]) -> Decision | None:
    decisions = {one.decision for one in gates if one is not None}
    if any(policy is not None for policy in left_out):
        decisions.add("inconclusive")
    return (
        "no_go"
        if "no_go" in decisions
        else "inconclusive"
        if "inconclusive" in decisions
        else "go"
        if decisions
        else None
    )


class _TaskTable(msgspec.Struct, frozen=True, kw_only=True):
    """What a task of a tier may have of its own, and a tier for all of its tasks."""

    limit: int | None = None
    attempts: int | None = None
    tags: Mapping[str, str] = {}
    gate: str = ""
    against: str = ""


class _OwnTable(_TaskTable, frozen=True, kw_only=True):
    task: str
    options: Mapping[str, Any] = {}


class _TierTable(_TaskTable, frozen=True, kw_only=True):
    tasks: tuple[str | Mapping[str, Any], ...]
    budget: Mapping[str, Any] = {}
    reuse_hours: float = REUSE_HOURS


def _tier(name: str, values: object, file: Path) -> Tier:
    where = f"{file.name} [tiers.{name}]"
    if not isinstance(values, Mapping):
        raise BadInput("{path}: a tier begins with [tiers.NAME].", path=file)
    table = converted(values, _TierTable, where)
    if not table.tasks:
        raise BadInput("{place}: 'tasks' is empty.", place=where)
    if not 0 <= table.reuse_hours < float("inf"):
        raise BadInput("{place}: 'reuse_hours' is 0 or more.", place=where)
    return Tier(
        name=name,
        tasks=tuple(_task(task, table, file, where) for task in table.tasks),
        budget=converted(table.budget, Budget, where),
        reuse_hours=table.reuse_hours,
    )


def _task(given: str | Mapping[str, object], tier: _TierTable, file: Path, place: str) -> TierTask:
    own = _OwnTable(task=given) if isinstance(given, str) else converted(given, _OwnTable, place)
    usual = {name: getattr(tier, name) for name in _TaskTable.__struct_fields__}
    chosen = {**usual, **{name: value for name, value in asdict(own).items() if value not in (None, "", {})}}
    for name in ("limit", "attempts"):
        if chosen[name] is not None and chosen[name] < 1:
            raise BadInput("{name} must be at least 1, not {value}.", name=f"{place}: {name}", value=chosen[name])
    gate_file = file.parent / chosen["gate"]
    if chosen["gate"] and gate_file.is_file():
        chosen["gate"] = str(gate_file)  # so that a tier can be run from a folder below
    return TierTask(**chosen)
