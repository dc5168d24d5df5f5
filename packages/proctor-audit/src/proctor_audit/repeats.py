"""Score the same answers in fresh processes: in the same order twice, with another order of sets, and in reverse."""

from collections.abc import Iterator, Mapping

from proctor.core.sample import Sample
from proctor_audit.answers import AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.expected import has_oracle
from proctor_audit.golds import gold_texts, kinds_of
from proctor_audit.isolated import fresh_scorer

MOST_SAMPLES = 30
WRONG = AuditAnswer(text="a certainly wrong answer")

VerdictsByKey = Mapping[tuple[str, AuditAnswer], AnswerVerdicts]


def repeated_verdicts(audit: Audit) -> tuple[VerdictsByKey, VerdictsByKey, VerdictsByKey]:
    """Return the verdicts of three fresh processes: in order, in order again, in reverse; made once for an audit."""
    samples = audit.some(audit.drawn, MOST_SAMPLES, "repeats")
    if audit.repeats is None:
        asked = [(sample, answer) for sample in samples for answer in _answers(audit, sample)]
        orders = ((asked, 0), (asked, 1), (asked[::-1], 0))
        audit.repeats = tuple(_verdicts(audit, order, hash_seed) for order, hash_seed in orders)
    first, again, reverse = audit.repeats
    for process, verdicts_by_key in enumerate(audit.repeats):
        for key, verdicts in verdicts_by_key.items():
            if verdicts.fault:
                audit.note_fault(verdicts.fault, (process, key))
    return first, again, reverse


def _answers(audit: Audit, sample: Sample) -> list[AuditAnswer]:
    if has_oracle(audit):
        return [AuditAnswer(oracle=True), WRONG]
    return [*(AuditAnswer(text=text) for text in gold_texts(sample, kinds_of(audit))[:1]), WRONG]


def _verdicts(audit: Audit, asked: list[tuple[Sample, AuditAnswer]], hash_seed: int) -> VerdictsByKey:
    assert audit.request is not None
    with fresh_scorer(audit.request, audit.seconds, hash_seed) as scorer:
        audit.calls += len(asked)
        return {(sample.id, answer): scorer.score(sample, answer) for sample, answer in asked}


def differing(
    audit: Audit, first: VerdictsByKey, second: VerdictsByKey
) -> Iterator[tuple[Sample, AuditAnswer, dict[str, object], dict[str, object]]]:
    """Yield each sample whose verdicts on an answer differ, with both of them."""
    by_id = {sample.id: sample for sample in audit.samples}
    seen: set[str] = set()
    for (id, answer), verdicts in first.items():
        other = second[id, answer]
        changed = [verdict.passed for verdict in verdicts.verdicts] != [verdict.passed for verdict in other.verdicts]
        if changed and not verdicts.fault and not other.fault and id not in seen:
            seen.add(id)
            yield by_id[id], answer, attempt(by_id[id], answer, verdicts), attempt(by_id[id], answer, other)
