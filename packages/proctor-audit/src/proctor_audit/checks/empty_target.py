"""Find samples without a target."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import NO_TARGET, Audit
from proctor_audit.check import check
from proctor_audit.expected import has_oracle
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import kinds_of
from proctor_audit.wording import is_empty_target


@check(group="A4", cls="proved", title=say("A sample has no target, while others have one."))
def empty_target(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples without a target where most have one; not where the empty text is expected, or the task says what is right."""
    if has_oracle(audit) or kinds_of(audit) <= {*NO_TARGET}:
        return
    missing = [sample for sample in audit.samples if is_empty_target(sample.target) and _expects_text(sample)]
    if 2 * len(missing) > len(audit.samples):
        return
    for sample in missing:
        yield audit.found(say("there is no target"), sample, witness={"target": sample.target})


def _expects_text(sample: Sample) -> bool:
    return not any(turn.reference for turn in sample.turns)
