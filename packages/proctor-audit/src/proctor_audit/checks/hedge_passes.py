"""Hide the target among other answers."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.lenient import lenient
from proctor_audit.variants import hedges, single_text


@check(
    group="A3",
    cls="likely",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("The target hidden among other answers passes."),
)
def hedge_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for the scorer where a list of ten others with the target, or "T or U", passes on a fifth or more."""
    texts = sorted({text for sample in audit.by_text if (text := single_text(sample)) is not None})

    def answers(sample: Sample) -> list[AuditAnswer]:
        text = single_text(sample)
        if text is None or len(texts) < 2:
            return []
        others = [other for other in texts if other != text and text.casefold() not in other.casefold()]
        audit.draw(f"hedge {sample.id}").shuffle(others)
        return [AuditAnswer(text=said) for said in hedges(text, others)] if others else []

    yield from lenient(audit, answers)
