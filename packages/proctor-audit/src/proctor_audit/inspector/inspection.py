"""Make an inspection: the report that every output form takes, with what only trials have."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.digest import digest
from proctor_audit.check import AuditCheck
from proctor_audit.findings import sort_findings
from proctor_audit.ignoring import IgnoreRule, mark_ignored
from proctor_audit.inspector.inspecting import TrialLine, inspect
from proctor_audit.inspector.measured import CAVEAT
from proctor_audit.inspector.sources import Located
from proctor_audit.inspector.trial_scores import (
    TrialPrevalence,
    TrialScores,
    blame_of,
    prevalence_of,
    scores_of,
)
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
    labels: Mapping[str, Mapping[str, bool]] = {},
    seed: int = 0,
    unplayed: int = 0,
    command: str = "",
) -> Inspection:
    """Inspect trials, mark the findings that are accepted, and correct shares by `labels`, by check and trial."""
    done = inspect(trials, checks, command)
    marked, notes = mark_ignored(sort_findings(done.findings), rules, datetime.datetime.now(tz=datetime.UTC).date())
    if any(finding.precision is not None for finding in marked):
        notes.append(CAVEAT)
    report = AuditReport(
        task=name,
        digest=digest([[line.id, line.score] for line in done.lines]),
        seed=seed,
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
        prevalence=tuple(prevalence_of(done.lines, [check.name for check in checks], labels)),
        blame=blame_of(done.lines, marked),
    )


def inspection_json(inspection: Inspection) -> Mapping[str, Any]:
    """Return the report as JSON, with scores, prevalence and blame."""
    return {
        **as_json(inspection.report),
        "notes": [str(note) for note in inspection.report.notes],
        "trials": len(inspection.lines),
        "scores": msgspec.to_builtins(inspection.scores),
        "prevalence": msgspec.to_builtins(inspection.prevalence),
        "blame": inspection.blame,
    }
