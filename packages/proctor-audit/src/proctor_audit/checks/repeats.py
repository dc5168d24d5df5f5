"""Score the same answers in fresh processes: in the same order twice, with another order of sets, and in reverse."""

from collections.abc import Iterator, Mapping
from contextlib import closing

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import ORACLE, AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.expected import has_oracle
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import gold_texts, kinds_of
from proctor_audit.isolated import IsolatedScorer

MOST_SAMPLES = 30
WRONG = AuditAnswer(text="a certainly wrong answer")

VerdictsByKey = Mapping[tuple[str, AuditAnswer], AnswerVerdicts]
DifferingVerdicts = tuple[Sample, str, dict[str, object]]


@check(
    group="A6",
    cls="proved",
    needs=("scorer", "user_code"),
    title=say("The same answer to the same sample gets another verdict in a fresh process."),
)
def not_repeatable(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with two verdicts on one answer; only of scorers of users, as Proctor's own draw nothing."""
    first, again, _ = _repeated_verdicts(audit)
    for sample, answer, witness in _differing(audit, first, again):
        yield audit.found(
            say("the answer {answer} gets another verdict in another process", answer=answer), sample, witness=witness
        )


@check(
    group="A6",
    cls="proved",
    needs=("scorer", "user_code"),
    title=say("Verdicts on the same answers depend on the order of the samples."),
)
def order_dependent(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose verdict is another one in reverse order, where a repetition in the same order changes nothing."""
    first, again, reverse = _repeated_verdicts(audit)
    if any(_differing(audit, first, again)):
        return
    for sample, answer, witness in _differing(audit, first, reverse):
        yield audit.found(
            say("the verdict on {answer} changes with the order of the samples", answer=answer), sample, witness=witness
        )


def _repeated_verdicts(audit: Audit) -> tuple[VerdictsByKey, VerdictsByKey, VerdictsByKey]:
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
        return [ORACLE, WRONG]
    return [*(AuditAnswer(text=text) for text in gold_texts(sample, kinds_of(audit))[:1]), WRONG]


def _verdicts(audit: Audit, asked: list[tuple[Sample, AuditAnswer]], hash_seed: int) -> VerdictsByKey:
    assert audit.request is not None
    audit.calls += len(asked)
    with closing(IsolatedScorer(audit.request, seconds=audit.seconds, hash_seed=hash_seed)) as scorer:
        return {(sample.id, answer): scorer.score(sample, answer) for sample, answer in asked}


def _differing(audit: Audit, first: VerdictsByKey, second: VerdictsByKey) -> Iterator[DifferingVerdicts]:
    """Yield each sample whose verdicts on an answer differ, with that answer and the witness of both verdicts."""
    by_id = {sample.id: sample for sample in audit.samples}
    seen: set[str] = set()
    for (id, answer), verdicts in first.items():
        other = second[id, answer]
        changed = [verdict.passed for verdict in verdicts.verdicts] != [verdict.passed for verdict in other.verdicts]
        if changed and not verdicts.fault and not other.fault and id not in seen:
            seen.add(id)
            attempts = [attempt(by_id[id], answer, verdicts), attempt(by_id[id], answer, other)]
            yield by_id[id], repr(answer.shown[:60]), {"attempts": attempts}
