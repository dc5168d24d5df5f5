"""Send the answers of which a scorer declares that they must pass, or must not."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding


@check(
    group="A3",
    cls="proved",
    needs=("scorer",),
    title=say("A scorer rejects an answer that it declares to be right, or accepts one that it declares to be wrong."),
)
def declaration_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the first such answer to a sample; only of scorers that declare `equivalents` or `opposites`."""
    for sample in audit.by_text:
        for each in audit.declared(sample):
            verdicts = audit.score(sample, each.answer)
            own = [verdict.passed for verdict in verdicts.verdicts if verdict.scorer == each.scorer]
            if own == [None]:
                audit.note_fault("unscored", (sample.id, each.scorer, each.change))
            if (not each.passes) in own:
                shown = {"scorer": each.scorer, "change": each.change, "answer": repr(each.answer.shown[:60])}
                yield audit.found(
                    say("{scorer} rejects {answer}, which it declares to be right ({change})", **shown)
                    if each.passes
                    else say("{scorer} accepts {answer}, which it declares to be wrong ({change})", **shown),
                    sample,
                    witness={"change": each.change, "attempts": [attempt(sample, each.answer, verdicts)]},
                )
                break
