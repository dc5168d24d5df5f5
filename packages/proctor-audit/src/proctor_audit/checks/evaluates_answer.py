"""Send an expression in place of the answer."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import passing_gold
from proctor_audit.variants import single_text

WHOLE = re.compile(r"-?\d{1,15}")


@check(
    group="A6",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("An expression that is no answer passes, so the scorer runs what a model wrote."),
)
def evaluates_answer(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples that an expression of the target's value passes while its neighbour fails; only of scorers of users."""
    if audit.request is None:
        return
    for sample in audit.drawn:
        text = single_text(sample)
        if text is None or passing_gold(audit, sample) is None:
            continue
        answer, neighbour = (AuditAnswer(text=written) for written in _expressions(text))
        verdicts, other = audit.score(sample, answer), audit.score(sample, neighbour)
        if verdicts.passed and other.failed and not other.passed:
            yield audit.found(
                say(
                    "{expression} passes and {neighbour} fails",
                    expression=repr(answer.text),
                    neighbour=repr(neighbour.text),
                ),
                sample,
                witness={"attempts": [attempt(sample, answer, verdicts), attempt(sample, neighbour, other)]},
            )


def _expressions(text: str) -> tuple[str, str]:
    """Return an expression with the value of a target that does not hold it as a word, and one with another value."""
    if WHOLE.fullmatch(text):
        value = int(text)
        return f"{value - 7}+9-2", f"{value - 7}+9-3"
    cut = max(1, len(text) // 2)
    return f"{text[:cut]!r}+{text[cut:]!r}", f"{text[:cut]!r}+{f'{text[cut:]}x'!r}"
