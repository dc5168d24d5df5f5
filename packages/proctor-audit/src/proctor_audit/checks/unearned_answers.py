"""Send answers that deserve nothing, and report those that earn full points."""

import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import ALL_FORMS, Audit
from proctor_audit.calls import gold_calls, tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import unearned_attempt
from proctor_audit.wording import (
    REFUSALS,
    expects_abstention,
    fold,
    is_empty_target,
    options_of,
    question_of,
    targets_of,
    text_of_target,
)

EMPTY = ("{}", "[]", "null", "```json\n{}\n```")
LETTERS = 200
SHOWN = 60


@check(
    group="A1",
    cls="proved",
    needs=("scorer",),
    title=say("An empty answer, without text and calls, earns full points."),
)
def null_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that an empty answer passes."""
    yield from _unearned(audit, lambda _: [""])


@check(group="A1", cls="proved", needs=("scorer",), title=say("An answer that declines earns full points."))
def refusal_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that one of eight refusals passes."""
    yield from _unearned(audit, lambda _: REFUSALS)


@check(group="A1", cls="proved", needs=("scorer",), title=say("The question repeated earns full points."))
def echo_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample without options whose own question passes as the answer, unless it is the target."""

    def echo(sample: Sample) -> list[str]:
        asked = question_of(sample)
        is_target = fold(asked) in {fold(text_of_target(target)) for target in targets_of(sample)}
        return [] if options_of(sample) or is_target or not asked.strip() else [asked]

    yield from _unearned(audit, echo)


@check(
    group="A1",
    cls="proved",
    needs=("scorer",),
    title=say("Empty JSON earns full points although something is expected."),
)
def empty_json_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that empty JSON passes."""
    yield from _unearned(audit, lambda sample: [] if str(sample.target).strip() in {*EMPTY, "None"} else EMPTY)


@check(
    group="A1",
    cls="proved",
    needs=("scorer",),
    title=say("Garbage earns full points: a control character, random letters, NaN, an open bracket."),
)
def garbage_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield a finding for each sample that garbage passes."""
    noise = "".join(audit.draw("garbage").choices(string.ascii_lowercase, k=LETTERS))
    yield from _unearned(audit, lambda sample: ["\0?", noise, *(["NaN", "["] if not sample.known.options else [])])


def _unearned(audit: Audit, texts: Callable[[Sample], Sequence[str]]) -> Iterator[AuditFinding]:
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
        for text in (forms[form] for form in sorted(passing) if form < len(forms)):
            witness = _passes(audit, sample, text)
            if witness is not None:
                scorers = ", ".join(each["scorer"] for each in witness["verdicts"] if each["passed"])
                shown = repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
                yield audit.found(
                    say("the answer {answer} earns full points under {scorer}", answer=shown, scorer=scorers),
                    sample,
                    witness={"attempts": [witness]},
                )
                break


def _expects_something(sample: Sample) -> bool:
    """True unless calls are expected that may all be left out, or tools are offered and nothing is expected of them."""
    calls = gold_calls(sample)
    has_reference = sample.target is not None or any(turn.reference is not None for turn in sample.turns)
    return any(call.is_needed for call in calls) if calls else has_reference or not tools_of(sample)


def _passes(audit: Audit, sample: Sample, text: str) -> dict[str, Any] | None:
    """Return the attempt if a text that is not the target earns full points under scorers that compare with a target."""
    if fold(text).casefold() in {fold(text_of_target(target)).casefold() for target in targets_of(sample)}:
        return None
    return unearned_attempt(audit, sample, text)
