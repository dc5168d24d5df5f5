"""Break the answer of each sample in turn, and see whether the sample leaves the denominator."""

from collections.abc import Iterator
from typing import Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import passing_gold

TRIED = 12  # samples
BROKEN = ("", "[", "\0?", "Traceback (most recent call last):\n  RuntimeError: the agent stopped")


class DroppedCase(msgspec.Struct, frozen=True, kw_only=True):
    """A right answer to a sample that is scored and a broken one that is not; `by_all` is true if no scorer scores that."""

    sample: Sample
    gold: dict[str, Any]
    broken: dict[str, Any]
    by_all: bool


@check(
    group="A6",
    cls="proved",
    needs=("scorer",),
    title=say("A broken answer gets no score instead of no points, so that its sample leaves the denominator."),
)
def drops_errors(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding for each scorer that scores the right answer of a sample, and does not score what a failing agent says.

    Likely where the main scorer gives such an answer its points, as its mean loses no sample.
    """
    dropped: dict[str, list[DroppedCase]] = {}
    golds = [(sample, passing_gold(audit, sample)) for sample in audit.some(audit.drawn, TRIED)]
    tried = [(sample, gold) for sample, gold in golds if gold is not None]
    if len(tried) < len(golds):
        count = len(golds) - len(tried)
        audit.leave_out(say("{count} samples have no right answer that earns full points", count=count))
    for sample, gold in tried:
        scored = {each["scorer"] for each in gold["verdicts"] if each["passed"] is True}
        for text in BROKEN:
            answer = AuditAnswer(text=text)
            verdicts = audit.score(sample, answer)
            every = () if verdicts.fault else verdicts.verdicts
            unscored = {each.scorer for each in every if each.passed is None and each.scorer}
            by_all = audit.main in unscored and unscored >= {scorer.name for scorer in audit.scorers}
            for name in unscored & scored:
                broken = attempt(sample, answer, verdicts)
                case = DroppedCase(sample=sample, gold=gold, broken=broken, by_all=by_all)
                dropped.setdefault(name, []).append(case)
    for name, cases in sorted(dropped.items()):
        ids = list(dict.fromkeys(case.sample.id for case in cases))
        first = next((case for case in cases if case.by_all), cases[0])
        yield audit.found(
            say(
                "{scorer} gives no score to {answer}: {count} of {all} samples leave the mean where the agent fails",
                scorer=name,
                answer=repr(first.broken["answer"].get("text", "")[:40]),
                count=len(ids),
                all=len(tried),
            ),
            *ids,
            scope="scorer",
            scorer=name,
            cls=None if name == audit.main or first.by_all else "likely",
            witness={"attempts": [first.gold, first.broken]},
        )
