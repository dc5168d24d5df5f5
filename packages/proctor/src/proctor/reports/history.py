"""Find the stored runs that know how hard each sample of a task is, without being named."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from statistics import fmean

import msgspec
from msgspec.structs import replace

from proctor.core.run import RunRecord, Selection, Strata
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.reports.matching import earned_by_sample
from proctor.stats.item_fit import discrimination

FLOOR = "baseline:"  # what the names of agents that know nothing begin with, and that of the oracle
MOST_RUNS = 30
MOST_OWN_RUNS = 10  # of the agent itself among them


class SampleHistory(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What was earned on each sample in stored runs: by each other system, and by the agent itself, in the mean of its runs.

    `expected` of a sample is half what the agent itself earned, and half what the others did in their mean: earlier runs of
    the same agent say most, and even one says as much as others with all their number (`python -m bench items`).
    """

    runs: tuple[RunRecord, ...] = ()
    others: tuple[Mapping[str, float], ...] = ()
    own: Mapping[str, float] = {}

    @cached_property
    def expected(self) -> Mapping[str, float]:
        return average([self.own, average(self.others)])

    @property
    def systems(self) -> tuple[Mapping[str, float], ...]:
        return (*self.others, self.own) if self.own else self.others


class SampleKnowledge(msgspec.Struct, frozen=True, kw_only=True):
    """How many other systems ran a sample, what they earned in the mean, and how far it tells them apart."""

    systems: int
    mean: float
    discrimination: float | None

    @property
    def sentence(self) -> Sentence:
        mean = f"{100 * self.mean:.0f} %"
        if self.discrimination is None:
            return say("Other systems in stored runs ({count}) earned {mean} here.", count=self.systems, mean=mean)
        return say(
            "Other systems in stored runs ({count}) earned {mean} here; the correlation with what they earn elsewhere is {correlation}.",
            count=self.systems,
            mean=mean,
            correlation=f"{self.discrimination:.2f}",
        )


def read_history(record: RunRecord, store: Store, *, without: str = "") -> SampleHistory:
    """Return what complete runs earned, each from the main scorer of a run or, without that, from its own.

    They are the newest of the agent itself, then the newest of each other agent, then the second of each, and so on. Agents that
    are a floor find no sample harder than another, and are no systems.

    Args:
        without: the id of a run that is left out.
    """
    seen = Counter[str]()
    by_rank: list[tuple[int, RunRecord]] = []
    for other in find_complete_runs(record, store):
        is_floor = other.agent.startswith(FLOOR) and other.agent != record.agent
        if other.id == without or is_floor:
            continue
        seen[other.agent] += 1
        is_early = other.agent == record.agent and seen[other.agent] <= MOST_OWN_RUNS
        by_rank.append((0 if is_early else seen[other.agent], other))
    runs = tuple(other for _, other in sorted(by_rank, key=itemgetter(0))[:MOST_RUNS])
    by_system: dict[str, list[Mapping[str, float]]] = {}
    for other in runs:
        scorer = record.main_scorer if record.main_scorer in other.scorers else other.main_scorer
        earned = earned_by_sample(other, store, scorer)
        by_system.setdefault(other.agent, []).append(
            {id: points.mean for id, points in earned.items() if points.attempts}
        )
    own = average(by_system.pop(record.agent, []))
    return SampleHistory(runs=runs, others=tuple(map(average, by_system.values())), own=own)


def describe_sample(record: RunRecord, store: Store, id: str) -> SampleKnowledge | None:
    """Return what stored runs of other agents than that of a run know of a sample; None where they know nothing."""
    others = read_history(record, store).others
    earned = [own[id] for own in others if id in own]
    if not earned:
        return None
    return SampleKnowledge(systems=len(earned), mean=fmean(earned), discrimination=discrimination(others, id))


def average(earned: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each sample over those that have it."""
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for scores in earned:
        for id, value in scores.items():
            totals[id] = totals.get(id, 0.0) + value
            counts[id] = counts.get(id, 0) + 1
    return {id: total / counts[id] for id, total in totals.items()}


def find_complete_runs(record: RunRecord, store: Store) -> Iterator[RunRecord]:
    """Yield the complete runs of the task, version, options and samples of a run that have a verdict of its main scorer, the newest first.

    An imported log counts whatever it calls version, options and scorer, whatever samples it lacks, and however it ended: as
    only the draw rests on it, it is enough that it knows most of them.
    """
    total = None if record.strata is None else record.strata.total
    is_part = replace(record.spec.selection, limit=None) != Selection()
    for other in _newest(record, store):
        if other.is_imported and other.state != "copying":
            yield other
            continue
        spec = other.spec
        is_whole = spec.selection == Selection() and spec.until is None and spec.perturb is None and spec.shard is None
        is_as_large = is_part or (other.strata is not None and other.strata.total == total)
        is_fit = _is_alike(record, other) and is_as_large and record.main_scorer in other.scorers
        if is_fit and is_whole and other.state == "finished" and not record.shares_trials(other):
            yield other


def find_same_draw(record: RunRecord, store: Store) -> Strata | None:
    """Return the strata of the newest run that drew from as many samples with the same selection and seed, if there is one.

    A new run that draws the same samples can be compared with it.
    """
    for other in _newest(record, store):
        is_drawn = other.spec.selection == record.spec.selection and other.spec.seed == record.spec.seed
        strata = other.strata if other.planned and other.spec.shard is None else None
        if strata is None or record.strata is None or strata.sizes != record.strata.sizes:
            continue
        if is_drawn and _is_alike(record, other):
            return strata
    return None


def _newest(record: RunRecord, store: Store) -> list[RunRecord]:
    others = (other for other in store.runs() if other.task == record.task and other.id != record.id)
    return sorted(others, key=lambda other: other.created, reverse=True)


def _is_alike(record: RunRecord, other: RunRecord) -> bool:
    return other.task_version == record.task_version and other.spec.task_options == record.spec.task_options
