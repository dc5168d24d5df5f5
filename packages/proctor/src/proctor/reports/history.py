"""Find the stored runs that know how hard each sample of a task is, without being named."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from statistics import fmean

import msgspec

from proctor.core.run import RunRecord, Strata
from proctor.core.task import Store
from proctor.reports.earlier import find_known
from proctor.reports.matching import earned_by_sample


class SampleHistory(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What systems earned on each sample in stored runs: each in the mean of its runs, and all in their mean."""

    runs: tuple[RunRecord, ...] = ()
    systems: tuple[Mapping[str, float], ...] = ()

    @cached_property
    def expected(self) -> Mapping[str, float]:
        return _mean(self.systems)


def read_history(record: RunRecord, store: Store) -> SampleHistory:
    """Return what complete stored runs of the same task and version earned from the main scorer of a run."""
    runs = tuple(find_known(record, store))
    by_system: dict[str, list[Mapping[str, float]]] = {}
    for other in runs:
        scorer = record.main_scorer if record.main_scorer in other.scorers else other.main_scorer
        earned = earned_by_sample(other, store, scorer)
        by_system.setdefault(other.agent, []).append(
            {id: points.mean for id, points in earned.items() if points.attempts}
        )
    return SampleHistory(runs=runs, systems=tuple(_mean(each) for each in by_system.values()))


def _mean(earned: Iterable[Mapping[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for scores in earned:
        for id, value in scores.items():
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
