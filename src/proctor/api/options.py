"""Define the options of a run: one struct for the command line, Python keywords, pytest and stored runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar, cast, get_args

import msgspec
from msgspec.structs import asdict, replace

from proctor.api.resolve import AgentLike, TaskLike, UserLike
from proctor.config import Settings, converted, judge_name, settings, unknown_option
from proctor.core.errors import BadInput
from proctor.core.run import Blamed, Budget, Limits, Order, Perturb, RunRecord, RunSpec, Selection, Target, Until
from proctor.core.shard import Shard, shard_of
from proctor.core.task import Scorer, Store
from proctor.engine.progress import Progress

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
APPROVERS = frozenset({"ask", "all", "none"})
OnAgentError = Literal["agent", "provider", "ask"]
LARGEST_SEED = 2**63 - 1  # the largest integer that a store keeps


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run: the keyword arguments of `evaluate`.

    What is None has its usual value. When a run is resumed, `limits`, `max_failed`, `concurrency`, `workers` and `on` that
    are None are those of the stored run; all others must be unchanged.

    Attributes:
        agent: the system under test: a name, a path, a function, or an object.
        replies: a file or folder of recorded replies, which are scored in place of calling an agent.
        options: options of a task that is given by name.
        agent_options: options of an agent that is given by name.
        environment: the tools that the agent acts on, by name, such as `python:./shop.py:Shop`; several in a list.
        environment_options: options of an environment that is given by name.
        limit: how many samples are drawn at random with the seed, in proportion to the categories.
        more: how many further samples a run of some (`limit`) then takes, most where outcomes are uncertain.
        first: how many samples are taken from the start of the task.
        ids: the ids of the samples to take.
        tags: tags that a sample must have to be taken.
        order: the order in which samples are visited, "random" (with the seed) or "official".
        target: what the intervals are about: "samples" (samples like these) or "suite" (the very samples of the task).
        attempts: how often each sample is tried.
        until: a rule, such as "accuracy >= 0.85"; the run ends as soon as it is decided. "end" runs the rest of one that ended so.
        against: the stored run, or named baseline, that the rule compares with.
        error: the greatest chance of a wrong decision to one side; 0.05 by default.
        perturb: faults put into calls of the environment's tools, by kind the share of the calls: errors, lost, delays, cuts.
        approve: who approves calls that wait for it: "ask" (the simulated user), "all", "none", or the names of the tools that are approved. Where it is None, a simulated user is asked, and without one such a trial ends as "awaiting_approval".
        on_agent_error: whose failure it is when a request of the agent's own code fails and nothing shows whether it asked its model or a tool: "agent" (counts as 0), "provider" (not counted), or "ask", the default: such a trial ends as "undecided".
        shard: the part of the samples that is played, such as "3/10"; the run has the same name in all shards.
        concurrency: how many samples are in flight; None lets the pace of the endpoint decide.
        workers: in how many processes, for agents that need CPU.
        on: the cluster on whose machines these processes run, `ray` or `ray:ADDRESS`; None for this machine.
        scorers: names, paths or functions in place of the task's own.
        judge: the model that scorers ask, where they ask one.
        judge_options: options of the judge and of its model.
        user: the simulated user, `model:openai:MODEL`, `scripted:FILE`, a path, a function or an object.
        user_options: options of a simulated user that is given by name, and of its model.
        seed: the seed of every draw.
        store: a path, an address, or an open store.
        run_id: the name of the run; with the name of a stored run, that one is resumed.
        budget: bounds of the whole run.
        limits: bounds of one attempt; a mapping changes only what it names.
        bars: the least values that its numbers are going to be held to, by name; a misspelt or impossible one is refused before the first call.
        max_failed: the share of infrastructure failures above which a run is inconclusive.
        retry_failed: run infrastructure failures again when a run is resumed.
        accept_changes: resume a run although files of the agent, the task or a scorer changed.
        cache: take the model's replies from the reply cache.
        trace_to: the address of an OpenTelemetry collector that is sent each trial when it is stored; `env` for that of the OTEL_ variables.
        trace_content: send what was said, too.
        progress: counts that a display can read.
    """

    agent: AgentLike = None
    replies: str | Path | None = None
    options: Mapping[str, Any] | None = None
    agent_options: Mapping[str, Any] | None = None
    environment: str | Sequence[str] | None = None
    environment_options: Mapping[str, Any] | None = None
    limit: int | None = None
    more: int | None = None
    first: int | None = None
    ids: Sequence[str] = ()
    tags: Mapping[str, str] | None = None
    order: Order | None = None
    target: Target | None = None
    attempts: int | None = None
    until: str | Until | None = None
    against: str | None = None
    error: float | None = None
    perturb: Perturb | Mapping[str, object] | None = None
    approve: str | Sequence[str] | None = None
    on_agent_error: OnAgentError | None = None
    shard: str | Shard | None = None
    concurrency: int | None = None
    workers: int | None = None
    on: str | None = None
    scorers: Sequence[str | Scorer] | None = None
    judge: str | None = None
    judge_options: Mapping[str, Any] | None = None
    user: UserLike = None
    user_options: Mapping[str, Any] | None = None
    seed: int | None = None
    store: str | Store | None = None
    run_id: str | None = None
    budget: Budget | Mapping[str, Any] | None = None
    limits: Limits | Mapping[str, Any] | None = None
    bars: float | Mapping[str, float] | None = None
    max_failed: float | None = None
    retry_failed: bool = False
    accept_changes: bool = False
    cache: bool = False
    trace_to: str | None = None
    trace_content: bool | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the options with these names.

        Raises:
            BadInput: there is no option of a name; the nearest one is named.
        """
        for name in given:
            if name not in cls.__struct_fields__:
                raise unknown_option("evaluate", name, [*cls.__struct_fields__])
        return cls(**given)

    @classmethod
    def of_run(cls, record: RunRecord, store: Store) -> Self:
        """Return the options that made a stored run, to resume it.

        Raises:
            BadInput: it was made from Python objects, which only Python can give again.
        """
        refuse_imported(record)
        if "continue_from" in record.provenance:
            raise BadInput(
                "The run '{run}' was made from Python objects; go on with it from Python: evaluate(..., run_id='{run}').",
                run=record.id,
            )
        spec, chosen = record.spec, record.spec.selection
        same = {name: getattr(spec, name) for name in spec.__struct_fields__ if name in cls.__struct_fields__}
        return cls(
            **{name: value for name, value in same.items() if value != ()},
            **{name: getattr(chosen, name) for name in chosen.__struct_fields__},
            options=spec.task_options,
            store=store,
            run_id=record.id,
            trace_to=settings().trace_to,
            trace_content=settings().trace_content,
        )

    @classmethod
    def usual(cls, found: Settings) -> Self:
        """Return the options in the settings of the project."""
        same = {name: getattr(found, name) for name in found.__struct_fields__ if name in cls.__struct_fields__}
        return cls(**{**same, "store": None, "judge": None}, options=found.task_options)

    def changed(self, given: Mapping[str, Any]) -> Self:
        """Return these options with those that were given, where None and an empty list are not; mappings are merged."""
        moved: dict[str, object] = {}
        for name, value in given.items():
            before = getattr(self, name)
            if isinstance(before, Limits):
                moved[name] = limits_over(before, value)
            elif value is not None and value != ():
                moved[name] = {**before, **value} if isinstance(before, Mapping) else value
        return replace(self, **moved)

    @property
    def environments(self) -> tuple[str, ...]:
        return (self.environment,) if isinstance(self.environment, str) else tuple(self.environment or ())

    def check(self) -> None:
        """Refuse numbers out of their range, and a file of replies that is not there.

        Raises:
            BadInput: names the option.
        """
        if self.replies is not None and not Path(self.replies).exists():
            raise BadInput("There is no file or folder {path}.", path=Path(self.replies))
        for name in ("limit", "more", "first", "attempts", "concurrency", "workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadInput("{name} must be at least 1, not {value}.", name=name, value=value)
        if self.seed is not None and not -LARGEST_SEED <= self.seed <= LARGEST_SEED:
            raise BadInput(
                "{name} must be between {low} and {high}, not {value}.",
                name="seed",
                low=-LARGEST_SEED,
                high=LARGEST_SEED,
                value=self.seed,
            )
        if self.max_failed is not None and not 0 <= self.max_failed <= 1:
            raise BadInput("max_failed is a share from 0 to 1, not {value}.", value=self.max_failed)
        if self.trace_to is not None:
            from proctor.exports.otlp import endpoint_of

            endpoint_of(self.trace_to)
        elif self.trace_content:
            raise BadInput("--trace-content goes with --trace-to URL.")
        if (shard := shard_of(self.shard)) is not None:
            budget_of(self.budget).share(shard)
            if self.run_id is None:
                raise BadInput("A shard needs the name of its run, which is the same in all of them: --run ID")
            if self.until is not None or self.more is not None or self.replies is not None:
                raise BadInput("--shard does not go with --until or --more, nor with recorded replies.")
        _check_one_of("order", self.order, get_args(Order))
        _check_one_of("target", self.target, get_args(Target))

    def spec(self, task: str, agent: str, *, stored: RunSpec | None) -> RunSpec:
        """Return the specification of the run; options that were not given are those of the stored run.

        Raises:
            BadInput: a limit or a bound of the budget is out of its range.
        """
        usual = stored or RunSpec(task=task, agent=agent)
        given = {name: getattr(self, name) for name in ("max_failed", "concurrency", "workers", "on")}
        return replace(
            RunSpec(task=task, agent=agent),
            task_options=self.options or {},
            agent_options=self.agent_options or {},
            user_options=self.user_options or {},
            environment=self.environments,
            environment_options=self.environment_options or {},
            attempts=self.attempts or 1,
            seed=self.seed or 0,
            selection=Selection(limit=self.limit, first=self.first, ids=tuple(self.ids), tags=self.tags or {}),
            limits=limits_over(usual.limits, self.limits),
            budget=budget_of(self.budget),
            perturb=perturb_of(self.perturb),
            approve=approve_of(self.approve),
            on_agent_error=blamed_of(self.on_agent_error),
            shard=shard_of(self.shard),
            order=self.order or "random",
            target=self.target or "samples",
            **{name: getattr(usual, name) if value is None else value for name, value in given.items()},
        )


def keywords(
    make: Callable[P, RunOptions],
) -> Callable[[Callable[[TaskLike, RunOptions], R]], Callable[Concatenate[TaskLike, P], R]]:
    """Turn a function of a task and `RunOptions` into one that takes the options as keyword arguments."""

    def decorate(function: Callable[[TaskLike, RunOptions], R]) -> Callable[Concatenate[TaskLike, P], R]:
        @wraps(function)
        def call(task: TaskLike, **given: object) -> R:
            return function(task, RunOptions.of(given))

        given, made = signature(function), signature(make)
        parameters = [given.parameters["task"], *made.parameters.values()]
        vars(call)["__signature__"] = given.replace(parameters=parameters)
        return cast(Callable[Concatenate[TaskLike, P], R], call)

    return decorate


def refuse_imported(record: RunRecord) -> None:
    """Refuse to resume a run of another program.

    Raises:
        BadInput: it was imported.
    """
    if record.is_imported:
        raise BadInput(
            "The run '{run}' was imported, so there is nothing to resume. Score it again: proctor score --run {run} --scorer NAME",
            run=record.id,
        )


def judge_of(
    asked: str | None, options: Mapping[str, object] | None, stored: RunRecord | None
) -> tuple[str | None, Mapping[str, object]]:
    """Return the judge and its options: the user's, else those of the stored run, else those of the settings."""
    if asked is not None:
        return asked, options or {}
    if stored is not None and stored.spec.judge is not None:
        return stored.spec.judge, {**stored.spec.judge_options, **(options or {})}
    found = settings()
    return judge_name(found), {**found.judge_options, **(options or {})}


def budget_of(given: Budget | Mapping[str, object] | None) -> Budget:
    """Return the bounds of a run; none if no option sets one."""
    return given if isinstance(given, Budget) else converted(given or {}, Budget, "budget")


def perturb_of(given: Perturb | Mapping[str, object] | None) -> Perturb | None:
    """Return the faults that calls meet; None where no share of the calls meets one.

    Raises:
        BadInput: a share that is none, or more than all calls together.
    """
    found = given if isinstance(given, Perturb) else converted(given or {}, Perturb, "perturb")
    if found.share > 1:
        raise BadInput("The faults of perturb add up to {share:.0%} of the calls; a call has one at most.", share=found.share)  # fmt: skip
    return found if found.share > 0 else None


def approve_of(given: str | Sequence[str] | None) -> str | None:
    """Return the policy for calls that wait for approval: "ask", "all", "none", or names with commas.

    Raises:
        BadInput: a name is empty, or names stand next to one of the three words.

    >>> approve_of(["search", "read"]), approve_of("all"), approve_of(None)
    ('search,read', 'all', None)
    """
    if not given:
        return None
    names = [name.strip() for name in (given.split(",") if isinstance(given, str) else given)]
    if "" in names or (len(names) > 1 and not APPROVERS.isdisjoint(names)):
        raise BadInput(
            "--approve takes ask, all, none, or the names of tools with commas between, not '{value}'.",
            value=",".join(names),
        )
    return ",".join(names)


def blamed_of(given: OnAgentError | None) -> Blamed | None:
    """Return who is blamed for a failed request of the agent's own code; None leaves it undecided.

    Raises:
        BadInput: it is none of the three words.
    """
    _check_one_of("on_agent_error", given, get_args(OnAgentError))
    return None if given is None or given == "ask" else given


def limits_over(usual: Limits, given: Limits | Mapping[str, object] | None) -> Limits:
    """Return the limits of an attempt, with those replaced that a mapping names.

    Raises:
        BadInput: a bound is not above 0, or not finite.
    """
    chosen = given if isinstance(given, Limits) else converted({**asdict(usual), **(given or {})}, Limits, "limits")
    for name, value in asdict(chosen).items():
        if not 0 < value < math.inf:
            raise BadInput("{name} must be greater than 0, not {value}.", name=f"limits.{name}", value=value)
    return chosen


def _check_one_of(name: str, value: T | None, allowed: Sequence[T]) -> None:
    if value is not None and value not in allowed:
        raise BadInput(
            "{name} cannot be '{value}'. It can be: {known}.",
            name=name,
            value=value,
            known=", ".join(map(str, allowed)),
        )
