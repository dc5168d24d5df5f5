"""The agent repeats a call that fails."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.call_runs import LEAST, steps_of, stretches
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.tool_failures import is_failure, outside_failure
from proctor_audit.inspector.tool_kinds import is_read
from proctor_audit.inspector.view import InspectedTrial, TrialCall


@check(
    group="I1",
    cls="proved",
    title=say("The agent repeats a call three times or more that fails with the same message."),
    needs=("trajectories",),
    invalidates="neither",
)
def repeated_failing_call(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Three or more equal calls fail with the same message, and nothing was changed between them.

    Not: other arguments, a retry after a failure of the infrastructure (`environment-failure`).
    """
    for calls in stretches(trial):
        waiting: dict[tuple[str, str], list[TrialCall]] = {}
        for call in calls:
            if is_failure(call):
                if outside_failure(call) is None:
                    waiting.setdefault((call.key, call.result.strip()), []).append(call)
            elif not is_read(call):
                yield from _events(waiting)
                waiting = {}
        yield from _events(waiting)


def _events(waiting: dict[tuple[str, str], list[TrialCall]]) -> Iterator[TrialEvent]:
    for (_, message), calls in waiting.items():
        if len({call.step for call in calls}) >= LEAST:
            yield TrialEvent(
                steps=steps_of(calls),
                span=message or calls[0].name,
                sentence=say(
                    "{name} was called {count} times with the same arguments and failed with the same message.",
                    name=calls[0].name,
                    count=len(calls),
                ),
            )
