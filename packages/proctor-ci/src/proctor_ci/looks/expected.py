"""Say what to expect of each sample of a run that is compared while it goes on, by what is stored when it begins.

What other systems earned is recorded with the run when it begins, so that no later run changes a number. Expected of a sample is

    (what the baseline earned + what each of m other systems earned + the mean of all) / (m + 2)

less what the baseline earned: where that was lucky, the new run is expected to earn less. The looks adjust their mean by it, with a
slope of their own; a wrong expectation gains nothing, and makes nothing wrong (`proctor_ci/stats/known_steps.py`).
"""

import math
from collections.abc import Mapping
from statistics import fmean

from msgspec.structs import replace

from proctor.core.run import KnownSamples, RunRecord
from proctor.core.task import Store
from proctor_ci.looks.steps import Between

LEAST_KNOWN = 0.5  # share of the baseline's samples that other systems have to know
_DIGITS = 4


def know_samples(record: RunRecord, store: Store, against: str, scorer: str) -> KnownSamples:
    """Return what stored runs know, by a scorer, of the samples of the stored run that a new one is compared with."""
    from proctor.reports.history import read_history  # only needed here

    history = read_history(replace(record, main=scorer), store, without=against)
    ids = [sample.id for sample in store.planned(against)]
    earned = {id: round(history.expected[id], _DIGITS) for id in ids if id in history.expected}
    if not earned or len(earned) < LEAST_KNOWN * len(ids):
        return KnownSamples()
    return KnownSamples(runs=tuple(run.id for run in history.runs), systems=len(history.systems), earned=earned)


def expect_differences(old: Mapping[str, Between], known: KnownSamples) -> dict[str, float]:
    """Return what to expect of the difference to the baseline, for each of its samples.

    >>> old = {"a": Between(1.0, 1.0), "b": Between(0.0, 0.0)}
    >>> expect_differences(old, KnownSamples())
    {'a': -0.25, 'b': 0.25}
    """
    earned = {id: (value.low + value.high) / 2 for id, value in old.items()}
    if not earned:
        return {}
    others = [known.earned[id] for id in earned if id in known.earned]
    is_known = len(others) >= LEAST_KNOWN * len(earned)
    systems = known.systems if is_known else 0
    usual = fmean(others) if systems else 0.0
    middle = (math.fsum(earned.values()) / len(earned) + systems * usual) / (systems + 1)
    return {
        id: (value + systems * known.earned.get(id, usual) + middle) / (systems + 2) - value
        for id, value in earned.items()
    }
