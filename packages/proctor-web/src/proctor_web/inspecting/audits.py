"""What the audit of a task found that concerns a run or one of its samples, and the acceptance of a finding."""

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

from proctor.api import Run
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor_audit.audited_runs import AuditedRun, measure_runs
from proctor_audit.findings import CLASSES, AuditFinding, FindingClass
from proctor_audit.ignoring import accept_finding, mark_ignored, read_ignore_file
from proctor_audit.keeping import KeptAudit, find_audit, subject_digest
from proctor_audit.printing import describe_floors, describe_not_checked
from proctor_audit.request import TaskRequest
from proctor_web.comparing.background import Background
from proctor_web.operations import RunReference
from proctor_web.workspace import Found, NotFound, Workspace

MOST_CHARACTERS = 2_000  # of a reason


class AcceptedFinding(RunReference, frozen=True, kw_only=True):
    """A finding of the audit of a run's task that is accepted, by its id, and why."""

    finding: str
    reason: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)]


class SampleAudit(msgspec.Struct, frozen=True, kw_only=True):
    """What the audit found in one sample; `why` is set where only audits of other data, options or scorers are kept."""

    findings: tuple[AuditFinding, ...] = ()
    titles: Mapping[str, Sentence] = {}
    ignore_file: str = ""
    why: Sentence | None = None


class RunAudit(SampleAudit, frozen=True, kw_only=True):
    """What the audit of a run's task found that concerns the run.

    Attributes:
        audit: the digest of the report; '' without one.
        command: that makes the audit, also where there is none.
        samples: how many were audited.
        counts: findings that nobody accepted, by class.
        accepted: how many are accepted, by one of the rules of the list.
        elsewhere: how many findings are of samples that the run did not take.
        changed: how many are of samples that ask or expect something else in the run, and count nowhere.
        measured: the number of the run with and without the samples of proved findings.
        floors: what agents earn that know nothing.
        notes: what was not checked, and what is wrong with the list of accepted findings.
    """

    run: str
    audit: str = ""
    command: str = ""
    samples: int = 0
    counts: Mapping[FindingClass, int] = {}
    accepted: int = 0
    elsewhere: int = 0
    changed: int = 0
    measured: AuditedRun | None = None
    floors: tuple[Sentence, ...] = ()
    notes: tuple[Sentence, ...] = ()


class RelatedFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Which findings concern a run, by their ids, which are of samples that have changed, and the numbers of the run."""

    concerning: frozenset[str]
    changed: frozenset[str]
    measured: AuditedRun


def get_audit(workspace: Workspace, given: RunReference) -> RunAudit:
    """Return what the audit of the task of a run found in its samples; nothing of an audit of other data."""
    return view_audit(workspace, workspace.find_run(given.run))


def view_audit(workspace: Workspace, run: Found, *, seconds: float | None = None) -> RunAudit:
    """Return the same.

    Raises:
        StillComputing: that takes longer than `seconds`.
    """
    kept = find_audit(run.record, run.store.url)
    if not isinstance(kept, KeptAudit):
        command = TaskRequest.of_run(run.record, run.store.url).command
        return RunAudit(run=run.reference, why=kept, command=command)
    findings, notes = _marked(kept, kept.findings)
    accepted = {finding.id for finding in findings if finding.ignored is not None}
    related = workspace.kept(Background).result(
        ("audit", run.reference),
        [run],
        partial(relate_findings, kept=kept, findings=findings),
        version=(kept.audit, *sorted(accepted)),
        seconds=seconds,
    )
    shown = [finding for finding in findings if finding.id in related.concerning]
    counts = Counter(finding.cls for finding in shown if finding.ignored is None)
    return RunAudit(
        run=run.reference,
        audit=kept.audit,
        command=kept.command,
        samples=kept.samples,
        counts={cls: counts[cls] for cls in CLASSES},
        accepted=sum(finding.ignored is not None for finding in shown),
        elsewhere=len(findings) - len(shown) - len(related.changed),
        changed=len(related.changed),
        findings=tuple(shown),
        titles=kept.titles,
        ignore_file=kept.ignore_file,
        measured=related.measured,
        floors=tuple(describe_floors(kept.floor)),
        notes=(*describe_not_checked(kept.not_checked), *notes),
    )


def relate_findings(runs: Sequence[Found], *, kept: KeptAudit, findings: Sequence[AuditFinding]) -> RelatedFindings:
    """Return which findings of an audit concern a run, and its number without the samples of proved ones."""
    [run] = runs
    planned: set[str] = set()
    other: set[str] = set()
    for sample in run.store.planned(run.record.id):
        planned.add(sample.id)
        if _has_changed(kept, sample):
            other.add(sample.id)
    changed = frozenset(finding.id for finding in findings if other.intersection(finding.samples))
    sound = [finding for finding in findings if finding.id not in changed]
    subjects = [Sample(id=id, turns=(), tags=subject.tags) for id, subject in kept.subjects.items()]
    drawn = [Sample(id=id, turns=()) for id in (planned if kept.drawn is None else kept.drawn)]
    return RelatedFindings(
        concerning=frozenset(f.id for f in sound if not f.samples or planned.intersection(f.samples)),
        changed=changed,
        measured=measure_runs(subjects, drawn, sound, [Run(run.record, run.store)])[0],
    )


def audit_of_sample(run: Found, sample: Sample | None) -> SampleAudit:
    """Return what the audit found in a sample of a run; where there is no audit of its data, why."""
    kept = find_audit(run.record, run.store.url)
    if not isinstance(kept, KeptAudit):
        return SampleAudit(why=kept)
    if sample is None or sample.id not in kept.subjects:
        return SampleAudit()
    if _has_changed(kept, sample):
        return SampleAudit(why=say("Another version of this sample was audited: it asks or expects something else."))
    own, _ = _marked(kept, [finding for finding in kept.findings if sample.id in finding.samples])
    return SampleAudit(findings=tuple(own), titles=kept.titles, ignore_file=kept.ignore_file)


def accept(workspace: Workspace, given: AcceptedFinding, by: str) -> None:
    """Accept a finding, with a reason, in the list of accepted findings of the task.

    Raises:
        NotFound: the audit of the task found no such thing.
        BadInput: there is no audit of this data, or the list cannot be written.
    """
    run = workspace.find_run(given.run)
    kept = find_audit(run.record, run.store.url)
    if not isinstance(kept, KeptAudit):
        raise NotFound("There is no audit of the data of this run.")
    finding = next((finding for finding in kept.findings if finding.id == given.finding), None)
    if finding is None:
        raise NotFound("The audit has no finding '{id}'.", id=given.finding[:80])
    accept_finding(Path(kept.ignore_file), finding, given.reason, by)


def _marked(kept: KeptAudit, findings: Sequence[AuditFinding]) -> tuple[Sequence[AuditFinding], Sequence[Sentence]]:
    """Return findings of an audit, marked as the list of accepted ones says now; as they were audited, if it cannot be read."""
    path = Path(kept.ignore_file)
    try:
        rules = read_ignore_file(path if path.is_file() else None)
        return mark_ignored(findings, rules, datetime.datetime.now(tz=datetime.UTC).date())
    except BadInput as error:
        return findings, [error.sentence]


def _has_changed(kept: KeptAudit, sample: Sample) -> bool:
    """True if a sample that was stored with a trial asks or expects something else than the one that was audited."""
    audited = kept.subjects.get(sample.id)
    is_stored = bool(sample.turns) or sample.target is not None
    return audited is not None and is_stored and audited.digest != subject_digest(sample)
