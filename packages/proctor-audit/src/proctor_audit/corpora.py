"""Compare what the checks find with the labels of a corpus, whose kind the fields of its lines show."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.datasets.rows import rows
from proctor_audit.check import TASK_CHECKS, find_checks
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.chat_rows import read_trial
from proctor_audit.inspector.inspecting import RULES
from proctor_audit.inspector.inspecting import findings_of as trial_findings
from proctor_audit.opening import open_audit
from proctor_audit.outcome_corpora import check_golds, check_keys
from proctor_audit.report import run_checks
from proctor_audit.request import TaskRequest

SAME = {"unreadable", "gold-fails", "gold-unscored"}  # names of one fault, where the set allows them


def check_corpus(path: Path, _data: str | None) -> Iterator[Checked]:
    """Yield a line for each label, each sample that a label names, and each finding on a clean set that is not allowed.

    Raises:
        BadInput: the lines are of no corpus that is known.
    """
    voted: list[Mapping[str, Any]] = []
    golds: list[Mapping[str, Any]] = []
    for row in rows(path):
        if {"files", "labels", "clean"} <= row.cells.keys():
            yield from _planted(row.cells)
        elif {"messages", "labels", "judged"} <= row.cells.keys():
            yield from _labelled(row.cells)
        elif {"answers", "key", "flawed"} <= row.cells.keys():
            voted.append(row.cells)
        elif {"gold_2024", "passed", "failed"} <= row.cells.keys():
            golds.append(row.cells)
        else:
            raise BadInput("{where}: no corpus of audits has lines with these fields.", where=row.where)
    if voted:
        yield from check_keys(voted)
    if golds:
        yield from check_golds(golds)


def findings_of(line: Mapping[str, Any]) -> list[AuditFinding]:
    """Return what all checks find in a small eval set, which is written to a folder first."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in line["files"].items():
            (Path(folder) / Path(name).name).write_text(text, encoding="utf-8")
        entry = f"{folder}/{line['entry']}"
        scorers = (line["scorer"],) if line.get("scorer") else ()
        audit = open_audit(TaskRequest(task=entry, scorers=scorers))
        try:
            return run_checks(audit, find_checks(TASK_CHECKS))
        finally:
            audit.close()


def _planted(line: Mapping[str, Any]) -> Iterator[Checked]:
    findings = findings_of(line)
    allowed = set(line.get("allowed", ()))
    for label in line["labels"]:
        same = {label["kind"]} | (SAME & allowed)
        right = [each for each in findings if each.check in same and each.cls == label["class"]]
        counted = Counter(each.check for each in findings)
        ours = ", ".join(f"{name} {count}" for name, count in sorted(counted.items())) or "-"
        official = f"{label['class']} {label['kind']}"
        yield Checked(id=line["id"], agrees=bool(right), official=official, ours=ours, group=official)
        if right and label["scope"] == "item":
            named = any({*each.samples} & {*label["items"]} for each in right)
            yield Checked(id=line["id"], agrees=named, official=", ".join(label["items"]), group="right sample named")
    false = [each for each in findings if each.cls != "look" and each.check not in allowed]
    for each in false if line["clean"] else ():
        yield Checked(id=line["id"], agrees=False, official="-", ours=each.id, group=f"clean sets: {each.cls}")
    if line["clean"] and not false:
        yield Checked(id=line["id"], agrees=True, group="clean sets")


def _labelled(line: Mapping[str, Any]) -> Iterator[Checked]:
    """Yield a line for each kind of finding that is labelled or reported, and one for whether a hit names the right step.

    A finding of a kind that the line does not judge counts neither way.
    """
    findings: dict[str, list[AuditFinding]] = {}
    trial = read_trial(line, str(line.get("id", "-")), 1)
    for check in find_checks(RULES):
        if each := list(trial_findings(trial, check)):
            findings[check.name] = each
    labels = {label["kind"]: label for label in line["labels"]}
    for kind in line["judged"]:
        if kind not in labels and kind not in findings:
            continue
        hits = findings.get(kind, [])
        yield Checked(
            id=str(line.get("id", "-")),
            agrees=kind in labels and bool(hits),
            official=labels[kind]["class"] + " " + kind if kind in labels else "-",
            ours=", ".join(f"{hit.cls} {hit.check} {list(hit.steps)}" for hit in hits) or "-",
            group=kind,
        )
        if kind in labels and hits:
            at = set(labels[kind]["at"])
            named = any(at & set(hit.steps) for hit in hits)
            yield Checked(id=str(line.get("id", "-")), agrees=named, official=str(sorted(at)), group="step named")
