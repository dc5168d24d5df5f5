"""Make the checks of an audit, and gather what they found, what they could not check, and what it cost."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.core.digest import digest as digest_of
from proctor.core.errors import PartFailed, ProctorError
from proctor.core.sentence import Sentence, say
from proctor.core.version import __version__
from proctor.transport.redact import quoted
from proctor_audit.audit import ALL_FORMS, SPLIT, Audit
from proctor_audit.audited_runs import AuditedRun
from proctor_audit.check import AuditCheck
from proctor_audit.confirming import is_confirmed
from proctor_audit.findings import CLASSES, AuditFinding, FindingClass, NotChecked, sort_findings
from proctor_audit.floor import AuditFloor, measure_floor
from proctor_audit.ignoring import IgnoreRule, mark_ignored

OF_TEXTS = ("A1", "A2", "A3")  # groups of checks that send texts
NO_TEXT = say("what is done in the environment is judged, and no text alone is an answer")
FailOn = Literal["proved", "likely", "never"]


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that an audit says.

    Attributes:
        subject: how many samples there are, or trials.
        scorers: the names of the scorers that were called.
        calls: how often a scorer was called.
        drawn: how many samples the checks that call a scorer worked on.
        runs: the numbers of stored runs that were named.
        notes: further notes for the user, such as rules of the ignore list that match nothing.
    """

    task: str
    digest: str
    seed: int
    samples: int
    scorers: tuple[str, ...]
    checks: tuple[AuditCheck, ...]
    findings: tuple[AuditFinding, ...]
    floor: tuple[AuditFloor, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    calls: int = 0
    drawn: int = 0
    runs: tuple[AuditedRun, ...] = ()
    notes: tuple[Sentence, ...] = ()
    command: str = ""

    @property
    def counted(self) -> Sequence[AuditFinding]:
        """Return the findings that nobody accepted."""
        return [finding for finding in self.findings if finding.ignored is None]


def run_checks(audit: Audit, checks: Sequence[AuditCheck]) -> list[AuditFinding]:
    """Make the checks in order; one that raises is noted as not made."""
    findings: dict[str, AuditFinding] = {}

    def note(check: AuditCheck, reason: Sentence, *, applies: bool = True) -> None:
        audit.not_checked.append(
            NotChecked(check=check.name, cls=check.cls, reason=reason, applies=applies, made=False)
        )

    for each in checks:
        missing = _missing(audit, each)
        if missing is not None:
            note(each, missing, applies=False)
            continue
        audit.check = each
        if _sends_texts(each) and (played := len(audit.drawn) - len(audit.by_text)):
            audit.leave_out(say("{count} samples: {reason}", count=played, reason=NO_TEXT))
        try:
            for finding in audit.run(each):
                known = findings.get(finding.id)
                if known is not None and CLASSES.index(known.cls) <= CLASSES.index(finding.cls):
                    continue
                if is_confirmed(audit, finding):
                    findings[finding.id] = finding
        except PartFailed as error:
            note(each, error.sentence)
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of one check is reported, and ends no other
            note(each, say("the check raised {kind}: {error}", kind=type(error).__name__, error=quoted(error)))
    return sort_findings([*findings.values()])


def make_report(
    audit: Audit, checks: Sequence[AuditCheck], rules: Sequence[IgnoreRule] = (), *, digest: str = ""
) -> AuditReport:
    """Make all checks of a task, and mark the findings that are accepted."""
    findings = run_checks(audit, checks)
    floor = measure_floor(audit) if audit.scorers and audit.samples else ()
    marked, notes = mark_ignored(findings, rules, datetime.datetime.now(tz=datetime.UTC).date())
    return AuditReport(
        task=audit.name,
        digest=digest or audit.task.version,
        seed=audit.seed,
        samples=len(audit.samples),
        scorers=tuple(scorer.name for scorer in audit.scorers),
        checks=tuple(checks),
        findings=tuple(marked),
        floor=floor,
        not_checked=tuple(audit.not_checked),
        calls=audit.calls,
        drawn=len(audit.drawn),
        notes=(*_draws(audit), *notes),
        command=audit.command,
    )


def _draws(audit: Audit) -> Iterator[Sentence]:
    """Yield what was asked of a draw of the samples only, where scorers were called."""
    drawn, every = len(audit.drawn), len(audit.samples)
    if audit.calls and drawn < every:
        yield say("drawn: most checks that call a scorer worked on {drawn} of {all} samples", drawn=drawn, all=every)
    for most in sorted({*audit.draws.values()}):
        names = ", ".join(sorted(name for name, count in audit.draws.items() if count == most))
        yield say("drawn: {names} worked on {count} samples", names=names, count=most)
    if audit.calls and len(audit.by_text) > ALL_FORMS:
        yield say("after {forms} samples, one refusal and one kind of garbage are tried for each", forms=ALL_FORMS)


def exit_code(report: AuditReport, fail_on: FailOn) -> int:
    """Return 1 for a finding at or above `fail_on` that is not ignored, 3 where a proved check could not be made, else 0."""
    if fail_on == "never":
        return 0
    if any(finding.cls in failing_classes(fail_on) for finding in report.counted):
        return 1
    return 3 if any(each.applies and each.cls == "proved" for each in report.not_checked) else 0


def failing_classes(fail_on: FailOn) -> Sequence[FindingClass]:
    """Return the classes whose findings make the exit code 1."""
    return () if fail_on == "never" else CLASSES[: CLASSES.index(fail_on) + 1]


def as_json(report: AuditReport) -> Mapping[str, Any]:
    """Return the report as JSON, with its own digest; nothing in it depends on the time or on how many processes there were."""
    report_json = {
        "schema": 1,
        "task": report.task,
        "digest": report.digest,
        "seed": report.seed,
        "version": __version__,
        "samples": report.samples,
        "drawn": report.drawn,
        "scorers": list(report.scorers),
        "checks": [
            {"name": each.name, "group": each.group, "class": each.cls, "title": str(each.title), "cost": each.cost}
            for each in report.checks
        ],
        "findings": [finding_json(finding) for finding in report.findings],
        "floor": msgspec.to_builtins(report.floor),
        "runs": msgspec.to_builtins(report.runs, enc_hook=str),
        "not_checked": msgspec.to_builtins(report.not_checked, enc_hook=str),
        "cost": {"scorer_calls": report.calls, "model_calls": 0},
    }
    return {**report_json, "audit": digest_of(report_json)[:12]}


def finding_json(finding: AuditFinding) -> Mapping[str, object]:
    """Return a finding as JSON, with its sentence in every language."""
    from proctor.i18n import LANGUAGES, speak

    message = {lang: speak(finding.sentence, lang) for lang in LANGUAGES}
    return {**msgspec.to_builtins(finding, enc_hook=str), "message": message}


def _sends_texts(check: AuditCheck) -> bool:
    return check.cost == "scorer" and check.group in OF_TEXTS and "environment" not in check.needs


def _missing(audit: Audit, check: AuditCheck) -> Sentence | None:
    """Return why a check cannot be made; None if it can."""
    if _sends_texts(check) and audit.drawn and not audit.by_text:
        return NO_TEXT
    if not audit.samples and not audit.unreadable:
        return say("there are no samples")
    for need in check.needs:
        if need == "scorer" and not audit.scorers:
            return say("there is no scorer that could be called")
        if need == "outcomes" and audit.outcomes is None:
            return audit.why_no_outcomes or say("no stored runs were given")
        if need == "environment" and audit.task.environment is None:
            return say("the task has no environment")
        if need == "others" and not any(SPLIT in sample.tags for sample in (*audit.others, *audit.samples)):
            return say("no other data was given (--against), and no column is mapped to tag:split")
        if need == "user_code" and audit.request is None:
            return say("all scorers are Proctor's own")
    return None
