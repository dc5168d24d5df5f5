"""Read what belongs together in a store: trials with the verdicts that count."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict

Key = tuple[str, int]


def trial_of(store: Store, run_id: str, sample_id: str, attempt: int) -> Trial | None:
    """Return one trial of a run; None when it has no such trial."""
    trials = store.trials(run_id, sample_id=sample_id)
    return next((trial for trial in trials if trial.attempt == attempt), None)


def verdicts_of(store: Store, run_id: str, sample_id: str, attempt: int) -> list[Verdict]:
    """Return the verdicts that count of one trial."""
    verdicts = store.verdicts(run_id, sample_id=sample_id)
    return [verdict for verdict in verdicts if verdict.attempt == attempt]


def verdicts_by_trial(store: Store, run_id: str) -> Iterator[tuple[Key, list[Verdict]]]:
    """Yield the verdicts of each trial that has some, in the order of the plan."""
    groups = groupby(store.verdicts(run_id), key=lambda verdict: (verdict.sample_id, verdict.attempt))
    return ((key, list(verdicts)) for key, verdicts in groups)


def trials_with_verdicts(store: Store, run_id: str) -> Iterator[tuple[Trial, Sequence[Verdict]]]:
    """Yield every trial with the verdicts that count, reading both once.

    Trials and verdicts come in the order of the plan; where that does not hold, the verdicts are looked up.
    """
    groups = verdicts_by_trial(store, run_id)
    key, verdicts = next(groups, (None, []))
    for trial in store.trials(run_id):
        if key == (trial.sample_id, trial.attempt):
            yield trial, verdicts
            key, verdicts = next(groups, (None, []))
        elif trial.outcome == "scored":
            yield trial, verdicts_of(store, run_id, trial.sample_id, trial.attempt)
        else:
            yield trial, []
