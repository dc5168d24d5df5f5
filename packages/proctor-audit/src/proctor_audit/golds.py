"""Send the target of each sample through the whole path of its task, as an agent that knows it would."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import clip
from proctor_audit.answers import ORACLE, AnswerVerdicts, AuditAnswer
from proctor_audit.audit import NO_TARGET, Audit, attempt
from proctor_audit.variants import calls_answer, plain_calls
from proctor_audit.wording import is_empty_target, targets_of, text_of_target

BOUNDED = (
    "bleu",
    "chrf",
    "rouge",
    "semantic",
    "token_embedding_f1",
    "response",
)  # measures that a perfect text need not fill
SHOWN = 60
MOST_FORMS = 5  # accepted targets that are tried

GoldAttempt = tuple[dict[str, Any], AnswerVerdicts]


def gold_attempts(audit: Audit) -> Iterator[tuple[Sample, Sequence[GoldAttempt]]]:
    """Yield each sample that has a target, with the answers made of it and what they earn."""
    kinds = {scorer.name.partition(":")[0] for scorer in audit.scorers}
    if kinds and kinds <= {*NO_TARGET, *BOUNDED}:
        return
    has_oracle = audit.task.oracle is not None or audit.task.oracle_agent is not None
    for sample in audit.samples:
        if is_empty_target(sample.target) and not has_oracle:
            continue
        answers = [ORACLE] if has_oracle else [AuditAnswer(text=text) for text in gold_texts(sample, kinds)]
        if not answers:
            continue
        scored = [(answer, audit.score(sample, answer)) for answer in answers]
        yield sample, [(attempt(sample, answer, verdicts), verdicts) for answer, verdicts in scored]


def gold_texts(sample: Sample, kinds: set[str]) -> list[str]:
    """Return the texts that should pass: an accepted target each; all keywords together; a text that fits a pattern."""
    targets = [text_of_target(target) for target in targets_of(sample)]
    if kinds == {"keywords"}:
        return [" ".join(targets)]
    if "regex" in kinds:
        return [text for target in targets[:MOST_FORMS] for text in fitting_texts(target)]
    if isinstance(sample.target, list | tuple):
        return [*targets[:MOST_FORMS], text_of_target(sample.target)]
    return targets[:MOST_FORMS]


def fitting_texts(pattern: str) -> list[str]:
    """Return what a pattern is tried with: itself where it cannot be compiled, else nothing, as a pattern is no answer.

    >>> fitting_texts("^(red|blue)$"), fitting_texts("(red|blue")
    ([], ['(red|blue'])
    """
    try:
        re.compile(pattern)
    except re.error:
        return [pattern]
    return []


def gold_shown(sample: Sample) -> str:
    """Return the target for a sentence."""
    return clip(repr(sample.target), SHOWN)


def passing_gold(audit: Audit, sample: Sample) -> dict[str, Any] | None:
    """Return the attempt with which the target of a sample earns full points; None if it does not."""
    kinds = {scorer.name.partition(":")[0] for scorer in audit.scorers}
    has_oracle = audit.task.oracle is not None or audit.task.oracle_agent is not None
    calls = plain_calls(sample)
    if calls is not None:  # as the variants are made, so that nothing but the variant differs
        answer = calls_answer(calls)
        verdicts = audit.score(sample, answer)
        return attempt(sample, answer, verdicts) if verdicts.is_full else None
    for answer in [ORACLE] if has_oracle else [AuditAnswer(text=text) for text in gold_texts(sample, kinds)]:
        verdicts = audit.score(sample, answer)
        if verdicts.is_full:
            return attempt(sample, answer, verdicts)
    return None
