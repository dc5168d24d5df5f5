"""Make an inspection: the report that every output form takes, with what only trials have."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor_audit.check import AuditCheck
from proctor_audit.findings import sort_findings
from proctor_audit.ignoring import IgnoreRule, mark_ignored
from proctor_audit.inspector.inspecting import TrialLine, inspect
from proctor_audit.inspector.labelling import LabelledPlan, conversation_text
from proctor_audit.inspector.measured import CAVEAT
from proctor_audit.inspector.sources import Located
from proctor_audit.inspector.trial_labels import FindingLabels, read_finding_labels
from proctor_audit.inspector.trial_scores import TrialPrevalence, TrialScores, blame_of, prevalence_of, scores_of
from proctor_audit.report import AuditReport, as_json


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """The findings in trials, and their effect on the score.

    Attributes:
        lines: a line for each trial, in the order of the sources.
        blame: how many failures are laid at whom.
    """

    report: AuditReport
    lines: tuple[TrialLine, ...]
    scores: TrialScores | None
    prevalence: tuple[TrialPrevalence, ...]
    blame: Mapping[str, int]


def make_inspection(
    name: str,
    trials: Iterable[Located],
    checks: Sequence[AuditCheck],
    rules: Sequence[IgnoreRule] = (),
    *,
    plans: Mapping[str, LabelledPlan] = {},
    labels: Path | None = None,
    unplayed: int = 0,
    command: str = "",
) -> Inspection:
    """Inspect trials, mark the findings that are accepted, and compare them with what people say.

    Args:
        plans: labelled draws of trials, by check.
        labels: the file of labels of findings.
    """
    changed: set[tuple[str, str]] = set()
    done = inspect(_compared(trials, plans, changed), checks, command)
    plans = {
        check: replace(plan, said={id: said for id, said in plan.said.items() if (check, id) not in changed})
        for check, plan in plans.items()
    }
    finding_labels = FindingLabels() if labels is None else read_finding_labels(labels, done.lines, done.findings)
    marked, notes = mark_ignored(sort_findings(done.findings), rules, datetime.datetime.now(tz=datetime.UTC).date())
    if any(finding.precision is not None for finding in marked):
        notes.append(CAVEAT)
    report = AuditReport(
        task=name,
        digest=digest([[line.id, line.score] for line in done.lines]),
        seed=0,
        samples=len(done.lines),
        scorers=(),
        checks=tuple(checks),
        findings=tuple(marked),
        not_checked=tuple(done.not_checked),
        notes=tuple(notes),
        command=command,
    )
    return Inspection(
        report=report,
        lines=tuple(done.lines),
        scores=scores_of(done.lines, marked, unplayed),
        prevalence=tuple(prevalence_of(done.lines, [check.name for check in checks], plans, finding_labels)),
        blame=blame_of(done.lines, marked),
    )


def _compared(
    trials: Iterable[Located], plans: Mapping[str, LabelledPlan], changed: set[tuple[str, str]]
) -> Iterator[Located]:
    """Yield the trials, and note which drawn ones have another text than people were shown, by check and id."""
    for trial, where in trials:
        drawn = [check for check, plan in plans.items() if trial.id in plan.shown]
        text = conversation_text(trial).strip() if drawn else ""
        changed.update((check, trial.id) for check in drawn if plans[check].shown[trial.id] != text)
        yield trial, where


def inspection_json(inspection: Inspection) -> Mapping[str, object]:
    """Return the report as JSON, with scores, prevalence and blame."""
    return {
        **as_json(inspection.report),
        "notes": [str(note) for note in inspection.report.notes],
        "trials": len(inspection.lines),
        "scores": msgspec.to_builtins(inspection.scores),
        "prevalence": [
            {**msgspec.to_builtins(each), "uncorrected": str(each.uncorrected)} for each in inspection.prevalence
        ],
        "blame": inspection.blame,
    }
