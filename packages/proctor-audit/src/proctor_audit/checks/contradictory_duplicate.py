"""Find samples that ask the same and expect what excludes each other."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding, FindingClass
from proctor_audit.golds import NOT_FILLED, gold_answers, kinds_of
from proctor_audit.inputs import equal_inputs, pair_finding, target_text_key
from proctor_audit.wording import fold, is_empty_target, options_of, targets_of, text_of_target


@check(group="A8", cls="proved", title=say("Two samples ask the same, and neither's target is accepted for the other."))
def contradictory_duplicate(audit: Audit) -> Iterator[AuditFinding]:
    """Yield pairs of equal inputs whose targets the scorer accepts in neither direction."""
    for group in equal_inputs(audit, with_order=False):
        known: dict[str, Sample] = {}
        for sample in group:
            if is_empty_target(sample.target) and not any(turn.reference for turn in sample.turns):
                continue
            key = target_text_key(sample)
            for other in known.values():
                exclusion = _excludes(audit, other, sample) if target_text_key(other) != key else None
                if exclusion is not None:
                    named = {"first": other.id, "second": sample.id}
                    sentence = say("{first} and {second} ask the same and expect different answers", **named)
                    yield pair_finding(audit, sentence, other, sample, exclusion.cls, exclusion.witness)
                    break
            known.setdefault(key, sample)


class TargetExclusion(msgspec.Struct, frozen=True, kw_only=True):
    """How sure it is that two targets exclude each other, and the answers that show it."""

    cls: FindingClass
    witness: Mapping[str, Any] = {}


def _excludes(audit: Audit, first: Sample, second: Sample) -> TargetExclusion | None:
    """Return how sure it is that neither target is accepted for the other; None where one is, or an answer was not scored.

    Other texts are likely other answers where no scorer can be asked, or the scorer rejects even the sample's own target.
    """
    if _accepted(first) & _accepted(second):
        return None
    if options_of(first) and audit.request is None:
        return TargetExclusion(cls="proved")
    has_no_witness = kinds_of(audit) <= NOT_FILLED or audit.task.oracle_agent is not None
    if has_no_witness or options_of(first) != options_of(second):
        return TargetExclusion(cls="likely")
    pairs = ((first, first), (second, second), (first, second), (second, first))
    asked = [[(sample, answer) for answer in _answers_of(audit, other)] for sample, other in pairs]
    scored = [[audit.score(*each).without(NOT_FILLED) for each in answers] for answers in asked]
    passed = [
        [each for each, verdicts in zip(answers, direction, strict=True) if verdicts.is_full]
        for answers, direction in zip(asked, scored, strict=True)
    ]
    if passed[2] or passed[3]:
        return None
    are_rejected = [bool(direction) and all(verdicts.failed for verdicts in direction) for direction in scored]
    if are_rejected[2] and are_rejected[3] and all(passed[own] or are_rejected[own] for own in (0, 1)):
        shown = [*passed[0][:1], *passed[1][:1], *asked[2], *asked[3]]
        attempts = [attempt(*each, audit.score(*each)) for each in shown]
        cls: FindingClass = "proved" if passed[0] and passed[1] else "likely"
        return TargetExclusion(cls=cls, witness={"attempts": attempts})
    if not any(verdicts.fault for direction in scored for verdicts in direction):  # which are counted already
        audit.note_fault("unscored", (first.id, second.id))
    return None


def _accepted(sample: Sample) -> set[str]:
    """Return the texts that a sample accepts, an option in place of its letter."""
    options = options_of(sample)
    texts = map(text_of_target, targets_of(sample))
    return {fold(options.get(text, text)) for text in texts}


def _answers_of(audit: Audit, sample: Sample) -> list[AuditAnswer]:
    if audit.task.oracle is not None:
        return [AuditAnswer(oracle_of=sample.id)]
    return gold_answers(audit, sample, kinds_of(audit))
