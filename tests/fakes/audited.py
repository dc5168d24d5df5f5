"""A store with a run of a small exam that contradicts itself, a hostile sample among it, and the audit of the exam."""

import json
from pathlib import Path

from example_runs import HOSTILE as TEXT

import proctor
from proctor_audit.check import TASK_CHECKS, find_checks
from proctor_audit.keeping import audit_folders, keep_audit
from proctor_audit.opening import open_audit
from proctor_audit.report import make_report
from proctor_audit.request import TaskRequest

RUN = "exam-run"
HOSTILE = TEXT.replace("\ud800", "")  # which no file of questions may hold
ROWS = [
    ("q1", "How much is 6 * 7?", "42"),
    ("q2", "How many legs has a spider?", "8"),
    ("q3", "How much is 6 * 7?", "43"),
    ("q4", f"Which town? {HOSTILE}", "Paris"),
    ("q5", f"Which town? {HOSTILE}", "Rome"),
    *((f"r{number}", f"How much is {number} + 1?", f"{number + 1}") for number in range(11, 17)),
]
FINDINGS = ("contradictory-duplicate:q1+q3", "contradictory-duplicate:q4+q5")


def write_exam(folder: Path) -> Path:
    """Write the exam as a file of questions."""
    path = folder / "exam.jsonl"
    lines = (json.dumps({"id": id, "question": question, "answer": answer}) for id, question, answer in ROWS)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def run_exam(folder: Path, run_id: str = RUN) -> None:
    """Run it with an agent that says 42."""
    proctor.evaluate(str(folder / "exam.jsonl"), agent=lambda _: "42", store=str(folder / "runs.db"), run_id=run_id)


def audit_exam(folder: Path) -> Path:
    """Audit it, and keep the audit as the command does."""
    request = TaskRequest(task=str(folder / "exam.jsonl"))
    audit = open_audit(request)
    try:
        report = make_report(audit, find_checks(TASK_CHECKS))
    finally:
        audit.close()
    return keep_audit(audit, report, request, audit_folders(str(folder / "runs.db"))[0], None)
