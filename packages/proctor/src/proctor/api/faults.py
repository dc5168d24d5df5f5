"""Estimate how an agent got on with the faults that were put into its calls (`--perturb`).

    accuracy [fault=error]     over the trials that met a fault of this kind; [fault=none]: that met none
    recovered [fault=error]    the share of such faults after which the same tool was called again and answered

Which trials meet a fault also depends on how much they call, so the difference between these is no effect of the faults;
that is the difference to a run without them, by `proctor compare`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from proctor.core.run import Estimate, RunRecord
from proctor.core.sample import ToolResult
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.core.trajectory import Trajectory
from proctor.core.trial import IN_THE_MEAN
from proctor.stats.estimate import estimate

NO_FAULT = "none"
LOSING = ("error", "lost")  # after these there is no result until the tool is called again

Key = tuple[str, int]


def fault_estimates(record: RunRecord, store: Store, names: Mapping[str, str]) -> list[Estimate]:
    """Return the estimates by kind of fault; none for a run without faults.

    Args:
        names: what the main number of each scorer is called.
    """
    if record.spec.perturb is None:
        return []
    kinds: dict[Key, tuple[str, ...]] = {}
    recovered: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in store.trials(record.id):
        if trial.outcome in IN_THE_MEAN:
            faults = trial.trajectory.faults
            kinds[trial.sample_id, trial.attempt] = tuple(dict.fromkeys(fault.kind for fault in faults)) or (NO_FAULT,)
            for kind, value in recoveries(trial.trajectory):
                recovered[kind][trial.sample_id].append(value)
    estimates = [figure for scorer, name in names.items() for figure in _of_scorer(record, store, scorer, name, kinds)]
    clusters = {sample.id: sample.cluster or sample.id for sample in store.planned(record.id)}
    for kind, by_sample in recovered.items():
        estimates.append(_mean("recovered", kind, by_sample, clusters))
    return estimates


def _of_scorer(
    record: RunRecord, store: Store, scorer: str, name: str, kinds: Mapping[Key, tuple[str, ...]]
) -> Iterator[Estimate]:
    by_kind: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    clusters: dict[str, str] = {}
    for value in store.values(record.id, scorer):
        clusters[value.sample_id] = value.cluster
        for kind in kinds.get((value.sample_id, value.attempt), ()):
            if value.value is not None:
                by_kind[kind][value.sample_id].append(value.value)
    for kind, by_sample in by_kind.items():
        yield _mean(name, kind, by_sample, clusters)


def _mean(name: str, kind: str, by_sample: Mapping[str, Sequence[float]], clusters: Mapping[str, str]) -> Estimate:
    cases = (Case(cluster=clusters[id], values=tuple(values), planned=len(values)) for id, values in by_sample.items())
    return estimate(name, tally(cases), slice=f"fault={kind}")


def recoveries(trajectory: Trajectory) -> Iterator[tuple[str, float]]:
    """Yield for each fault that lost a result whether the same tool was called again and answered."""
    agents = (step for step in trajectory.steps if step.author != "user")  # a simulated user may have tools too
    results = [part for step in agents for part in step.message.parts if isinstance(part, ToolResult)]
    losing = {fault.call for fault in trajectory.faults if fault.kind in LOSING}
    for fault in trajectory.faults:
        if fault.kind in LOSING:
            later = (
                result
                for number, result in enumerate(results[fault.call + 1 :], fault.call + 1)
                if number not in losing and result.name == fault.tool and not result.is_error
            )
            yield fault.kind, float(next(later, None) is not None)
