"""Find the stored runs that know how hard each sample of a task is, without being named."""

from collections.abc import Iterator, Mapping
from statistics import fmean

import msgspec

from proctor.core.run import RunRecord, Selection, Strata
from proctor.core.task import Store
from proctor.reports.matching import earned_by_sample

MOST_RUNS = 30  # that are read, the newest ones


class SampleHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What stored runs earned on each sample, in their mean, and the runs."""

    runs: tuple[RunRecord, ...] = ()
    expected: Mapping[str, float] = {}


def find_known(record: RunRecord, store: Store) -> Iterator[RunRecord]:
    """Yield the newest complete runs of the task and version of a run that have a verdict of its main scorer."""
    count = 0
    for other in sorted(store.runs(), key=lambda one: one.created, reverse=True):
        is_whole = other.spec.selection == Selection() and other.spec.until is None and other.spec.perturb is None
        is_same = (other.task, other.task_version) == (record.task, record.task_version)
        if (
            is_same
            and is_whole
            and other.state == "finished"
            and other.id != record.id
            and not record.shares_trials(other)
            and record.main_scorer in other.scorers
        ):
            yield other
            count += 1
            if count >= MOST_RUNS:
                return


def read_history(record: RunRecord, store: Store) -> SampleHistory:
    """Return what complete stored runs of the same task and version earned from the main scorer of a run."""
    runs = tuple(find_known(record, store))
    values: dict[str, list[float]] = {}
    for other in runs:
        for id, earned in earned_by_sample(other, store, record.main_scorer).items():
            if earned.attempts:
                values.setdefault(id, []).append(earned.mean)
    return SampleHistory(runs=runs, expected={id: fmean(each) for id, each in values.items()})


def find_same_draw(record: RunRecord, store: Store) -> Strata | None:
    """Return the strata of the newest run that drew with the same selection and seed, so that a new one can be compared with it."""
    for other in sorted(store.runs(), key=lambda one: one.created, reverse=True):
        is_same = (other.task, other.task_version) == (record.task, record.task_version)
        is_drawn = other.spec.selection == record.spec.selection and other.spec.seed == record.spec.seed
        if is_same and is_drawn and other.planned and other.strata is not None and other.spec.shard is None:
            return other.strata
    return None
