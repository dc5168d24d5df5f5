"""The infrastructure failed, and the trial was scored all the same."""

from collections.abc import Iterator, Sequence

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.tool_failures import outside_failure
from proctor_audit.inspector.view import InspectedTrial, TrialCall, TrialEvent, steps_of


@check(
    group="I4",
    cls="likely",
    title=say("A tool failed for a reason outside the agent, and the trial was scored."),
    invalidates="failure",
)
def environment_failure(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """A result is an infrastructure error by its head; where a later equal call made good for it, that is for a look only.

    Not: business errors; data, logs and texts about errors; what the agent named wrongly.
    """
    if trial.outcome != "scored":
        return
    words = {number: words for number, call in enumerate(trial.calls) if (words := outside_failure(call)) is not None}
    failed = [number for number in words if not _is_made_good(trial.calls, number, words)]
    if shown := failed or list(words):
        calls = [trial.calls[number] for number in shown]
        yield TrialEvent(
            steps=steps_of(calls) if failed else tuple(call.steps[-1] for call in calls),
            span=words[shown[0]] if words[shown[0]] in calls[0].result else calls[0].result.strip(),
            sentence=say(
                "A tool failed for a reason outside the agent ({count} results), and no equal call made good for it.",
                count=len(calls),
            )
            if failed
            else say(
                "A tool failed for a reason outside the agent ({count} results), and a later equal call made good for it.",
                count=len(calls),
            ),
            invalidates="failure" if failed else "neither",
            cls="likely" if failed else "look",
        )


def _is_made_good(calls: Sequence[TrialCall], number: int, failed: dict[int, str]) -> bool:
    return any(
        later not in failed and calls[later].key == calls[number].key and calls[later].answered is not None
        for later in range(number + 1, len(calls))
    )
