"""Say the opposite of the target."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.lenient import lenient
from proctor_audit.variants import opposites


@check(
    group="A3",
    cls="likely",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("Answers that contradict the target pass."),
)
def opposite_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where the opposite passes on a fifth of the samples or more."""
    yield from lenient(audit, lambda sample: [*opposites(sample)])
