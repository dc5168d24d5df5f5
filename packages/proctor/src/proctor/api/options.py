"""Define the options of a run: one struct for the command line, Python keywords, pytest and stored runs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast, get_args

import msgspec
from msgspec.structs import asdict, replace

from proctor.config import ProjectSettings, converted, judge_name, settings, unknown_option
from proctor.core.errors import BadInput
from proctor.core.run import Blamed, Budget, Limits, Order, Perturb, RunRecord, RunSpec, Selection, Target
from proctor.core.run_fields import OnAgentError, RunFields, check_bounds, described_fields
from proctor.core.shard import shard_of
from proctor.core.task import Scorer, Store
from proctor.engine.progress import Progress
from proctor.registry import offered

P = ParamSpec("P")
Options = TypeVar("Options")
R = TypeVar("R")
T = TypeVar("T")
APPROVERS = frozenset({"ask", "all", "none"})


class RunOptions(RunFields, frozen=True, kw_only=True):
    """The options of a run: the keyword arguments of `evaluate`.

    What is None has its usual value. When a run is resumed, `limits`, `max_failed`, `concurrency`, `workers` and `on` that
    are None are those of the stored run; all others must be unchanged.

    The texts are those of the command line, which has most of these options. In Python the agent, the simulated user and scorers may
    be functions or objects too, and the store an open one; what is given several times is a list, what has the form KEY=VALUE a mapping.

    Attributes:
        bars: the least values that its numbers are going to be held to, by name; a misspelt or impossible one is refused before the first call.
        progress: counts that a display can read.
    """

    bars: float | Mapping[str, float] | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the options with these names.

        Raises:
            BadInput: there is no option of a name; the nearest one is named.
        """
        _check_known("evaluate", given, cls)
        return cls(**given)

    @classmethod
    def of_run(cls, record: RunRecord, store: Store) -> Self:
        """Return the options that made a stored run, to resume it.

        Raises:
            BadInput: it was made from Python objects, which only Python can give again.
        """
        refuse_imported(record)
        if record.fork is not None:
            raise BadInput(
                "The run '{run}' is a fork of {parent}, so it is not resumed. Make another: proctor runs fork {parent} SAMPLE --at STEP",
                run=record.id,
                parent=record.fork.run,
            )
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
    def usual(cls, found: ProjectSettings) -> Self:
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
        for name, field in described_fields(RunFields).items():
            if field.bounds is not None:
                check_bounds(name, getattr(self, name))
        if self.trace_to is not None:
            offered("live_traces", "otlp", needed_for="--trace-to").endpoint_of(self.trace_to)
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


RunOptions.__doc__ = f"{(RunOptions.__doc__ or '').rstrip()}\n" + "\n".join(
    f"        {name}: {field.flag.text}" for name, field in described_fields(RunFields).items()
)


class RescoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of scoring a stored run again: the keyword arguments of `rescore`."""

    scorers: Sequence[str | Scorer]
    judge: str | None = None
    judge_options: Mapping[str, object] | None = None
    store: str | Store | None = None
    budget: Budget | Mapping[str, object] | None = None
    concurrency: int | None = None
    bars: Mapping[str, float] | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the options with these names.

        Raises:
            BadInput: there is no option of a name; the nearest one is named.
        """
        _check_known("rescore", given, cls)
        return cls(**given)


def _check_known(what: str, given: Iterable[str], options: type[msgspec.Struct]) -> None:
    for name in given:
        if name not in options.__struct_fields__:
            raise unknown_option(what, name, [*options.__struct_fields__])


def keywords(
    make: Callable[P, Options],
) -> Callable[[Callable[[T, Options], R]], Callable[Concatenate[T, P], R]]:
    """Turn a function of a task or a run and a struct of options into one that takes the options as keyword arguments."""

    def decorate(function: Callable[[T, Options], R]) -> Callable[Concatenate[T, P], R]:
        of_function, options = signature(function), signature(make)
        subject = next(iter(of_function.parameters.values()))

        @wraps(function)
        def call(*positional: T, **given: object) -> R:
            named = {subject.name: given.pop(subject.name)} if subject.name in given else {}
            bound = Signature([subject]).bind(*positional, **named)
            return function(bound.args[0], cast(Any, make).of(given))

        vars(call)["__signature__"] = of_function.replace(parameters=[subject, *options.parameters.values()])
        return cast(Callable[Concatenate[T, P], R], call)

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
    project = settings()
    return judge_name(project), {**project.judge_options, **(options or {})}


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
