"""Answer with garbage, and see who gives points for it."""

import string
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.unearned import unearned

LETTERS = 200


@check(
    group="A1",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("Garbage earns full points: a control character, random letters, NaN, an open bracket."),
)
def garbage_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that garbage passes."""
    noise = "".join(audit.draw("garbage").choices(string.ascii_lowercase, k=LETTERS))
    yield from unearned(audit, lambda sample: ["\0?", noise, *(["NaN", "["] if not sample.known.options else [])])
