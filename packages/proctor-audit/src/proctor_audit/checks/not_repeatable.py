"""Score the same answers again in a fresh process."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.repeats import differing, repeated_verdicts


@check(
    group="A6",
    cls="proved",
    needs=("samples", "scorer", "user_code"),
    cost="scorer",
    title=say("The same answer to the same sample gets another verdict in a fresh process."),
)
def not_repeatable(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with two verdicts on one answer; only of scorers of users, as Proctor's own draw nothing."""
    first, again, _ = repeated_verdicts(audit)
    for sample, answer, attempt, other in differing(audit, first, again):
        yield audit.found(
            say("the answer {answer} gets another verdict in another process", answer=repr(answer.shown[:60])),
            sample,
            witness={"attempts": [attempt, other]},
        )
