"""What every check of a task promises, as tests."""

import json
import tempfile
from abc import ABC
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor_audit.check import TASK_CHECKS, AuditCheck, find_checks
from proctor_audit.findings import CLASSES, AuditFinding
from proctor_audit.opening import open_audit
from proctor_audit.report import finding_json, run_checks
from proctor_audit.request import TaskRequest

AuditRows = Sequence[Mapping[str, Any]]
HOSTILE = "\x1b[31m{name} \u202e" + "[" * 2_000


class CheckContract(ABC):
    """Tests of a check, with rows that it has to find and rows that it must not flag.

    class TestShortQuestion(CheckContract):
        check = "./checks.py:short_question"
        flawed = [{"id": "q1", "question": "Why?", "answer": "42"}]
        sound = [{"id": "q1", "question": "How much is 6 * 7?", "answer": "42"}]
    """

    check: str
    flawed: AuditRows
    sound: AuditRows

    def test_it_says_what_it_finds(self) -> None:
        check = self._declared()
        assert check.group
        assert check.cls in CLASSES
        assert str(check.title).strip().endswith((".", "。")), "the title is a sentence"

    def test_what_is_flawed_is_found_with_a_witness(self) -> None:
        findings = self._findings(self.flawed)
        assert findings, "nothing was found"
        for finding in findings:
            assert CLASSES.index(finding.cls) >= CLASSES.index(self._declared().cls), "a stronger class than declared"
            assert finding.scope in ("set", "scorer") or finding.samples, "no sample is named"
            json.dumps(finding_json(finding))

    def test_what_is_sound_is_not_flagged(self) -> None:
        assert [finding.id for finding in self._findings(self.sound)] == []

    def test_the_order_of_the_rows_changes_no_finding(self) -> None:
        assert self._ids(self.flawed) == self._ids([*self.flawed][::-1])

    def test_it_copes_with_hostile_texts(self) -> None:
        rows = [{**row, "question": f"{HOSTILE} {number}"} for number, row in enumerate(self.flawed)]
        for finding in self._findings(rows):
            msgspec.json.encode(finding_json(finding))

    def _declared(self) -> AuditCheck:
        [check] = find_checks(TASK_CHECKS, [self.check])
        return check

    def _ids(self, rows: AuditRows) -> set[str]:
        return {finding.id for finding in self._findings(rows)}

    def _findings(self, rows: AuditRows) -> list[AuditFinding]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            audit = open_audit(TaskRequest(task=str(path)))
            try:
                findings = run_checks(audit, [self._declared()])
            finally:
                audit.close()
            raised = [str(each.reason) for each in audit.not_checked if each.applies]
            assert not raised, raised
            return findings
