"""Read what was measured of each sample besides scores: whether its attempts failed, and what they took."""

import math
from collections.abc import Callable, Mapping

import msgspec

from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.main_number import FAILED
from proctor.core.trial import IN_THE_MEAN, INFRASTRUCTURE, Trial
from proctor.reports.matching import Earned

_READ: Mapping[str, Callable[[Trial], float | None]] = {
    "latency": lambda trial: trial.seconds,
    "cost": lambda trial: trial.usage.cost,
    "tokens": lambda trial: float(trial.usage.input_tokens + trial.usage.output_tokens),
}


class Values(msgspec.Struct):
    """What was measured of the attempts at a sample."""

    cluster: str
    tags: Mapping[str, str]
    planned: int
    values: list[float] = []

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)


def measured(run: Run, quantity: str, slice_: str) -> dict[str, Values]:
    """Return what was measured of each planned sample: whether its attempts failed, or an amount of them.

    Raises:
        BadInput: the amount was recorded of no trial.
    """
    attempts = run.record.spec.attempts
    failed = {(trial.sample_id, trial.attempt) for trial in run.trials(outcome="agent_failed")}
    values: dict[str, Values] = {}
    for value in run.store.values(run.id, run.record.main_scorer):
        if is_in(value.tags, slice_):
            sample = values.get(value.sample_id)
            if sample is None:
                sample = values[value.sample_id] = Values(value.cluster, value.tags, attempts)
            if quantity == FAILED and value.why not in ("skipped", "cancelled"):
                sample.values.append(value.why in INFRASTRUCTURE or (value.sample_id, value.attempt) in failed)
    for planned in run.store.planned(run.id) if sum(run.outcomes.values()) < run.record.planned else ():
        if planned.id not in values and is_in(planned.tags, slice_):
            values[planned.id] = Values(planned.cluster or planned.id, planned.tags, attempts)
    if quantity == FAILED:
        return values
    read = _READ[quantity]
    for trial in run.trials():
        if trial.sample_id in values and trial.outcome in IN_THE_MEAN and (amount := read(trial)) is not None:
            values[trial.sample_id].values.append(amount)
    if not any(sample.values for sample in values.values()):
        raise BadInput("The run {run} records no {metric}.", run=run.id, metric=quantity)
    return values


def as_earned(values: Mapping[str, Values]) -> dict[str, Earned]:
    """Return values of 0 and 1 as scores, so that two runs can be matched by them."""
    return {
        id: Earned(value.cluster, value.tags, value.planned, math.fsum(value.values), len(value.values))
        for id, value in values.items()
    }


def is_in(tags: Mapping[str, str], slice_: str) -> bool:
    """True if a sample with these tags belongs to a slice; to '' belong all."""
    key, _, value = slice_.partition("=")
    return not slice_ or tags.get(key) == value
