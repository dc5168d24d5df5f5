"""Send answers that deserve nothing, and report those that earn full points."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt, full_marks
from proctor_audit.calls import gold_calls, tools_of
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import expects_abstention, fold, is_empty_target, targets_of, text_of_target

ALL_FORMS = 30  # samples on which every text is tried; each other one gets one of them, and all that pass anywhere
PROBED = 30  # samples after which an answer that passes few of them is given up
LEAST_SHARE = 0.4


def unearned(audit: Audit, texts: Callable[[Sample], Sequence[str]]) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that one of the texts passes, unless the sample expects an abstention, or that text."""
    asked = [
        (sample, forms)
        for sample in audit.by_text
        if not expects_abstention(sample) and is_empty_target(sample.target) == (sample.target is None)
        if _expects_something(sample)
        if (forms := [*texts(sample)])
    ]
    passing: set[int] = set()
    for index, (sample, forms) in enumerate(asked):
        tried = range(len(forms)) if index < ALL_FORMS else [index % len(forms)]
        passing.update(
            form for form in tried if form not in passing and _passes(audit, sample, forms[form]) is not None
        )
    for sample, forms in asked if passing else ():
        found = ((forms[form], _passes(audit, sample, forms[form])) for form in sorted(passing) if form < len(forms))
        text, witness = next(((text, witness) for text, witness in found if witness is not None), ("", None))
        if witness is not None:
            scorers = [each["scorer"] for each in witness["verdicts"] if each["passed"]]
            yield audit.found(
                say(
                    "the answer {answer} earns full points under {scorer}",
                    answer=_shown(text),
                    scorer=", ".join(scorers),
                ),
                sample,
                witness={"attempts": [witness]},
            )


def _expects_something(sample: Sample) -> bool:
    """True unless calls are expected that may all be left out, or tools are offered and nothing is expected of them."""
    calls = gold_calls(sample)
    has_reference = sample.target is not None or any(turn.reference is not None for turn in sample.turns)
    return any(call.is_needed for call in calls) if calls else has_reference or not tools_of(sample)


def _passes(audit: Audit, sample: Sample, text: str) -> dict[str, Any] | None:
    """Return the attempt if a text that is not the target earns full points under scorers that compare with a target."""
    if fold(text).casefold() in {fold(text_of_target(target)).casefold() for target in targets_of(sample)}:
        return None
    return _unearned_attempt(audit, sample, AuditAnswer(text=text))


def _unearned_attempt(audit: Audit, sample: Sample, answer: AuditAnswer) -> dict[str, object] | None:
    verdicts = audit.score(sample, answer)
    scorers = full_marks(verdicts)
    return attempt(sample, answer, verdicts) if scorers and audit.is_of_main(scorers, (sample.id, answer)) else None


def always(text: str) -> Callable[[Sample], str]:
    """Return an agent that says this to every sample."""
    return lambda _: text


def share_passed(audit: Audit, samples: Sequence[Sample], answer: Callable[[Sample], str]) -> list[dict[str, object]]:
    """Return the attempts that passed, one answer to each sample; none for an answer that passes few of the first ones."""
    passed: list[dict[str, Any]] = []
    for index, sample in enumerate(samples):
        if index == PROBED and len(passed) < LEAST_SHARE * PROBED:
            return []
        witness = _unearned_attempt(audit, sample, AuditAnswer(text=answer(sample)))
        passed += [witness] if witness is not None else []
    return passed


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
