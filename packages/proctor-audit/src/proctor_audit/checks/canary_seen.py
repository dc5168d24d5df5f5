"""Put a text of our own in place of the target, and see whether the agent gets it."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.searching import MESSAGES, plant
from proctor_audit.wording import options_of

TRIED = 12  # samples


@check(
    group="A7",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("The agent is shown what it is scored by."),
)
def canary_seen(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target, or what a turn expects, is in a message to the agent or in what a tool that reads returns.

    Not flagged: options, of which one is right, and samples with `readable` in their meta. Nothing is put into files and
    environment variables, and a shell is not searched.
    """
    if audit.task.present is None and audit.task.environment is None and audit.task.user is None:
        return  # the messages are those of the sample, whatever the target is
    samples = [sample for sample in audit.drawn if not options_of(sample) and not sample.meta.get("readable")]
    missing = unplayed = 0
    for sample in audit.some(samples, TRIED):
        canary = AuditAnswer(text=f"canary{audit.draw(f'canary {sample.id}').getrandbits(64):016x}", canary=True)
        if plant(sample, canary.text) == sample:
            missing += 1
            continue
        verdicts = audit.score_again(sample, canary)  # a target that something reads may not be replaced
        unplayed += bool(verdicts.fault)
        if verdicts.saw:
            yield audit.found(
                say("a text in place of the target is in the messages to the agent")
                if verdicts.saw == MESSAGES
                else say("a text in place of the target is in what {tool} returns", tool=verdicts.saw),
                sample,
                witness={"attempts": [attempt(sample, canary, verdicts)]},
            )
    if missing:
        audit.leave_out(say("{count} samples have no target", count=missing))
    if unplayed:
        audit.leave_out(say("{count} samples cannot be played with another target", count=unplayed))
