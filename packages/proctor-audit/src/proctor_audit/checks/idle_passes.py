"""Do nothing in an environment, and see who gives points for it."""

from collections.abc import Iterator

from proctor.core.sentence import clip, say
from proctor_audit.answers import IDLE
from proctor_audit.audit import NO_TARGET, Audit, attempt, scored_by_target
from proctor_audit.check import check
from proctor_audit.expected import expected_calls
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import expects_abstention, is_empty_target


@check(
    group="A1",
    cls="proved",
    needs=("samples", "scorer", "environment"),
    cost="scorer",
    title=say("An agent that makes no call earns full points, though the sample expects calls."),
)
def idle_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples that an agent passes by a few words; something to look at where the sample does not say which calls are right.

    A sample whose right answer makes no call is no finding: it counts in the floor.
    """
    for sample in audit.drawn:
        verdicts = audit.score(sample, IDLE)
        if not verdicts.without(NO_TARGET).is_full or not scored_by_target(verdicts):
            continue
        calls = expected_calls(audit, sample)
        witness = {"attempts": [attempt(sample, IDLE, verdicts)], "expected": list(calls or ())}
        if calls:
            names = clip(", ".join(dict.fromkeys(calls)), 60)
            sentence = say("nothing is done, and it earns full points; expected: {calls}", calls=names)
            yield audit.found(sentence, sample, witness=witness)
        elif calls is None and not is_empty_target(sample.target) and not expects_abstention(sample):
            sentence = say("nothing is done, and it earns full points")
            yield audit.found(sentence, sample, cls="look", witness=witness)
