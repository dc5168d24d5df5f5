"""Find answers that are part of the prompt."""

import re
from collections.abc import Iterator

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import (
    context_of,
    expects_abstention,
    fold,
    options_of,
    question_of,
    targets_of,
    text_of_target,
)

MARKER = r"(?:(?:correct |right |expected |final |reference )?answer(?: key)?|solution|hint|key|gold|target|答案|正确答案|参考答案|提示|正解)"
LINK = r"\s*(?:is|are|was|=|:|：|为|是|—|->|→)\s*"
AFTER = r"(?![\w㐀-鿿]|\s*(?:or\b|/|,|\||;|或|、))"
LEAST_CHARACTERS = 12  # of a question that a system message repeats
GAP = 40
MARKED = re.compile(MARKER + LINK, re.IGNORECASE)


@check(group="A8", cls="likely", title=say("The prompt contains the answer."))
def answer_in_prompt(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target follows a marker, or whose very question is an example with its answer."""
    for sample in audit.samples:
        if expects_abstention(sample):
            continue
        question, context = question_of(sample), context_of(sample)
        for target in _texts(sample):
            span = _after_marker(f"{question}\n{context}", target) or _as_example(question, context, target)
            if span is not None:
                yield audit.found(
                    say("the prompt holds the answer: {span}", span=repr(span)),
                    sample,
                    witness={"span": span, "target": target},
                )
                break


def _texts(sample: Sample) -> list[str]:
    options = options_of(sample)
    texts = [text_of_target(target).strip() for target in targets_of(sample) if not isinstance(target, dict | list)]
    return [text for text in [*texts, *(options[text] for text in texts if text in options)] if text]


def _after_marker(prompt: str, target: str) -> str | None:
    if target.casefold() not in prompt.casefold() or not MARKED.search(prompt):  # compiling takes milliseconds
        return None
    pattern = (
        rf"(?<![a-z]){MARKER}{LINK}[\"'“‘(\[]*{re.escape(target)}{AFTER}"
        if target[0].isascii()
        else rf"{MARKER}{LINK}[\"'“‘(（]*{re.escape(target)}"
    )
    match = re.search(pattern, prompt, re.IGNORECASE)
    return None if match is None else match[0]


def _as_example(question: str, context: str, target: str) -> str | None:
    asked, said = fold(question).casefold(), fold(context).casefold()
    start = said.find(asked) if len(asked) >= LEAST_CHARACTERS else -1
    if start < 0:
        return None
    rest = said[start + len(asked) : start + len(asked) + GAP + len(target)]
    return fold(f"{question} {target}") if fold(target).casefold() in rest else None
