"""Score the same answers in another order."""

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
    title=say("Verdicts on the same answers depend on the order of the samples."),
)
def order_dependent(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose verdict is another one in reverse order, where a repetition in the same order changes nothing."""
    first, again, reverse = repeated_verdicts(audit)
    if any(differing(audit, first, again)):
        return
    for sample, answer, attempt, other in differing(audit, first, reverse):
        yield audit.found(
            say("the verdict on {answer} changes with the order of the samples", answer=repr(answer.shown[:60])),
            sample,
            witness={"attempts": [attempt, other]},
        )
