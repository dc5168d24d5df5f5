"""The agent goes round in a circle."""

from collections.abc import Iterator, Sequence

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.call_runs import LEAST, steps_of, stretches
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.tool_failures import outside_failure
from proctor_audit.inspector.tool_kinds import families_of, is_cumulative, is_read
from proctor_audit.inspector.view import InspectedTrial, TrialCall

LONGEST = 4


@check(
    group="I1",
    cls="likely",
    title=say("The agent goes round in a circle of calls that bring nothing new."),
    needs=("trajectories",),
    invalidates="neither",
)
def no_progress(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """A cycle of two to four different calls comes three times or more, without a new result and without a write."""
    for calls in stretches(trial):
        keys = [(call.key, call.result.strip()) for call in calls]
        start = 0
        while start < len(calls):
            length, period = _longest(keys, start)
            circle = calls[start : start + length]
            if length and not any(_makes_progress(call) for call in circle[:period]):
                yield TrialEvent(
                    steps=steps_of(circle),
                    span=circle[0].arguments or circle[0].name,
                    sentence=say(
                        "The same {period} calls were made {count} times over, with the same results.",
                        period=period,
                        count=length // period,
                    ),
                )
            start += max(length, 1)


def _longest(keys: Sequence[tuple[str, str]], start: int) -> tuple[int, int]:
    for period in range(2, LONGEST + 1):
        end = start + period
        while end < len(keys) and keys[end] == keys[end - period]:
            end += 1
        if end - start >= LEAST * period and len(set(keys[start : start + period])) > 1:
            return end - start, period
    return 0, 0


def _makes_progress(call: TrialCall) -> bool:
    writes = bool(families_of(call.name)) and not is_read(call)
    return writes or is_cumulative(call.name) or outside_failure(call) is not None
