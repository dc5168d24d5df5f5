"""The agent makes the same call again and again, and gets the same result."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.call_runs import equal_runs, steps_of
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.tool_failures import is_failure, outside_failure
from proctor_audit.inspector.tool_kinds import is_cumulative
from proctor_audit.inspector.view import InspectedTrial


@check(
    group="I1",
    cls="proved",
    title=say("The agent makes the same call three times or more, with the same result."),
    needs=("trajectories",),
    invalidates="neither",
)
def loop(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Three or more equal calls follow each other with equal results.

    Not: polling whose result changes, calls that do more each time, failures (`repeated-failing-call`).
    """
    for calls in equal_runs(trial):
        results = {call.result.strip() for call in calls}
        if len(results) > 1 or is_cumulative(calls[0].name) or is_failure(calls[0]) or outside_failure(calls[0]):
            continue
        yield TrialEvent(
            steps=steps_of(calls),
            span=calls[0].arguments or calls[0].name,
            sentence=say(
                "{name} was called {count} times in a row with the same arguments and the same result.",
                name=calls[0].name,
                count=len(calls),
            ),
        )
