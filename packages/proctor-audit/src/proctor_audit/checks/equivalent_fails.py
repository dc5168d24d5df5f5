"""Send the plain form of a target that is written otherwise."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import failing, passing_gold
from proctor_audit.variants import canonical, single_text
from proctor_audit.wording import question_of

FORM = re.compile(
    r"\b(?:decimals?|digits?|round(?:ed)?|nearest|places|significant|format(?:ted)?|exactly as|verbatim|quote[sd]?|full stop|period|sentence|letter for letter|separator)\b|保留|小数|精确|四舍五入|格式|位|原文|引号|句号|完整句",
    re.IGNORECASE,
)


@check(
    group="A3",
    cls="likely",
    needs=("scorer",),
    title=say("The plain form of the target is rejected, so the target wants a form that nobody asked for."),
)
def equivalent_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target is not in its plain form, which is rejected; not where the question asks for a form."""
    for sample in audit.by_text:
        text = single_text(sample)
        if text is None or canonical(text) == text or FORM.search(question_of(sample)):
            continue
        plain = canonical(text)
        gold = passing_gold(audit, sample)
        rejected = failing(audit, sample, AuditAnswer(text=plain))
        if gold is not None and rejected is not None:
            yield audit.found(
                say("{plain} is rejected, only {written} is accepted", plain=repr(plain), written=repr(text)),
                sample,
                witness={"attempts": [gold, rejected]},
            )
