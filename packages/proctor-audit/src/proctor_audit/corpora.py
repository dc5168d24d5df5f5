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
from proctor_audit.inspector.corpus import labelled_trial
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
            yield from labelled_trial(row.cells)
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
        yield Checked(
            id=line["id"],
            agrees=bool(right),
            official=f"{label['class']} {label['kind']}",
            ours=", ".join(f"{name} {count}" for name, count in sorted(counted.items())) or "-",
            group=f"{label['class']} {label['kind']}",
        )
        if right and label["scope"] == "item":
            named = any({*each.samples} & {*label["items"]} for each in right)
            yield Checked(id=line["id"], agrees=named, official=", ".join(label["items"]), group="right sample named")
    if line["clean"]:
        false = [each for each in findings if each.cls != "look" and each.check not in allowed]
        for each in false:
            yield Checked(id=line["id"], agrees=False, official="-", ours=each.id, group=f"clean sets: {each.cls}")
        if not false:
            yield Checked(id=line["id"], agrees=True, group="clean sets")
