"""Find the stored runs that know how hard each sample of a task is, without being named."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from statistics import fmean

import msgspec

from proctor.core.run import RunRecord, Selection, Strata
from proctor.core.task import Store
from proctor.reports.earlier import Side
from proctor.reports.matching import earned_by_sample

MOST_RUNS = 30  # that are read, the newest ones


class SampleHistory(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What systems earned on each sample in stored runs: each in the mean of its runs, and all in their mean."""

    runs: tuple[RunRecord, ...] = ()
    systems: tuple[Mapping[str, float], ...] = ()

    @cached_property
    def expected(self) -> Mapping[str, float]:
        return _mean(self.systems)


def find_known(record: RunRecord, store: Store) -> Iterator[RunRecord]:
    """Yield the newest complete runs of the task and version of a run that have a verdict of its main scorer.

    An imported log counts whatever it calls version and scorer: as only the draw rests on it, it is enough that it knows the samples.
    """
    count = 0
    for other in sorted(store.runs(), key=lambda one: one.created, reverse=True):
        is_whole = other.spec.selection == Selection() and other.spec.until is None and other.spec.perturb is None
        is_fit = other.task_version == record.task_version and record.main_scorer in other.scorers
        if (
            other.task == record.task
            and (is_fit or other.is_imported)
            and is_whole
            and other.state == "finished"
            and other.id != record.id
            and not record.shares_trials(other)
        ):
            yield other
            count += 1
            if count >= MOST_RUNS:
                return


def find_adjusting(record: RunRecord, store: Store) -> list[Side]:
    """Return the runs by which differences of a run of some samples are adjusted without being named; none where it was looked at as it ran."""
    if record.spec.selection.limit is None or record.spec.until is not None:
        return []
    return [(other, store) for other in find_known(record, store)]


def read_history(record: RunRecord, store: Store) -> SampleHistory:
    """Return what complete stored runs of the same task and version earned from the main scorer of a run."""
    runs = tuple(find_known(record, store))
    by_system: dict[str, list[Mapping[str, float]]] = {}
    for other in runs:
        scorer = record.main_scorer if record.main_scorer in other.scorers else other.main_scorer
        earned = earned_by_sample(other, store, scorer)
        by_system.setdefault(other.agent, []).append(
            {id: earned_points.mean for id, earned_points in earned.items() if earned_points.attempts}
        )
    return SampleHistory(runs=runs, systems=tuple(_mean(each) for each in by_system.values()))


def _mean(earned: Iterable[Mapping[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for entries in earned:
        for id, value in entries.items():
            values.setdefault(id, []).append(value)
    return {id: fmean(each) for id, each in values.items()}


def find_same_draw(record: RunRecord, store: Store) -> Strata | None:
    """Return the strata of the newest run that drew with the same selection and seed, so that a new one can be compared with it."""
    for other in sorted(store.runs(), key=lambda one: one.created, reverse=True):
        is_same = (other.task, other.task_version) == (record.task, record.task_version)
        is_drawn = other.spec.selection == record.spec.selection and other.spec.seed == record.spec.seed
        if is_same and is_drawn and other.planned and other.strata is not None and other.spec.shard is None:
            return other.strata
    return None
