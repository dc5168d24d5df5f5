"""The agent makes the same call again and again, and gets the same result."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.call_runs import equal_runs, steps_of
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.tool_failures import is_failure, outside_failure
from proctor_audit.inspector.tool_kinds import is_cumulative, is_read
from proctor_audit.inspector.view import InspectedTrial

BARE = re.compile(
    r"[\W_]*(?:(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|true|null|none|added|accepted|status|result|成功|完成|好的?|已\S{1,4}|结果|状态)[\W_]*){0,3}",
    re.IGNORECASE,
)


@check(
    group="I1",
    cls="proved",
    title=say("The agent makes the same call three times or more, with the same result."),
    needs=("trajectories",),
    invalidates="neither",
)
def loop(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """Three or more equal calls follow each other with equal results.

    Not: polling whose result changes, calls that do more each time or may, as they report no more than that they were made,
    failures (`repeated-failing-call`).
    """
    for calls in equal_runs(trial):
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
