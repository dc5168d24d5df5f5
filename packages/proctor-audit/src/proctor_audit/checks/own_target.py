"""Send the target as the answer, and see who does not score it fully."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import NO_TARGET, Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import NOT_FILLED, gold_attempts, gold_shown


@check(
    group="A4",
    cls="proved",
    needs=("scorer",),
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


@check(group="A4", cls="proved", needs=("scorer",), title=say("The target, given as the answer, gets no score."))
def gold_unscored(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample whose own target no scorer scores, or makes one raise."""
    for sample, attempts in gold_attempts(audit):
        every = [verdict for _, verdicts in attempts for verdict in verdicts.without(NO_TARGET).verdicts]
        scored = [verdict for verdict in every if verdict.passed is not None]
        unscored = [verdict for verdict in every if verdict.passed is None]
        broken = [verdict for verdict in unscored if verdict.why != "not_applicable"]
        if any(verdict.why == "no_evidence" for verdict in unscored):  # which a scripted answer cannot bring
            if not scored:
                audit.note_fault("no_evidence", sample.id)
        elif unscored and (not scored or (broken and len(broken) >= len(attempts))):
            first = (broken or unscored)[0]
            yield audit.found(
                say(
                    "the target {target} gets no score under {scorer}: {reason}",
                    target=gold_shown(sample),
                    scorer=first.scorer or first.why,
                    reason=first.reason or first.why,
                ),
                sample,
                witness={"attempts": [witness for witness, _ in attempts]},
            )
