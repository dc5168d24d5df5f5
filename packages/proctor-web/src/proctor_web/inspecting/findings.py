"""What the rules of the inspector find in the trials of a run, by check, and whether people say that it happened."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor_audit.check import AuditCheck, find_checks
from proctor_audit.findings import CLASSES, AuditFinding, FindingClass, Invalidates, NotChecked
from proctor_audit.inspector.inspecting import RULES, InspectedTrials, TrialLine, inspect
from proctor_audit.inspector.review_order import JudgedFindings, judge_findings, order_of_review
from proctor_audit.inspector.stored_trials import trials_of_run
from proctor_audit.inspector.trial_labels import (
    FindingLabels,
    finding_digest,
    label_file,
    read_finding_labels,
    save_label,
)
from proctor_judging.review.labels import Status
from proctor_web.comparing.background import Background
from proctor_web.operations import RunReference
from proctor_web.workspace import Found, NotFound, Workspace

Said = Literal["happened", "did_not_happen", "contested"]
SAID: Mapping[Status, Said] = {"approved": "happened", "rejected": "did_not_happen", "needs_revision": "contested"}


class InspectionOfRun(RunReference, frozen=True, kw_only=True):
    """A run to inspect, and the check whose findings are listed; '' is the first one that found something."""

    check: str = ""


class EventLabel(RunReference, frozen=True, kw_only=True):
    """What a person says of a finding: it happened, or it did not; None takes it back.

    Attributes:
        digest: of the finding as the person was shown it; '' for the one that there is.
    """

    check: str
    trial: str
    happened: bool | None
    digest: str = ""


class InspectedEvent(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """One event in a trial: the steps it spans, counted from 0, and words that occur literally in one of them."""

    cls: FindingClass
    sentence: Sentence
    steps: tuple[int, ...]
    span: str
    invalidates: Invalidates | None


class InspectedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found in a trial, with what people together say of it, and what the one who asks said.

    Attributes:
        digest: the fingerprint of the trial and of what was found in it.
    """

    trial: str
    sample: str
    attempt: int
    events: tuple[InspectedEvent, ...]
    digest: str
    said: Said | None = None
    own: Said | None = None


class InspectedKind(msgspec.Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """A check that found something, in how many trials, and what people say of those."""

    check: str
    cls: FindingClass
    title: Sentence
    trials: int
    people: JudgedFindings


class RunInspection(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a run. Findings are in an order drawn at random; the beginning that is judged without a gap speaks for all.

    Attributes:
        flagged: how many of the trials have a finding of any check.
        findings: those of the check that was asked for.
        not_checked: checks that raised, with their trials.
    """

    run: str
    trials: int
    flagged: int
    kinds: tuple[InspectedKind, ...]
    check: str
    findings: tuple[InspectedFinding, ...]
    not_checked: tuple[NotChecked, ...]


def list_findings(workspace: Workspace, given: InspectionOfRun, by: str) -> RunInspection:
    """Inspect a run by rules, and return its findings by check; nothing is called."""
    run = workspace.find_run(given.run)
    return view_inspection(run, inspect_trials(workspace, run), given.check, by)


def label_finding(workspace: Workspace, given: EventLabel, by: str) -> None:
    """Keep whether an event happened in a trial; an earlier label of the same person is replaced.

    Raises:
        NotFound: the check found nothing in the trial.
        BadInput: the trial, or what was found in it, is another than the person was shown.
    """
    run = workspace.find_run(given.run)
    done = inspect_trials(workspace, run)
    line = next((line for line in done.lines if line.id == given.trial and given.check in line.checks), None)
    if line is None:
        raise NotFound(
            "The check {check} found nothing in the trial '{trial}' of this run.",
            check=given.check[:80],
            trial=given.trial[:80],
        )
    events = [finding for finding in done.findings if (finding.check, finding.samples[0]) == (given.check, line.id)]
    digest = finding_digest(line, events)
    if given.happened is not None and given.digest not in ("", digest):
        raise BadInput("The trial '{trial}' has changed since it was shown. Look at it again.", trial=given.trial[:80])
    save_label(label_file(run.store, run.record), (given.check, line.id), digest, by, given.happened)


def inspect_trials(workspace: Workspace, found: Found, *, seconds: float | None = None) -> InspectedTrials:
    """Return what the rules find in a run.

    Raises:
        StillComputing: that takes longer than `seconds`.
    """
    return workspace.kept(Background).result(("inspect", found.reference), [found], inspect_run, seconds=seconds)


def inspect_run(runs: Sequence[Found]) -> InspectedTrials:
    """Run all rules over the trials of one run; of a witness only the span is kept, as the store has the texts."""
    [run] = runs
    trials = ((trial, None) for trial in trials_of_run(run.store, run.record))
    done = inspect(trials, find_checks(RULES))
    done.findings = [replace(finding, witness={"span": finding.witness["span"]}) for finding in done.findings]
    return done


def view_inspection(found: Found, done: InspectedTrials, check: str = "", by: str = "") -> RunInspection:
    """Return an inspection by check, with the labels there are.

    Raises:
        NotFound: the check found nothing.
    """
    labels = read_finding_labels(label_file(found.store, found.record), done.lines, done.findings)
    by_name = {each.name: each for each in find_checks(RULES)}
    flagged = {line.id: line for line in done.lines if line.checks}
    by_check: dict[str, dict[str, list[AuditFinding]]] = {}
    for finding in done.findings:
        by_check.setdefault(finding.check, {}).setdefault(finding.samples[0], []).append(finding)
    kinds = [_kind(by_name[name], by_trial, done.lines, labels) for name, by_trial in by_check.items()]
    kinds.sort(key=lambda kind: (CLASSES.index(kind.cls), -kind.trials, kind.check))
    if check and check not in by_check:
        raise NotFound("The check {check} found nothing in this run.", check=check[:80])
    chosen = check or (kinds[0].check if kinds else "")
    by_trial = by_check.get(chosen, {})
    return RunInspection(
        run=found.reference,
        trials=len(done.lines),
        flagged=len(flagged),
        kinds=tuple(kinds),
        check=chosen,
        findings=tuple(
            _finding(chosen, flagged[trial], by_trial[trial], labels, by)
            for trial in order_of_review(by_trial, done.lines, chosen)
        ),
        not_checked=tuple(done.not_checked),
    )


def _kind(
    check: AuditCheck, by_trial: Mapping[str, Sequence[AuditFinding]], lines: Sequence[TrialLine], labels: FindingLabels
) -> InspectedKind:
    said, changed = labels.said(check.name), labels.changed.get(check.name, 0)
    order = order_of_review(by_trial, lines, check.name) if said else ()
    return InspectedKind(
        check=check.name,
        cls=min((finding.cls for findings in by_trial.values() for finding in findings), key=CLASSES.index),
        title=check.title,
        trials=len(by_trial),
        people=judge_findings(order, said, changed),
    )


def _finding(
    check: str, line: TrialLine, events: Sequence[AuditFinding], labels: FindingLabels, by: str
) -> InspectedFinding:
    record = labels.records.get((check, line.id))
    own = next((entry for entry in record.current if entry.reviewer == by), None) if record is not None else None
    return InspectedFinding(
        trial=line.id,
        sample=line.sample,
        attempt=line.attempt,
        events=tuple(
            InspectedEvent(
                cls=event.cls,
                sentence=event.sentence,
                steps=event.steps,
                span=event.witness["span"],
                invalidates=event.invalidates,
            )
            for event in events
        ),
        digest=finding_digest(line, events),
        said=SAID[record.verdict.status] if record is not None else None,
        own=SAID[own.status] if own is not None else None,
    )
