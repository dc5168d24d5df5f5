"""Rank samples on which able systems agree, against the target."""

from collections.abc import Iterator

from proctor.core.sentence import clip, say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.consensus import LEAST_FAMILIES, precision_of, rank_by_consensus
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import options_of

LEAST_WEIGHT = 0.4
MOST = 100


@check(
    group="A5",
    cls="look",
    needs=("outcomes",),
    title=say("Able systems of different makers agree on an answer that was judged wrong."),
)
def consensus(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the first samples of the ranking by consensus, with how often such samples were flawed elsewhere."""
    assert audit.outcomes is not None
    by_id = {sample.id: sample for sample in audit.samples}
    ranked = rank_by_consensus(audit.outcomes.items, audit.outcomes.families)
    for each in ranked[:MOST]:
        if each.weight < LEAST_WEIGHT or each.families < LEAST_FAMILIES or each.id not in by_id:
            continue
        sample = by_id[each.id]
        kind = "choice" if options_of(sample) else "calls" if any(turn.tools for turn in sample.turns) else "text"
        yield audit.found(
            say(
                "{share} % of {families} families agree on {answer}, the target says {target}",
                share=f"{100 * each.weight:.0f}",
                families=each.families,
                answer=repr(clip(each.answer, 40)),
                target=repr(clip(str(sample.target), 40)),
            ),
            sample,
            witness={"answer": each.answer, "weight": round(each.weight, 6), "for_key": round(each.for_key, 6)},
            precision=precision_of(each.weight, kind),
        )
