"""The agent ends with nothing."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.rule import TrialEvent
from proctor_audit.inspector.view import InspectedTrial

INVISIBLE = "\u200b\u200c\u200d\ufeff\u2060"


@check(
    group="I3",
    cls="proved",
    title=say("The last reply is empty and makes no call."),
    needs=("trajectories",),
    invalidates="neither",
)
def empty_end(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The last reply is empty and makes no call. Not: short complete ends such as "42"; a reply that the length limit cut."""
    reply = trial.last_reply
    if reply is None or reply.has_calls or reply.has_files or trial.stop == "length":
        return
    if not reply.text.strip().strip(INVISIBLE).strip():
        yield TrialEvent(steps=(reply.index,), span="", sentence=say("The last reply is empty."))
