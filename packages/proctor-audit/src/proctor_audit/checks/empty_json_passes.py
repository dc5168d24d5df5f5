"""Answer with empty JSON, and see who gives points for it."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.unearned import unearned

EMPTY = ("{}", "[]", "null", "```json\n{}\n```")


@check(
    group="A1",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("Empty JSON earns full points although something is expected."),
)
def empty_json_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that empty JSON passes."""
    yield from unearned(audit, lambda sample: [] if str(sample.target).strip() in {*EMPTY, "None"} else EMPTY)
