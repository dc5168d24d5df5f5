"""Send answers that deserve nothing, and report those that earn full points."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt, scored_by_target
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import expects_abstention, fold, is_empty_target, targets_of, text_of_target


def unearned(audit: Audit, texts: Callable[[Sample], Sequence[str]]) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that one of the texts passes, unless the sample expects an abstention, or that text."""
    for sample in audit.drawn:
        if expects_abstention(sample) or is_empty_target(sample.target) != (sample.target is None):
            continue
        expected = {fold(text_of_target(target)).casefold() for target in targets_of(sample)}
        for text in texts(sample):
            if fold(text).casefold() in expected:
                continue
            answer = AuditAnswer(text=text)
            verdicts = audit.score(sample, answer)
            scorers = scored_by_target(verdicts)
            if scorers and not verdicts.failed:
                yield audit.found(
                    say(
                        "the answer {answer} earns full points under {scorer}",
                        answer=_shown(text),
                        scorer=", ".join(scorers),
                    ),
                    sample,
                    witness={"attempts": [attempt(sample, answer, verdicts)]},
                )
                break


def share_passed(audit: Audit, samples: Sequence[Sample], answer: Callable[[Sample], str]) -> list[dict[str, Any]]:
    """Return the attempts that passed: one answer to each sample."""
    passed = []
    for sample in samples:
        said = AuditAnswer(text=answer(sample))
        verdicts = audit.score(sample, said)
        if verdicts.is_full and scored_by_target(verdicts):
            passed.append(attempt(sample, said, verdicts))
    return passed


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
