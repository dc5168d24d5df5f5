"""Write an audit as SARIF 2.1.0 (OASIS), as code scanning takes it."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from proctor.core.sentence import clip
from proctor.core.version import __version__
from proctor.i18n import speak
from proctor_audit.answers import SHOWN
from proctor_audit.check import AuditCheck
from proctor_audit.findings import AuditFinding
from proctor_audit.report import AuditReport, finding_json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"proved": "error", "likely": "warning", "look": "note"}


def as_sarif(report: AuditReport) -> Mapping[str, object]:
    """Return one run: a rule for each check, a result for each finding; all texts are plain texts."""
    places = {each.name: number for number, each in enumerate(report.checks)}
    notifications = [
        {"level": "warning", "message": {"text": f"{each.check}: {each.reason}"}, "associatedRule": {"id": each.check}}
        for each in report.not_checked
    ]
    rules = [_rule(each) for each in report.checks]
    run = {
        "tool": {"driver": {"name": "Proctor", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, places) for finding in report.findings],
        "properties": {"task": report.task, "digest": report.digest, "seed": report.seed},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(check: AuditCheck) -> Mapping[str, object]:
    return {
        "id": check.name,
        "name": "".join(part.capitalize() for part in check.name.split("-")),
        "shortDescription": {"text": str(check.title)},
        "fullDescription": {"text": f"{check.title}\n{speak(check.title, 'zh')}"},
        "defaultConfiguration": {"level": LEVELS[check.cls]},
        "properties": {"group": check.group, "class": check.cls},
    }


def _result(finding: AuditFinding, places: Mapping[str, int]) -> Mapping[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": places[finding.check],
        "level": LEVELS[finding.cls],
        "message": {"text": f"{finding.id}: {finding.sentence}\n{speak(finding.sentence, 'zh')}\n{finding.replay}"},
        "locations": _locations(finding),
        "partialFingerprints": {"proctor/v1": finding.id},
        "properties": {
            "class": finding.cls,
            "precision": finding_json(finding)["precision"],
            "witness": clip(str(finding.witness), SHOWN),
        },
    }
    if finding.ignored is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.ignored.reason}]
    return result


def _locations(finding: AuditFinding) -> Sequence[Mapping[str, object]]:
    of_set = [{"name": finding.scope, "kind": "set"}]
    logical = [{"name": id, "kind": "sample"} for id in finding.samples[:20]] or of_set
    physical = [
        {
            "artifactLocation": {"uri": quote(each.file)},
            **({"region": {"startLine": each.line}} if each.line is not None else {}),
        }
        for each in finding.where
        if each.file
    ]
    if not physical:
        return [{"logicalLocations": logical}]
    return [{"physicalLocation": location, "logicalLocations": logical} for location in physical]
