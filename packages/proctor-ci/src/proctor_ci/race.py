"""Race agents over the same samples in the same random order, and stop as soon as it is decided which is better.

The agents are interleaved, so that the time of day and a busy endpoint meet all of them alike: none begins a sample that is
more than a few ahead of what the slowest one has begun. Every pair of agents is compared by the samples that both have
finished. With two agents a margin can be given, as in a gate. With more, an agent is out as soon as another one is shown to
be better (successive elimination). Of k agents only the k - 1 pairs of the best one matter: with half of the error shared among
them, the best one is out with a chance of at most half of the error, and what is named best is not better than all others with a
chance of at most the error (of m equal best ones m - 1 would have to be out, and each is with a chance of half of the error).

Each agent has an ordinary run. What it takes to resume the race is in the specification of every one of them.
"""

import asyncio
import math
from collections.abc import Collection, Sequence
from itertools import combinations
from string import ascii_lowercase
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.api.loop import run_in_loop
from proctor.api.names import check_run_id
from proctor.api.options import RunOptions
from proctor.api.prepare import Prepared, at, new_id, prepare, resumable
from proctor.api.resolve import AgentLike, TaskLike
from proctor.api.run import Run
from proctor.core.declared import own_name
from proctor.core.errors import BadInput, Stopped
from proctor.core.main_number import MAIN
from proctor.core.run import Looked, RunRecord, Until
from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.engine.evaluate import evaluate as run_job
from proctor.engine.looking import Key
from proctor.engine.progress import Progress
from proctor.engine.status import RunStatus
from proctor_ci.looks.rules import UntilRule, check_error, question, read_rule, read_steps, scorer_of
from proctor_ci.looks.steps import Between, Decider, Steps, earned
from proctor_ci.stats.looks import Decision

AHEAD = 4  # samples that an agent may be ahead of the slowest one
MOST_AGENTS = len(ascii_lowercase)
ERROR = 0.05


class Duel(msgspec.Struct, frozen=True, kw_only=True):
    """Two agents of a race by their number, and what is known of the difference second - first."""

    first: int
    second: int
    looked: Looked


class Race(msgspec.Struct, frozen=True, kw_only=True):
    """A race as it ended.

    Attributes:
        rule: what was asked of the second agent compared with the first, and of each pair where there are more.
        decision: of two agents by the rule; of more, "go" if one is shown to be better than all others. None if the race ended before it
            was decided.
        winner: the number of the agent that is shown to be better than all others, if one is.
        saved: trials of the plans that were not run.
    """

    rule: UntilRule
    error: float
    runs: tuple[Run, ...]
    duels: tuple[Duel, ...]
    decision: Decision | None
    winner: int | None
    saved: int


def race(
    task: TaskLike | None = None,
    agents: Sequence[AgentLike] = (),
    *,
    margin: float | None = None,
    better_by: float | None = None,
    metric: str | None = None,
    error: float | None = None,
    **given: object,
) -> Race:
    """Race two or more agents over the samples of a task, and stop as soon as it is decided.

    Args:
        agents: the first of two is the one that the other is compared with.
        margin: the question is whether the second of two agents is not worse than the first by more than this; 0.05 is 5 points.
        better_by: the question is whether the second of two is better by more than this. Without either: which is better.
        metric: the scorer to go by; default is the first.
        error: the greatest chance of a wrong decision, 0.05 by default; with a margin, of a wrong one to either side.
        given: further options of the runs, as for `evaluate`. `run_id` names the race; that of a stored race resumes it, which then
            needs neither task nor agents. A budget is that of each run.

    Raises:
        BadInput: anything the caller can fix, found before or by the first calls.
        Stopped: Ctrl-C or SIGTERM; what was finished is kept.
    """
    return run_race(task, agents, RunOptions.of(given), margin=margin, better_by=better_by, metric=metric, error=error)


def run_race(
    task: TaskLike | None,
    agents: Sequence[AgentLike],
    options: RunOptions,
    *,
    margin: float | None = None,
    better_by: float | None = None,
    metric: str | None = None,
    error: float | None = None,
) -> Race:
    """Race as `race` does, with the options of the runs in one object."""
    store = at(options.store)
    options = replace(options, store=store)
    stored = _stored(store, options.run_id)
    if task is None:
        if stored is None:
            raise BadInput(
                "Name the task and at least two agents, for example: proctor ci race bfcl/simple_python --agent openai:A --agent openai:B. Or a stored race with --run."
            )
        if agents or (margin, better_by, error) != (None, None, None) or metric:
            raise BadInput(
                "A stored race is resumed as it was begun: leave out the agents and the question, or name the task too."
            )
        lanes = [_resumed(id, options, store) for id in _among(stored)]
    else:
        lanes = _new(task, agents, options, stored, _until(margin, better_by, metric, error, len(agents)))
    return _raced(lanes, store, options.progress)


Lane = tuple[TaskLike, RunOptions]


def _until(margin: float | None, better_by: float | None, metric: str | None, error: float | None, count: int) -> Until:
    if not 2 <= count <= MOST_AGENTS:
        raise BadInput("A race has 2 to {most} agents; this one has {count}.", most=MOST_AGENTS, count=count)
    if margin is not None and better_by is not None:
        raise BadInput("--margin and --better-by ask two different questions: leave one out.")
    if count > 2 and (margin is not None or better_by is not None):
        raise BadInput("--margin and --better-by compare two agents; this race has {count}.", count=count)
    for name, value, is_open in (("--margin", margin, True), ("--better-by", better_by, False)):
        if value is not None and not (0 < value <= 1 or (value == 0 and not is_open)):
            raise BadInput("{name} is a share from 0 to 1, as 0.05 for 5 points; not {value}.", name=name, value=value)
    kind: Any = "not_worse_by" if margin is not None else "better_by"
    rule = UntilRule(metric=metric or MAIN[0], kind=kind, bound=margin or better_by or 0.0)
    return Until(rule=str(rule), error=check_error(ERROR if error is None else error))


def _new(
    task: TaskLike, agents: Sequence[AgentLike], options: RunOptions, stored: RunRecord | None, until: Until
) -> list[Lane]:
    """Return the lanes of a race by its whole description; a stored one has to be described alike."""
    name = options.run_id or new_id(task if isinstance(task, str) else own_name(task) or "race")
    ids = tuple(f"{name}-{letter}" for letter, _ in zip(ascii_lowercase, agents, strict=False))
    if stored is not None:
        ids = _among(stored)
        if len(ids) != len(agents):
            raise BadInput(
                "The race '{name}' is one of {count} agents, and {given} are named: name the same ones, or begin another race.",
                name=name,
                count=len(ids),
                given=len(agents),
            )
    until = replace(until, among=ids)
    return [
        (task, replace(options, agent=agent, run_id=id, until=until)) for id, agent in zip(ids, agents, strict=False)
    ]


def _resumed(id: str, given: RunOptions, store: Store) -> Lane:
    """Return the lane of a stored run, with what may change when a run is resumed."""
    if id not in {record.id for record in store.runs()}:
        raise BadInput(
            "The race has no run '{run}' yet: give the whole command again, with the task and the agents.", run=id
        )
    task, stored = resumable(id, store)
    moved = ("budget", "limits", "max_failed", "concurrency", "workers", "retry_failed", "accept_changes", "cache")
    return task, stored.changed({name: getattr(given, name) for name in moved})


def _stored(store: Store, name: str | None) -> RunRecord | None:
    """Return a run of the stored race of this name, which may also be the name of one of its runs."""
    if name is None:
        return None
    check_run_id(f"{name}-a")
    known = {record.id: record for record in store.runs()}
    record = known.get(name) or next(
        (known[id] for letter in ascii_lowercase if (id := f"{name}-{letter}") in known), None
    )
    if record is not None and not _among(record):
        raise BadInput("The run '{run}' is not one of a race.", run=record.id)
    return record


def _among(record: RunRecord) -> tuple[str, ...]:
    return record.spec.until.among if record.spec.until is not None else ()


def _raced(lanes: Sequence[Lane], store: Store, progress: Progress | None) -> Race:
    prepared = [prepare(task, options) for task, options in lanes]
    records = [one.job.record for one in prepared]
    until = records[0].spec.until
    assert until is not None
    field = Field(until, records)
    shared = progress or Progress()
    ended = run_in_loop(lambda stop: _run(prepared, field, store, shared, stop))
    runs = tuple(Run(record, store, one.job.task.summarise) for record, one in zip(ended, prepared, strict=True))
    return field.result(runs)


async def _run(
    prepared: Sequence[Prepared], field: "Field", store: Store, progress: Progress, stop: asyncio.Event
) -> list[RunRecord]:
    """Run all agents at once; what breaks one of them ends the others, and is raised when they have ended."""
    errors: list[Exception] = []

    async def run(number: int, one: Prepared) -> RunRecord:
        record = one.job.record
        try:
            record = await run_job(replace(one.job, watch=field.watch(number)), store, _Lane(progress), stop)
        except Exception as error:  # noqa: BLE001 - raised when the others have ended
            errors.append(error)
        finally:
            field.leave(number, is_broken=bool(errors) or record.state != "finished")
        return record

    async def abandon() -> None:
        await stop.wait()
        field.abandon()

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(abandon())
        running = [group.create_task(run(number, one)) for number, one in enumerate(prepared)]
        await asyncio.wait(running)
        watching.cancel()
    records = [await _settled(task.result(), field.looked(number), store) for number, task in enumerate(running)]
    if errors:
        raise errors[0]
    if stop.is_set() and not field.is_over:
        raise Stopped(records[0].id)
    return records


async def _settled(record: RunRecord, looked: Looked | None, store: Store) -> RunRecord:
    """Return the record with what was found in the end, which a run that ended before others does not know yet."""
    if record.looked is None or looked in (None, record.looked):
        return record
    record = replace(record, looked=looked)
    await store.begin(record)
    await store.end(record)
    return record


class Field:
    """The agents of a race while it is run: what each has finished, and which of them are still in it."""

    def __init__(self, until: Until, records: Sequence[RunRecord]) -> None:
        self.rule = read_rule(until.rule)
        self._error = until.error
        self._records = records
        self._scorer = scorer_of(self.rule.metric, records[0])
        self._count = len(records)
        self._steps: list[Steps | None] = [None] * self._count
        self._deciders: dict[tuple[int, int], Decider] = {}
        self._next: dict[tuple[int, int], int] = {}
        self._begun = [-1] * self._count  # the position up to which each has begun all samples
        self._saved = [0] * self._count
        self._out: set[int] = set()
        self._left: set[int] = set()
        self._is_broken = False
        self._moved = asyncio.Event()

    def watch(self, number: int) -> "_Watch":
        """Return what looks at the run of one agent."""
        return _Watch(self, number)

    @property
    def is_over(self) -> bool:
        """True if it is decided, or cannot be decided any more."""
        return bool(self._deciders) and not any(self._is_open(pair) for pair in self._deciders)

    @property
    def is_decided(self) -> bool:
        """True if it is over because of what was seen, and not because a run broke off."""
        return self.is_over and not self._is_broken

    def is_out(self, number: int) -> bool:
        """True if an agent has nothing more to show."""
        return self._is_broken or self.is_over or number in self._out

    def begin(self, number: int, record: RunRecord, store: Store, finished: Collection[Key]) -> None:
        """Take what is stored of a run; with the last one, the pairs are set up."""
        steps = self._steps[number] = read_steps(record, store, self._scorer, finished)
        self._saved[number] = record.planned - len(finished)
        known = [step for step in self._steps if step is not None]
        if [*steps.ids] != [*known[0].ids]:
            raise BadInput("The runs of a race visit the same samples; those of '{run}' are others.", run=record.id)
        if len(known) < self._count:
            return
        sizes = [len(ids) for ids in steps.ids]
        if len(sizes) < 2:
            raise BadInput(
                "A race is decided over at least two clusters of samples; there is {count}.", count=len(sizes)
            )
        asked = question(self.rule.limit, self._error_of_a_pair(), record, sizes, paired=True)
        for pair in combinations(range(self._count), 2):
            self._deciders[pair], self._next[pair] = Decider(asked), 0
        self.look()
        self._wake()

    def add(self, number: int, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        """Take a trial that is on disk."""
        steps = self._steps[number]
        assert steps is not None
        value, why = earned(trial, verdicts, self._scorer)
        self._saved[number] -= 1
        steps.add(trial.sample_id, trial.attempt, value, why)
        self.look()

    async def turn(self, number: int, sample: Sample) -> bool:
        """Wait until every agent has begun and none is too far behind; return False if this one is out of the race."""
        steps = self._steps[number]
        assert steps is not None
        position = steps.position_by_id.get(sample.id, -1)
        self._reach(number, position - 1)  # those before it are begun, or were stored
        while not self.is_out(number) and not (self._deciders and position <= self._slowest(number) + AHEAD):
            await self._moved.wait()
        self._reach(number, position)
        return not self.is_out(number)

    def leave(self, number: int, *, is_broken: bool) -> None:
        """Note that a run has ended; where it broke off, nothing can be decided about it any more."""
        self._left.add(number)
        self._is_broken = self._is_broken or (is_broken and not self.is_over and number not in self._out)
        self._wake()

    def abandon(self) -> None:
        """End the race undecided: no agent waits for another any more."""
        self._is_broken = True
        self._wake()

    def look(self) -> None:
        """Take the steps that both agents of a pair have completed, of those that are not decided."""
        while True:  # step by step over all pairs, so that a race that goes on looks as it did at first
            ready = [pair for pair in self._deciders if self._is_open(pair) and self._next[pair] < self._complete(pair)]
            if not ready:
                break
            number = min(self._next[pair] for pair in ready)
            for pair in ready:
                if self._next[pair] == number and self._is_open(pair):
                    self._take(pair, number)
        if self.is_over:
            self._wake()

    def _complete(self, pair: tuple[int, int]) -> int:
        return min(steps.complete for number in pair if (steps := self._steps[number]) is not None)

    def _take(self, pair: tuple[int, int], number: int) -> None:
        """Take a step that both agents of a pair have completed."""
        first, second = (self._steps[agent] for agent in pair)
        assert first is not None
        assert second is not None
        decider = self._deciders[pair]
        self._next[pair] = number + 1
        before, after = first.step(number), second.step(number)
        parts = [after[id].less(before[id]) for id in after if id in before]
        if parts:
            decider.add(Between.mean(parts), len(parts))
        if self._next[pair] == len(first) and decider.decision is None:
            decider.end()
        if self._count > 2 and decider.decision in ("go", "no_go"):
            self._out.add(pair[0] if decider.decision == "go" else pair[1])

    def looked(self, number: int) -> Looked | None:
        """Return the finding about one agent: between two the decision, among more whether it is out or has won."""
        if not self._deciders:
            return None
        pair = (0, 1) if self._count == 2 else self._nearest(number)
        found = self._of(pair)
        if self._count == 2:
            return replace(found, saved=self._saved[number])
        decision: Decision | None = "no_go" if number in self._out else None
        if decision is None and self.is_decided:
            decision = "go" if self._winner() == number else "futile"
        return replace(found, decision=decision, value=None, low=None, high=None, saved=self._saved[number])

    def result(self, runs: tuple[Run, ...]) -> Race:
        decision: Decision | None = None
        winner = self._winner() if self.is_decided else None
        if self._count == 2:
            decision = self._deciders[0, 1].decision
            winner = None if self.rule.bound or decision not in ("go", "no_go") else int(decision == "go")
        elif self.is_decided:
            decision = "futile" if winner is None else "go"
        return Race(
            rule=self.rule,
            error=self._error,
            runs=runs,
            duels=tuple(Duel(first=pair[0], second=pair[1], looked=self._of(pair)) for pair in self._deciders),
            decision=decision,
            winner=winner,
            saved=sum(self._saved),
        )

    def _error_of_a_pair(self) -> float:
        """Return the error of one side of one pair: with a margin both sides have their own, else the pairs of the best agent share half."""
        return self._error if self.rule.bound else self._error / 2 / (self._count - 1)

    def _is_open(self, pair: tuple[int, int]) -> bool:
        return self._deciders[pair].decision is None and self._out.isdisjoint(pair)

    def _winner(self) -> int | None:
        left = {*range(self._count)} - self._out
        return left.pop() if len(left) == 1 else None

    def _nearest(self, number: int) -> tuple[int, int]:
        """Return the pair that an agent was looked at longest in."""
        return max((pair for pair in self._deciders if number in pair), key=lambda pair: self._deciders[pair].steps)

    def _of(self, pair: tuple[int, int]) -> Looked:
        steps = self._steps[0]
        assert steps is not None
        return self._deciders[pair].looked(len(steps), self._saved[pair[0]] + self._saved[pair[1]])

    def _slowest(self, number: int) -> float:
        others = (
            agent
            for agent in range(self._count)
            if agent != number and agent not in self._left and not self.is_out(agent)
        )
        return min((self._begun[agent] for agent in others), default=math.inf)

    def _reach(self, number: int, position: int) -> None:
        if position > self._begun[number]:
            self._begun[number] = position
            self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()


class _Watch:
    """Looks at the run of one agent of a race: an `engine.looking.Watch`."""

    def __init__(self, field: Field, number: int) -> None:
        self._field = field
        self._number = number

    @property
    def is_over(self) -> bool:
        return self._field.is_out(self._number)

    def begin(self, record: RunRecord, store: Store, finished: Collection[Key]) -> None:
        self._field.begin(self._number, record, store, finished)

    async def turn(self, sample: Sample, attempt: int) -> bool:
        return await self._field.turn(self._number, sample)

    def add(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        self._field.add(self._number, trial, verdicts)

    def looked(self) -> Looked | None:
        return self._field.looked(self._number)


class _Lane(Progress):
    """Passes on what is observed of one run."""

    def __init__(self, shared: Progress) -> None:
        super().__init__(shared.tell)
        self._shared = shared

    def begin(self, status: RunStatus) -> None:
        super().begin(status)
        self._shared.begin(status)

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        self._shared.added(trial, verdicts)
