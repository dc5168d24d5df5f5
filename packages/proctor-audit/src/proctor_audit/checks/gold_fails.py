"""Send the target as the answer."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import NOT_FILLED, gold_attempts, gold_shown


@check(
    group="A4",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("The target, given as the answer, does not earn full points."),
)
def gold_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample whose own target fails in every accepted form."""
    for sample, attempts in gold_attempts(audit):
        scored = [verdicts.without(NOT_FILLED) for _, verdicts in attempts]
        failed = [verdict for verdicts in scored for verdict in verdicts.failed]
        if failed and not any(verdicts.is_full for verdicts in scored):
            yield audit.found(
                say(
                    "the target {target} earns {points} under {scorer}",
                    target=gold_shown(sample),
                    points=f"{max(verdict.value or 0.0 for verdict in failed):.3g}",
                    scorer=failed[0].scorer,
                ),
                sample,
                witness={"attempts": [witness for witness, _ in attempts]},
            )
