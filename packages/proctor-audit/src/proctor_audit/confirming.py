"""Score the answers of a proved finding once more, and in another process: what code of the user did once proves nothing."""

from collections.abc import Callable, Sequence

import msgspec

from proctor.core.sample import Sample
from proctor_audit.answers import AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.tool_failures import HEAD, OUTSIDE
from proctor_audit.playing import PlayedCall

ScoredAgain = tuple[Sample, AuditAnswer, AnswerVerdicts]
ScoreAnswer = Callable[[Sample, AuditAnswer], AnswerVerdicts]


def is_confirmed(audit: Audit, finding: AuditFinding) -> bool:
    """True if a proved finding that rests on an environment or on code of the user is the same the second time.

    What is not is counted as not checked, and so is what failed outside the task. A finding of another class claims no proof,
    and one that shows two verdicts on an answer is confirmed by itself.
    """
    attempts = finding.witness.get("attempts", ())
    answers = {repr((each["sample"], each["answer"])) for each in attempts}
    task = audit.task
    played = (audit.request, task.environment, task.user, task.oracle, task.oracle_agent, task.present)
    is_certain = all(part is None for part in played)
    if finding.cls != "proved" or is_certain or len(answers) < len(attempts):
        return True
    again = score_again(audit, finding)
    if audit.request is not None and not count_differing(finding, again):
        again = score_again(audit, finding, audit.score_elsewhere)
    outside = any(fails_outside(call) for _, _, verdicts in again for call in verdicts.calls)
    faults = [verdicts.fault for _, _, verdicts in again if verdicts.fault]
    if not outside and not count_differing(finding, again):
        return True
    audit.note_fault("outside" if outside else faults[0] if faults else "not_again", finding.id)
    return False


def fails_outside(call: PlayedCall) -> bool:
    """True if the result of a call says that something outside the task failed."""
    return call.is_error and OUTSIDE.search(call.result[:HEAD]) is not None


def score_again(audit: Audit, finding: AuditFinding, score: ScoreAnswer | None = None) -> list[ScoredAgain]:
    """Return the answers of a witness with what the scorers say of them now, in another process if `score` is that."""
    score = score or audit.score_again
    by_id = {sample.id: sample for sample in audit.samples}
    asked = [
        (by_id[each["sample"]], msgspec.convert(each["answer"], AuditAnswer))
        for each in finding.witness.get("attempts", [])
    ]
    return [(sample, answer, score(sample, answer)) for sample, answer in asked]


def count_differing(finding: AuditFinding, again: Sequence[ScoredAgain]) -> int:
    """Return how many answers of a witness end otherwise than each attempt at them in the witness."""
    return sum(attempt(*each) not in finding.witness["attempts"] for each in again)
