"""Send the target of each sample through the whole path of its task, as an agent that knows it would."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from proctor.core.own_code import is_ours
from proctor.core.sample import Sample
from proctor.core.sentence import clip, say
from proctor_audit.answers import ORACLE, AnswerVerdicts, AuditAnswer
from proctor_audit.audit import NO_TARGET, Audit, attempt, full_marks
from proctor_audit.calls import gold_calls
from proctor_audit.expected import has_oracle
from proctor_audit.variants import calls_answer, plain_calls
from proctor_audit.wording import is_empty_target, targets_of, text_of_target

BOUNDED = ("bleu", "chrf", "rouge", "semantic", "token_embedding_f1", "response")  # a perfect text need not fill them
NOT_FILLED = frozenset((*NO_TARGET, *BOUNDED))  # scorers under which a right answer need not earn full points
SHOWN = 60
MOST_FORMS = 5  # accepted targets that are tried

GoldAttempt = tuple[dict[str, Any], AnswerVerdicts]


def gold_attempts(audit: Audit) -> Iterator[tuple[Sample, Sequence[GoldAttempt]]]:
    """Yield each sample that has a target, with the answers made of it and what they earn."""
    kinds = kinds_of(audit)
    if kinds and kinds <= NOT_FILLED:
        names = ", ".join(scorer.name for scorer in audit.scorers)
        audit.leave_out(say("a right answer need not earn full points under {scorers}", scorers=names))
        return
    unknown = 0
    with_target = [sample for sample in audit.samples if has_oracle(audit) or not is_empty_target(sample.target)]
    for sample in with_target:
        scored = [(answer, audit.score(sample, answer)) for answer in gold_answers(audit, sample, kinds)]
        unknown += not scored
        is_whole = not any(
            verdicts.fault for _, verdicts in scored
        )  # else the form not scored may be the one that passes
        if scored and is_whole:
            yield sample, [(attempt(sample, answer, verdicts), verdicts) for answer, verdicts in scored]
    if len(with_target) < len(audit.samples):
        audit.leave_out(say("{count} samples have no target", count=len(audit.samples) - len(with_target)))
    if unknown:
        reason = say("{count} samples have a target from which no right answer can be written", count=unknown)
        audit.leave_out(reason)


def kinds_of(audit: Audit) -> set[str]:
    """Return the kinds of the scorers, such as `choice` of `choice:letters`."""
    return {scorer.name.partition(":")[0] for scorer in audit.scorers}


def gold_answers(audit: Audit, sample: Sample, kinds: set[str]) -> list[AuditAnswer]:
    """Return what should pass: the right answer as the task has it, else the target as a text, with the calls that are expected.

    Nothing where a matcher compares arguments, as no value is known that passes; only an oracle of the user knows one.
    """
    oracle = audit.task.oracle
    is_matched = any(call.matched for call in gold_calls(sample))
    if has_oracle(audit):
        is_read = oracle is not None and is_ours(str(getattr(oracle, "__module__", "")))
        return [] if is_matched and is_read else [ORACLE]
    if is_matched:
        return []
    texts = [AuditAnswer(text=text) for text in gold_texts(sample, kinds)]
    calls = plain_calls(sample)
    if calls is None:
        return [] if gold_calls(replace(sample, target=None)) else texts
    answer = calls_answer(calls)
    return [*texts, *(replace(answer, text=each.text) for each in texts[:1]), answer]


def gold_texts(sample: Sample, kinds: set[str]) -> list[str]:
    """Return the texts that should pass: an accepted target each; all keywords together; a text that fits a pattern."""
    targets = [text_of_target(target) for target in targets_of(sample)]
    if kinds == {"keywords"}:
        return [" ".join(targets)]
    if "keywords" in kinds:
        targets = [" ".join(targets), *targets]
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
    calls = plain_calls(sample)  # as the variants are made, so that nothing but the variant differs
    answers = gold_answers(audit, sample, kinds_of(audit)) if calls is None else [calls_answer(calls)]
    return next((witness for answer in answers if (witness := passing(audit, sample, answer)) is not None), None)


def passing(audit: Audit, sample: Sample, answer: AuditAnswer) -> dict[str, Any] | None:
    """Return the attempt if an answer earns full points from all scorers that give them to a right answer."""
    verdicts = audit.score(sample, answer)
    return attempt(sample, answer, verdicts) if verdicts.without(NOT_FILLED).is_full else None


def failing(audit: Audit, sample: Sample, answer: AuditAnswer) -> dict[str, Any] | None:
    """Return the attempt if an answer fails under a scorer that gives a right answer full points."""
    verdicts = audit.score(sample, answer)
    return attempt(sample, answer, verdicts) if verdicts.without(NOT_FILLED).failed else None


def unearned_attempt(audit: Audit, sample: Sample, text: str) -> dict[str, Any] | None:
    """Return the attempt if a text that deserves nothing earns full points under scorers that compare with a target."""
    answer = AuditAnswer(text=text)
    verdicts = audit.score(sample, answer)
    scorers = full_marks(verdicts)
    return attempt(sample, answer, verdicts) if scorers and audit.is_of_main(scorers, (sample.id, answer)) else None
