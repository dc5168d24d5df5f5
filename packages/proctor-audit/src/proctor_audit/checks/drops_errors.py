"""Break the answer of each sample in turn, and see whether the sample leaves the denominator."""

from collections.abc import Iterator
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import passing_gold

TRIED = 12  # samples
BROKEN = ("", "[", "\0?", "Traceback (most recent call last):\n  RuntimeError: the agent stopped")


@check(
    group="A6",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("A broken answer gets no score instead of no points, so that its sample leaves the denominator."),
)
def drops_errors(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for each scorer that scores the right answer of a sample, and does not score what a failing agent says."""
    samples = [*audit.drawn] if len(audit.drawn) <= TRIED else audit.draw("errors").sample([*audit.drawn], TRIED)
    dropped: dict[str, list[tuple[Sample, Any, Any]]] = {}
    for sample in samples:
        gold = passing_gold(audit, sample)
        if gold is None:
            continue
        scored = {each["scorer"] for each in gold["verdicts"] if each["passed"] is True}
        for text in BROKEN:
            answer = AuditAnswer(text=text)
            verdicts = audit.score(sample, answer)
            for name in _unscored(verdicts) & scored:
                dropped.setdefault(name, []).append((sample, gold, attempt(sample, answer, verdicts)))
    for name, cases in sorted(dropped.items()):
        ids = list(dict.fromkeys(sample.id for sample, _, _ in cases))
        first = cases[0]
        yield audit.found(
            say(
                "{scorer} gives no score to {answer}: {count} of {all} samples leave the mean where the agent fails",
                scorer=name,
                answer=repr(first[2]["answer"].get("text", "")[:40]),
                count=len(ids),
                all=len(samples),
            ),
            *ids,
            scope="scorer",
            witness={"attempts": [first[1], first[2]]},
        )


def _unscored(verdicts: AnswerVerdicts) -> set[str]:
    return (
        set() if verdicts.fault else {each.scorer for each in verdicts.verdicts if each.passed is None and each.scorer}
    )
