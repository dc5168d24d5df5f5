"""Calls that follow each other."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor_audit.inspector.view import InspectedTrial, TrialCall

LEAST = 3


def stretches(trial: InspectedTrial) -> Iterator[list[TrialCall]]:
    """Yield the answered calls between two messages of the user."""
    users = [step.index for step in trial.said_by("user")]
    answered = [call for call in trial.calls if call.answered is not None]
    for _, calls in groupby(answered, key=lambda call: sum(user < call.step for user in users)):
        yield list(calls)


def equal_runs(trial: InspectedTrial) -> Iterator[list[TrialCall]]:
    """Yield each series of at least three equal calls in a row; equal calls of one message count once."""
    for calls in stretches(trial):
        for _, group in groupby(calls, key=lambda call: call.key):
            run = list(group)
            if len({call.step for call in run}) >= LEAST:
                yield run


def steps_of(calls: Sequence[TrialCall]) -> tuple[int, ...]:
    """Return the indices of calls and their results, in order."""
    return tuple(sorted({step for call in calls for step in call.steps}))
