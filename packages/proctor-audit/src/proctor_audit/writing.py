"""Write an audit as a file for people or other programs: .html, .md, .json, .sarif, .svg (a badge), .xml (JUnit)."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sentence import clip, say
from proctor.exports.junit import JUnitSuite, TestCase, TestResult, write_suites
from proctor.i18n import speak
from proctor.reports import pages
from proctor.reports.blocks import Block, Bullets, Code, Paragraph, Phrase, SectionBlock, TableBlock
from proctor.runtime.files import write_whole
from proctor.runtime.visible import visible_json
from proctor_audit.answers import SHOWN
from proctor_audit.badge import badge_of
from proctor_audit.findings import CLASSES, AuditFinding
from proctor_audit.printing import describe_floors, describe_not_checked, describe_precision, describe_runs
from proctor_audit.report import AuditReport, FailOn, as_json, failing_classes
from proctor_audit.sarif import as_sarif

SUFFIXES = (".html", ".md", ".json", ".sarif", ".svg", ".xml")


def check_file(path: Path) -> None:
    """Refuse a file whose kind is not known, before anything is checked.

    Raises:
        BadInput: names the kinds.
    """
    if path.suffix not in SUFFIXES:
        raise BadInput("An audit is written as {known}, not '{name}'.", known=", ".join(SUFFIXES), name=path.name)


def write_report(report: AuditReport, path: Path, lang: str, fail_on: FailOn) -> Path:
    """Write the report in the form that the suffix names.

    Raises:
        BadInput: the file cannot be written.
    """
    match path.suffix:
        case ".json":
            return write_whole(path, visible_json(json.dumps(as_json(report), ensure_ascii=False) + "\n"))
        case ".sarif":
            return write_whole(path, visible_json(json.dumps(as_sarif(report), ensure_ascii=False, indent=1) + "\n"))
        case ".svg":
            return write_whole(path, badge_of(report, lang))
        case ".xml":
            write_suites(path, [JUnitSuite(name=report.task, cases=_cases(report, lang, fail_on))])
            return path
    return pages.write(path, page_of(report), lang)


def page_of(report: AuditReport) -> pages.ReportPage:
    """Return the audit as a page: a table by class, and each finding with its witness and its command."""
    counts: list[list[Phrase]] = [
        [
            say(cls),
            str(sum(finding.cls == cls for finding in report.counted)),
            str(sum(finding.cls == cls and finding.ignored is not None for finding in report.findings)),
        ]
        for cls in CLASSES
    ]
    titles = {each.name: each.title for each in report.checks}
    sections = [
        SectionBlock(
            say("Findings by class"),
            [TableBlock([say("class"), say("findings"), say("accepted")], counts, right=(1, 2))],
        )
    ]
    for name, group in groupby(report.findings, key=lambda finding: finding.check):
        blocks: list[Block] = [Paragraph(titles[name])]
        for finding in group:
            blocks += _finding_blocks(finding)
        sections.append(SectionBlock(name, blocks))
    floors: list[Phrase] = [*describe_floors(report.floor)]
    if floors:
        sections.append(SectionBlock(say("Floor"), [Bullets(floors)]))
    if report.runs:
        sections.append(SectionBlock(say("Stored runs"), [Bullets([*describe_runs(report.runs)])]))
    missing: list[Phrase] = [*describe_not_checked(report.not_checked), *report.notes]
    if missing:
        sections.append(SectionBlock(say("Not checked, and notes"), [Bullets(missing)]))
    facts = {
        "task": report.task,
        "audit": as_json(report)["audit"],
        "digest": report.digest,
        "scorer": ", ".join(report.scorers) or "-",
    }
    return pages.ReportPage(
        title=say("Audit of {task}", task=report.task), facts=facts, sections=sections, numbered=False
    )


def _finding_blocks(finding: AuditFinding) -> Iterator[Block]:
    where = ", ".join(f"{each.file}:{each.line}" if each.line is not None else each.file for each in finding.where)
    yield Paragraph(
        say(
            "{class_} {id}: {sentence} {where}",
            class_=say(finding.cls),
            id=finding.id,
            sentence=finding.sentence,
            where=f"({where})" if where else "",
        ),
        strong=True,
    )
    if finding.ignored is not None:
        yield Paragraph(say("accepted: {reason} ({by})", reason=finding.ignored.reason, by=finding.ignored.by or "-"))
    if finding.cls != "proved":
        yield Paragraph(describe_precision(finding))
    witness = json.dumps(finding.witness, ensure_ascii=False, indent=1, default=str)
    yield Code(f"{clip(witness, SHOWN)}\n{finding.replay}")


def _cases(report: AuditReport, lang: str, fail_on: FailOn) -> Iterator[TestCase]:
    """Yield a test case for each check: failed by its findings, skipped where it was not made or all are accepted."""
    failing = failing_classes(fail_on)
    reasons = {each.check: speak(each.reason, lang) for each in report.not_checked}
    for each in report.checks:
        own = [finding for finding in report.findings if finding.check == each.name]
        counted = [finding for finding in own if finding.ignored is None and finding.cls in failing]
        text = "\n".join(f"{finding.id}: {speak(finding.sentence, lang)}\n{finding.replay}" for finding in counted)
        result = TestResult(status="passed")
        if counted:
            message = speak(each.title, lang)
            result = TestResult(status="failure", message=message, type=each.cls, text=clip(text, 10 * SHOWN))
        elif each.name in reasons:
            result = TestResult(status="skipped", message=reasons[each.name])
        elif own and all(finding.ignored is not None for finding in own):
            accepted = own[0].ignored
            result = TestResult(status="skipped", message="" if accepted is None else accepted.reason)
        yield TestCase(classname=f"{report.task}.{each.group}", name=each.name, seconds=0.0, result=result)
