"""The agent makes calls again and again that bring nothing new."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.tool_failures import is_failure, outside_failure
from proctor_audit.inspector.tool_kinds import families_of, is_cumulative, is_read
from proctor_audit.inspector.view import InspectedTrial, TrialCall, TrialEvent, steps_of

LEAST = 3  # times that a call is made, or a circle of calls
LONGEST = 4  # calls of a circle
BARE = re.compile(
    r"[\W_]*(?:(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|true|null|none|added|accepted|status|result|成功|完成|好的?|已\S{1,4}|结果|状态)[\W_]*){0,3}",
    re.IGNORECASE,
)


@check(
    group="I1",
    cls="proved",
    title=say("The agent makes the same call three times or more, with the same result."),
    invalidates="neither",
)
def loop(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Three or more equal calls follow each other with equal results.

    Not: polling whose result changes, calls that do more each time or may, as they report no more than that they were made,
    failures (`repeated-failing-call`).
    """
    for calls in _equal_runs(trial):
        results = {call.result.strip() for call in calls}
        call = calls[0]
        if len(results) > 1 or is_cumulative(call.name) or is_failure(call) or outside_failure(call):
            continue
        if not is_read(call) and BARE.fullmatch(call.result.strip()):
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


@check(
    group="I1",
    cls="proved",
    title=say("The agent repeats a call three times or more that fails with the same message."),
    invalidates="neither",
)
def repeated_failing_call(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Three or more equal calls fail with the same message, and nothing was changed between them.

    Not: other arguments, a retry after a failure of the infrastructure (`environment-failure`).
    """
    for calls in _stretches(trial):
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


@check(
    group="I1",
    cls="likely",
    title=say("The agent goes round in a circle of calls that bring nothing new."),
    invalidates="neither",
)
def no_progress(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """A cycle of two to four different calls comes three times or more, without a new result and without a write."""
    for calls in _stretches(trial):
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


def _stretches(trial: InspectedTrial) -> Iterator[list[TrialCall]]:
    """Yield the answered calls between two messages of the user."""
    users = [step.index for step in trial.said_by("user")]
    answered = [call for call in trial.calls if call.answered is not None]
    for _, calls in groupby(answered, key=lambda call: sum(user < call.step for user in users)):
        yield list(calls)


def _equal_runs(trial: InspectedTrial) -> Iterator[list[TrialCall]]:
    """Yield each series of at least three equal calls in a row; equal calls of one message count once."""
    for calls in _stretches(trial):
        for _, group in groupby(calls, key=lambda call: call.key):
            run = list(group)
            if len({call.step for call in run}) >= LEAST:
                yield run
