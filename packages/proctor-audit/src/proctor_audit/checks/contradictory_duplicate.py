"""Find samples that ask the same and expect what excludes each other."""

from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.inputs import equal_inputs, pair_witness, target_text_key
from proctor_audit.wording import is_empty_target, options_of, targets_of, text_of_target


@check(group="A8", cls="proved", title=say("Two samples ask the same, and neither's target is accepted for the other."))
def contradictory_duplicate(audit: Audit) -> Iterator[AuditFinding]:
    """Yield pairs of equal inputs whose targets the scorer accepts in neither direction."""
    for group in equal_inputs(audit.samples, with_order=False):
        known: dict[str, Sample] = {}
        for sample in group:
            if is_empty_target(sample.target) and not any(turn.reference for turn in sample.turns):
                continue
            key = target_text_key(sample)
            for other in known.values():
                if target_text_key(other) != key and not _overlap(audit, other, sample):
                    yield audit.found(
                        say(
                            "{first} and {second} ask the same and expect different answers",
                            first=other.id,
                            second=sample.id,
                        ),
                        other,
                        sample,
                        scope="pair",
                        witness=pair_witness(other, sample),
                    )
                    break
            known.setdefault(key, sample)


def _overlap(audit: Audit, first: Sample, second: Sample) -> bool:
    """True if a target of one is accepted for the other: by the scorer where it can be asked, else where they share a text."""
    if options_of(first):
        return False
    texts = [{text_of_target(target) for target in targets_of(sample)} for sample in (first, second)]
    if not audit.scorers or texts[0] & texts[1]:
        return bool(texts[0] & texts[1])
    return any(
        audit.score(sample, answer).is_full
        for sample, other in ((first, second), (second, first))
        for answer in _answers_of(audit, other)
    )


def _answers_of(audit: Audit, sample: Sample) -> list[AuditAnswer]:
    if audit.task.oracle is not None:
        return [AuditAnswer(oracle_of=sample.id)]
    return [AuditAnswer(text=text_of_target(target)) for target in targets_of(sample)]
