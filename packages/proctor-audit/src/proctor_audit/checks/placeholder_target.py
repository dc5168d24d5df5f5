"""Find targets that were never filled in."""

import re
from collections import Counter
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import options_of, question_of, targets_of

PLACEHOLDER = re.compile(
    r"(?:todo|tbd|tba|fixme|xxx+|placeholder|lorem ipsum|fill (?:me )?in|to be (?:done|determined|added)|n/?a|none yet|\?{2,}|\.{3,}|…+|-{2,}|_{2,}"
    r"|<[^<>]{0,40}>|\[(?:answer|target|insert|your|todo)[^\[\]]{0,30}\]|\{[a-z_]{1,30}\}|待(?:定|填|补充|完善)|答案待.{0,4}|占位符?|暂无)[.!。]?",
    re.IGNORECASE,
)
ABOUT_WORDS = re.compile(
    r"\b(?:words?|terms?|abbreviat\w+|acronyms?|comments?|markers?|keywords?|tags?|placeholders?|meanings?|symbol|letters|stands? for)\b|词|缩写|简称|术语|标记|标注|注明|符号",
    re.IGNORECASE,
)
SHARE = 0.2


@check(group="A4", cls="likely", title=say("The target is a placeholder."))
def placeholder_target(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target looks unfilled, where that is true of few; not where the question asks for that very word."""
    pairs = [
        (sample, str(target))
        for sample in audit.samples
        if not options_of(sample)
        for target in targets_of(sample)[:1]
        if isinstance(target, str) and PLACEHOLDER.fullmatch(target.strip())
    ]
    if Counter(sample.id for sample, _ in pairs).total() > SHARE * len(audit.samples):
        return
    for sample, target in pairs:
        if (
            not ABOUT_WORDS.search(question_of(sample))
            and target.strip().casefold() not in question_of(sample).casefold()
        ):
            yield audit.found(say("the target is {target}", target=repr(target)), sample, witness={"target": target})
