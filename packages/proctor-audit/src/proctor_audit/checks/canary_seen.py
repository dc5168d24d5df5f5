"""Put a text of our own in place of the target, and see whether the agent gets it."""

from collections import Counter
from collections.abc import Iterator

from proctor.core.sentence import Sentence, say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.scoring import NOT_PLANTED, VARIABLE
from proctor_audit.searching import MESSAGES
from proctor_audit.shell_search import COMMAND_BY_PLACE
from proctor_audit.wording import options_of

TRIED = 12  # samples
NO_SHELL = "no shell"
PLACES = {
    NO_SHELL: say("files, variables, processes and version histories, as no tool is a shell"),
    "files": say("files of the working folder"),
    "folders of graders": say("folders where graders keep files"),
    "variables": say("environment variables"),
    "processes": say("processes"),
    "history": say("version histories"),
}


@check(group="A7", cls="proved", needs=("scorer",), title=say("The agent is shown what it is scored by."))
def canary_seen(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target, or what a turn expects, is where the agent gets it: in a message, what a tool that reads returns,
    or what a shell finds in files, variables, processes and version histories.

    What else is hidden, the environment says (`MakerInfo.plant`). Not flagged: options, of which one is right, and samples with
    `readable` in their meta. Variables of the process that evaluates are something to look at: what they hold is not known.
    """
    if audit.task.present is None and audit.task.environment is None and audit.task.user is None:
        return  # the messages are those of the sample, whatever the target is
    samples = [sample for sample in audit.drawn if not options_of(sample) and not sample.meta.get("readable")]
    left_out, unsearched = Counter[str](), Counter[str]()
    for sample in audit.some(samples, TRIED):
        canary = AuditAnswer(text=f"canary{audit.draw(f'canary {sample.id}').getrandbits(64):016x}", canary=True)
        verdicts = audit.score_again(sample, canary)  # a target that something reads may not be replaced
        left_out.update([verdicts.fault] if verdicts.fault == NOT_PLANTED else ["unplayed"] if verdicts.fault else [])
        if verdicts.saw:
            yield audit.found(
                _sentence(verdicts.saw),
                sample,
                cls="look" if verdicts.saw == VARIABLE else None,
                witness={"attempts": [attempt(sample, canary, verdicts)]},
            )
        elif not verdicts.fault and audit.task.environment is not None:
            unsearched.update(COMMAND_BY_PLACE.keys() - set(verdicts.searched) if verdicts.searched else [NO_SHELL])
    for name, count in sorted(unsearched.items()):
        audit.leave_out(say("{place}: not searched in {count} samples", place=PLACES[name], count=count))
    if missing := left_out[NOT_PLANTED]:
        audit.leave_out(say("{count} samples have no target", count=missing))
    if unplayed := left_out["unplayed"]:
        audit.leave_out(say("{count} samples cannot be played with another target", count=unplayed))


def _sentence(saw: str) -> Sentence:
    if saw == MESSAGES:
        return say("a text in place of the target is in the messages to the agent")
    if saw == VARIABLE:
        return say("the agent sees the environment variables of the process that evaluates")
    return say("a text in place of the target is in what {tool} returns", tool=saw)
