"""Send numbers next to the target."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.lenient import lenient
from proctor_audit.variants import near_numbers, single_text


@check(
    group="A3",
    cls="likely",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("Numbers next to the target pass."),
)
def near_number_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where T ± 1 or five per cent more passes on a fifth of the numbers or more."""

    def answers(sample: Sample) -> list[AuditAnswer]:
        return [AuditAnswer(text=text) for text in near_numbers(single_text(sample) or "")]

    yield from lenient(audit, answers)
