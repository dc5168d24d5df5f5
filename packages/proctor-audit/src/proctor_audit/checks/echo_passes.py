"""Repeat the question, and see who gives points for it."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.unearned import unearned
from proctor_audit.wording import fold, options_of, question_of, targets_of, text_of_target


@check(
    group="A1",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("The question repeated earns full points."),
)
def echo_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample without options whose own question passes as the answer, unless it is the target."""

    def echo(sample: Sample) -> list[str]:
        asked = question_of(sample)
        is_target = fold(asked) in {fold(text_of_target(target)) for target in targets_of(sample)}
        return [] if options_of(sample) or is_target or not asked.strip() else [asked]

    yield from unearned(audit, echo)
