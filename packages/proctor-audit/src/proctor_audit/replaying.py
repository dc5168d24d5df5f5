"""Run the witness of one finding again, and show what was sent, what the scorer said and why."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.core.sample import Sample
from proctor.core.sentence import clip
from proctor_audit.answers import SHOWN
from proctor_audit.audit import Audit
from proctor_audit.confirming import ScoredAgain, count_differing, score_again
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import question_of, text_of_target

MOST_SHOWN = 5


def pick(findings: Sequence[AuditFinding], id: str) -> AuditFinding:
    """Return the finding of an id.

    Raises:
        BadInput: nothing of this id is found now; names the nearest.
    """
    for finding in findings:
        if finding.id == id:
            return finding
    similar = near(id, [finding.id for finding in findings])
    raise BadInput("There is no finding {id} now.{near}", id=id, near=did_you_mean(similar) if similar else "")


def replay_finding(audit: Audit, finding: AuditFinding) -> tuple[list[str], int]:
    """Return what a finding rests on, with the answers of its witness scored again, and how many get another verdict."""
    again = score_again(audit, finding)
    return [*_lines(audit, finding, again)], count_differing(finding, again)


def _lines(audit: Audit, finding: AuditFinding, again: Sequence[ScoredAgain]) -> Iterator[str]:
    yield f"{finding.id}  {t(finding.sentence)}"
    by_id = {sample.id: sample for sample in audit.samples}
    for location in finding.where:
        yield f"{location.file}:{location.line}" if location.line is not None else location.file
    for sample, answer, verdicts in again[:MOST_SHOWN]:
        yield from _sample_lines(sample)
        said = t("the right answer, as the task has it") if answer.oracle else answer.shown
        yield "  " + t("answer: {answer}", answer=repr(clip(said, SHOWN)))
        for verdict in verdicts.verdicts:
            points = verdict.why if verdict.value is None else f"{verdict.value:.3g}"
            scorer, reason = verdict.scorer or "-", clip(t(verdict.reason), SHOWN)
            yield "  " + t("{scorer}: {points} {reason}", scorer=scorer, points=points, reason=reason)
    if len(again) > MOST_SHOWN:
        yield t("further attempts: {count}", count=len(again) - MOST_SHOWN)
    if not again:
        for id in finding.samples:
            if id in by_id:
                yield from _sample_lines(by_id[id])
        yield clip(msgspec.json.format(msgspec.json.encode(finding.witness)).decode(), SHOWN)
    elif differing := count_differing(finding, again):
        yield t("scored again: {count} of {all} answers get another verdict", count=differing, all=len(again))
    else:
        yield t("scored again: the verdicts are the same")


def _sample_lines(sample: Sample) -> Iterator[str]:
    yield t("sample {id}", id=sample.id)
    yield "  " + t("question: {question}", question=repr(clip(question_of(sample), SHOWN)))
    yield "  " + t("target: {target}", target=clip(text_of_target(sample.target), SHOWN))
