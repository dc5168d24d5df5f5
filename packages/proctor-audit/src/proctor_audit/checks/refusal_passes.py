"""Decline, and see who gives points for it."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.unearned import unearned
from proctor_audit.wording import REFUSALS


@check(
    group="A1",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("An answer that declines earns full points."),
)
def refusal_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that one of eight refusals passes."""
    yield from unearned(audit, lambda _: REFUSALS)
