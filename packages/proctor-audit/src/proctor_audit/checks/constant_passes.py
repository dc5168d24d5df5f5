"""Give one and the same answer to all samples."""

from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.chance import LEAST_SAMPLES, chance, is_above_chance
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.unearned import always, share_passed
from proctor_audit.wording import constants, expects_abstention

SHARE = 0.8


@check(
    group="A1",
    cls="likely",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("One constant answer passes nearly all samples."),
)
def constant_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the best constant that passes at least 80 % of twelve samples or more, and far more than chance."""
    samples = [sample for sample in audit.by_text if not expects_abstention(sample)]
    if len(samples) < LEAST_SAMPLES:
        return
    tried = [(share_passed(audit, samples, always(text)), text) for text in constants(samples)]
    passed, text = max(tried, key=lambda each: (len(each[0]), each[1]))
    if len(passed) >= SHARE * len(samples) and is_above_chance(len(passed), len(samples), chance(samples)):
        yield audit.found(
            say(
                "the answer {answer} passes {count} of {all} samples, whatever is asked",
                answer=repr(text),
                count=len(passed),
                all=len(samples),
            ),
            scope="set",
            witness={"constant": text, "attempts": passed},
        )
