"""Define a run: its specification, its record, and the numbers that come out of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.core.shard import Shard
from proctor.core.trajectory import Usage


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one attempt at one sample."""

    seconds: float = 600.0
    steps: int = 50
    reply_bytes: int = 4_000_000


def most_replies(limits: Limits, of_agent: int | None, of_task: int | None) -> int:
    """Return how many replies a turn has at most; a limit that nobody chose gives way to that of the task.

    >>> most_replies(Limits(), None, 60), most_replies(Limits(steps=40), None, 60), most_replies(Limits(), 4, 60)
    (60, 40, 4)
    """
    usual = of_task if of_task is not None and limits.steps == Limits().steps else limits.steps
    own = of_agent or usual
    return own if of_task is None else min(own, of_task)


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the whole run, agent and judges together; None is no bound.

    Money needs a price: that of the model in the settings, or what the endpoint itself reports.
    """

    money: Annotated[float, msgspec.Meta(gt=0)] | None = None
    tokens: Annotated[int, msgspec.Meta(gt=0)] | None = None
    requests: Annotated[int, msgspec.Meta(gt=0)] | None = None
    minutes: Annotated[float, msgspec.Meta(gt=0)] | None = None

    def share(self, shard: Shard | None) -> "Budget":
        """Return what a shard may spend: its part, so that all together keep to the bounds; minutes are not divided.

        Raises:
            BadInput: there is not one token or request for each.

        >>> Budget(money=5.0, requests=7).share(Shard(number=1, of=2))
        Budget(money=2.5, tokens=None, requests=3, minutes=None)
        """
        if shard is None:
            return self
        money = None if self.money is None else self.money / shard.of
        for bound in (self.tokens, self.requests):
            if bound is not None and bound < shard.of:
                raise BadInput("A budget of {count} cannot be divided between {of} shards.", count=bound, of=shard.of)
        tokens, requests = (None if bound is None else bound // shard.of for bound in (self.tokens, self.requests))
        return Budget(money=money, tokens=tokens, requests=requests, minutes=self.minutes)


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Money for a million tokens; input that a cache holds or is given to keep costs as much as other input when None."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None

    def of(self, usage: Usage) -> float:
        """Return the cost of the tokens of a usage.

        >>> Price(input=2.0, output=8.0).of(Usage(input_tokens=500_000, output_tokens=250_000))
        3.0
        """
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        kept = written if self.cache_write_1h is None else self.cache_write_1h
        fresh = max(
            0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
        )  # some count cached input apart
        for_minutes = max(0, usage.cache_write_tokens - usage.cache_write_1h_tokens)
        input = fresh * self.input + usage.cached_tokens * cached + for_minutes * written
        return (input + usage.cache_write_1h_tokens * kept + usage.output_tokens * self.output) / 1e6


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of samples: `limit` at random with the seed, in proportion to the categories; `first` from the start."""

    limit: int | None = None
    first: int | None = None
    ids: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}


Order = Literal["random", "official"]
Target = Literal["samples", "suite"]


class RunStage(msgspec.Struct, frozen=True, kw_only=True):
    """How many samples a stage of a run drew of each stratum; `ids` are those samples, of a later stage than the first.

    `after_end` if it was drawn once the run had ended, so that its numbers could be seen first.
    """

    counts: Mapping[str, int]
    ids: tuple[str, ...] = ()
    after_end: bool = False


class SpreadDraw(msgspec.Struct, frozen=True, kw_only=True):
    """A draw spread over how hard samples are, as `runs` stored runs know.

    `ids` of each stratum are in order, the hardest first, with what was `expected` of each. `agreement` and its variance are
    those of `stats.item_fit` among the systems of these runs, whose number is `systems`; None where they are fewer than three.
    """

    ids: tuple[str, ...]
    expected: tuple[float, ...]
    runs: int
    agreement: tuple[float, float] | None = None
    systems: int = 0


class Strata(msgspec.Struct, frozen=True, kw_only=True):
    """The number of samples in each stratum of the task, and the order in which those of the run are visited.

    The task here is what --tag, --id and --first leave of it, before --limit draws. `by` is the tag whose values are the
    strata, '' where all samples are one stratum. `order` is `random` where any part of the run that was visited is a
    fair part of the whole. `stages` are those of a run that drew further samples where outcomes were uncertain; the first
    of them may be `announced`, which is its number of samples, when the run begins. `spread` is set where stored runs
    decided which samples were drawn together.
    """

    by: str = ""
    sizes: Mapping[str, int]
    order: Order = "random"
    stages: tuple[RunStage, ...] = ()
    announced: int = 0
    spread: SpreadDraw | None = None

    @property
    def drawn(self) -> int:
        """Return how many samples all stages drew; 0 where there is only one."""
        return sum(sum(stage.counts.values()) for stage in self.stages)

    @property
    def total(self) -> int:
        """Return the number of samples of the task."""
        return sum(self.sizes.values())


class Perturb(msgspec.Struct, frozen=True, kw_only=True):
    """Faults that are put between an agent and its tools, each in this share of the calls; at most one in a call.

    Attributes:
        errors: the tool says that it is not available, and nothing was done.
        lost: the call is carried out, and its result is lost.
        delays: the result comes `seconds` later.
        cuts: only the first half of the result arrives.
    """

    errors: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    lost: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    delays: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    cuts: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    seconds: Annotated[float, msgspec.Meta(ge=0)] = 2.0

    @property
    def share(self) -> float:
        return self.errors + self.lost + self.delays + self.cuts


class Until(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is looked at for while it goes on, so that it may end before its plan is done.

    `rule` is the rule as it is written, `against` the run it compares with. In a race, `among` are the ids of all its runs.
    `error` is the greatest chance of a wrong decision to one side.
    """

    rule: str
    against: str = ""
    among: tuple[str, ...] = ()
    error: float = 0.05


class KnownSamples(msgspec.Struct, frozen=True, kw_only=True):
    """What stored runs knew of each sample when a run began that is compared with one of them.

    `earned` is the mean of all `systems` but the baseline on each of its samples, and `runs` are the ids of their runs. Earlier runs of
    the agent itself are one of the systems, and count half. All are empty where they know too few of the baseline's samples.
    """

    runs: tuple[str, ...] = ()
    systems: int = 0
    earned: Mapping[str, float] = {}


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What the looks at a run found: the decision with the numbers that it rests on.

    `low` and `high` hold at all looks together, each with a chance of 1 - error; for a comparison they are of the difference. `steps` are the
    clusters of samples that were looked at, of `most`; `saved` the trials of the plan that were not run. What stored runs know of the
    samples made the interval of the last look that of `times` as many.
    """

    decision: Literal["go", "no_go", "futile"] | None
    method: str
    steps: int
    most: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    saved: int = 0
    times: float = 1.0


Blamed = Literal["agent", "provider"]


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The specification of a run: names and JSON only, so that it can be digested, resumed and shipped.

    `judge` is the model that scorers ask, where they ask one and name none of their own, `user` the simulated user where
    it is not that of the task, `environment` the environments in place of that of the task. A run whose share of
    infrastructure failures is above `max_failed` ends as inconclusive. `concurrency`, `workers` and `on` are kept
    so that it is resumed as it began. `target` says what the intervals are
    about: samples like these, or the very samples of the task. With `until` the run may end early, and its intervals hold
    for any number of looks. With `perturb`, calls of tools meet faults. `approve` says who approves calls that wait for it, and
    `on_agent_error` whose failure a request of the agent's own code is; None leaves that undecided. With
    `shard` it is a part of a run.
    """

    task: str
    agent: str
    task_options: Mapping[str, Any] = {}
    agent_options: Mapping[str, Any] = {}
    environment: tuple[str, ...] = ()
    environment_options: Mapping[str, Any] = {}
    scorers: tuple[str, ...] = ()
    judge: str | None = None
    judge_options: Mapping[str, Any] = {}
    user: str | None = None
    user_options: Mapping[str, Any] = {}
    attempts: int = 1
    seed: int = 0
    selection: Selection = Selection()
    limits: Limits = Limits()
    budget: Budget = Budget()
    max_failed: float = 0.05
    concurrency: int | None = None
    workers: int | None = None
    on: str | None = None
    order: Order = "random"
    target: Target = "samples"
    until: Until | None = None
    perturb: Perturb | None = None
    approve: str | None = None
    on_agent_error: Blamed | None = None
    shard: Shard | None = None


# may differ when a run is resumed
MOVABLE = ("limits", "budget", "max_failed", "concurrency", "workers", "on", "target")

RunState = Literal["running", "stopped", "finished", "inconclusive", "copying"]


IMPORTED = "import"  # what `continue_from` is in the provenance of a run of another program


class RunFork(msgspec.Struct, frozen=True, kw_only=True):
    """The trial that a run was forked from, at a step counted from 1, and what was changed there.

    `prompt` replaces the system message, `reply` the step itself; None leaves what was recorded.
    """

    run: str
    sample: str
    attempt: int = 0
    step: int
    prompt: str | None = None
    reply: str | None = None


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a run in the store.

    `scorers` are the names in force (with those added by re-scoring), `planned` the number of trials,
    `provenance` where data, code and prompts came from: versions, digests, licences; `note` why it is
    inconclusive or stopped; `warnings` what was noticed on the way; `unbooked` how many requests were sent whose
    results were lost, at most, as the run was cut off; `refused` which attempts at which samples the endpoint refused
    when that ended the run. `strata` is None in runs of a version that did not record it, and so is `official`: the
    official aggregates as they were when the run ended. `known` is what stored runs knew when a run began that is compared
    while it goes on; None where nothing is adjusted by it. `looked` is what the looks found, of a run with `until`. `tier` is
    the name of the tier that it is a run of, and `taken_over` how many of its trials were made by which other runs. `main`
    is the scorer whose number is the main one of the run; in runs of a version that did not record it, the first is. `fork` is
    the trial of another run that its conversation begins with.
    """

    id: str
    spec: RunSpec
    task: str
    task_version: str
    agent: str
    scorers: tuple[str, ...] = ()
    planned: int = 0
    state: RunState = "running"
    created: float = 0.0
    seconds: float = 0.0
    proctor_version: str = ""
    provenance: Mapping[str, Any] = {}
    note: Sentence | None = None
    warnings: tuple[Sentence, ...] = ()
    unbooked: int = 0
    refused: tuple[tuple[str, int], ...] = ()
    strata: Strata | None = None
    official: tuple["Estimate", ...] | None = None
    known: KnownSamples | None = None
    looked: Looked | None = None
    tier: str = ""
    taken_over: Mapping[str, int] = {}
    main: str = ""
    fork: RunFork | None = None

    @property
    def main_scorer(self) -> str:
        """Return the scorer whose number is the main one of the run; '' without any scorer."""
        return self.main if self.main in self.scorers else next(iter(self.scorers), "")

    @property
    def is_imported(self) -> bool:
        """True if another program made the run, so that nothing of it can be run again."""
        return self.provenance.get("continue_from") == IMPORTED

    def shares_trials(self, other: "RunRecord") -> bool:
        """True if trials of both runs are the same ones, as a tier took them over."""
        mine, others = ({record.id, *record.taken_over} for record in (self, other))
        return self.id != other.id and not mine.isdisjoint(others)


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its interval, denominator and bounds.

    `value` is None when nothing was scored, `low` and `high` when no interval can be given. `slice` is
    '' for the whole run, else 'key=value'. `floor` and `ceiling` are the value if all planned but
    unscored trials were wrong, or right. `standard_error` lets estimates be combined, with its `degrees` of freedom
    where it was estimated from the spread of samples or clusters; with several attempts it is split into what comes
    `error_from_samples` and `error_from_attempts` (the squares add up). Where clusters differ in size, `loss_size` is the
    mean size of a cluster over the points lost, as a multiple of its mean over samples: below 1, mainly small clusters
    lost. `partial` is true of points between nothing and all, whose bounds allow for skewness. A `share` is shown in percent, a
    `number` (such as steps or seconds) as it is.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    slice: str = ""
    level: float = 0.95
    method: str = ""
    scored: int = 0
    planned: int = 0
    clusters: int = 0
    floor: float | None = None
    ceiling: float | None = None
    standard_error: float | None = None
    degrees: float | None = None
    error_from_samples: float | None = None
    error_from_attempts: float | None = None
    loss_size: float | None = None
    partial: bool = False
    note: str | Sentence = ""
    unit: Literal["share", "number"] = "share"

    def __str__(self) -> str:
        """Return the number as people write it: value, interval, and out of how many."""
        name = f"{self.name} [{self.slice}]" if self.slice else self.name
        if self.value is None:
            return f"{name}: no value, {self.scored} of {self.planned} scored"
        form = "{:.1%}" if self.unit == "share" else "{:.4g}"
        interval = "no interval"
        if self.low is not None and self.high is not None:
            interval = f"{self.level:.0%} interval {form.format(self.low)} to {form.format(self.high)}"
        return f"{name}: {form.format(self.value)}, {interval}, {self.scored} of {self.planned} scored"

    def _repr_html_(self) -> str:
        """Return the number for a notebook, in figures only: value, interval, scored / planned."""
        from html import escape

        form = ("{:.1%}" if self.unit == "share" else "{:.4g}").format
        name = f"{self.name} [{self.slice}]" if self.slice else self.name
        name = escape("".join(each if each.isprintable() else "�" for each in name))
        value = "–" if self.value is None else form(self.value)
        interval = "" if self.low is None or self.high is None else f" [{form(self.low)}, {form(self.high)}]"
        return f"<span>{name} <strong>{value}</strong>{interval} · {self.scored:,} / {self.planned:,}</span>"
