"""Report the rows that the reader refuses."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding


@check(group="A8", cls="proved", title=say("A row cannot be read."))
def unreadable(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each row that was left aside."""
    for row in audit.unreadable:
        yield audit.found(say("{reason}", reason=row.reason), row.id, witness={"reason": str(row.reason)})
