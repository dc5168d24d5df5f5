"""Audits of whole tasks are kept, and found again for runs of the same data, options and scorer only."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from proctor import evaluate
from proctor.api import open_run
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor_audit.findings import AuditFinding
from proctor_audit.ignoring import FILE, accept_finding, read_ignore_file
from proctor_audit.keeping import KeptAudit, audit_folders, find_audit, subject_digest

EXAM = [("q1", "1+1?", "2"), ("q2", "1+1?", "3"), ("q3", "Which town?", "Paris"), ("q4", "Which sea?", "North")]
STORE = "runs.db"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write(EXAM)
    evaluate("exam.jsonl", agent=lambda _: "2", store=STORE, run_id="first")
    return tmp_path


def write(rows: list[tuple[str, str, str]]) -> None:
    lines = [json.dumps({"id": id, "question": question, "answer": answer}) for id, question, answer in rows]
    Path("exam.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def audit(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit-task", "exam.jsonl", *words, "--store", STORE])


def record() -> RunRecord:
    return open_run("first", store=STORE).record


def kept_audit() -> KeptAudit:
    kept = find_audit(record(), STORE)
    assert isinstance(kept, KeptAudit)
    return kept


def a_finding() -> AuditFinding:
    assert audit().exit_code == 1
    return kept_audit().findings[0]


def test_an_audit_is_found_for_a_run_of_the_same_data() -> None:
    assert find_audit(record(), STORE) is None
    finding = a_finding()
    kept = kept_audit()
    assert (kept.samples, finding.cls, finding.samples) == (4, "proved", ("q1", "q2"))
    stored = next(sample for sample in open_run("first", store=STORE).store.planned("first") if sample.id == "q1")
    assert kept.subjects["q1"].digest == subject_digest(stored)
    assert Path(f"{STORE}.audits").is_dir()
    assert kept.ignore_file == str(Path(FILE).absolute())


def test_an_audit_of_other_data_options_or_scorer_is_not_the_one_of_a_run() -> None:
    write([*EXAM, ("q5", "Which lake?", "Como")])
    audit()
    assert "Another version of exam" in str(find_audit(record(), STORE))
    write(EXAM)
    audit("--scorer", "exact")
    assert "other options or another scorer" in str(find_audit(record(), STORE))


@pytest.mark.parametrize("words", [("--limit", "2"), ("--check", "A4"), ("--skip", "A6"), ("--id", "q1")])
def test_a_part_of_an_audit_is_not_kept(words: tuple[str, ...]) -> None:
    audit(*words)
    assert find_audit(record(), STORE) is None


def test_a_file_that_cannot_be_read_is_no_audit() -> None:
    a_finding()
    [path] = Path(f"{STORE}.audits").iterdir()
    path.write_text('{"task": "exam"}')
    assert find_audit(record(), STORE) is None


def test_without_a_store_it_is_kept_in_the_folder_of_the_user() -> None:
    assert CliRunner().invoke(app, ["audit-task", "exam.jsonl"]).exit_code == 1
    assert not Path(f"{STORE}.audits").exists()
    assert kept_audit().findings
    assert audit_folders(None) == audit_folders(STORE)[1:]


def test_an_accepted_finding_is_a_rule_at_the_end_of_the_list() -> None:
    finding = a_finding()
    Path(FILE).write_text('# ours\n[[ignore]]\ncheck = "duplicate"\nreason = "x"\n', encoding="utf-8")
    accept_finding(Path(FILE), finding, 'on "purpose"\n\x7f \\ 故意 \ud800', "ann")
    first, second = read_ignore_file(Path(FILE))
    assert (first.check, second.finding, second.by) == ("duplicate", finding.id, "ann")
    assert second.reason == 'on "purpose"\n\x7f \\ 故意 �'
    assert Path(FILE).read_text(encoding="utf-8").startswith("# ours\n")
    assert audit().exit_code == 0


def test_a_finding_is_not_accepted_without_a_reason_or_into_another_file() -> None:
    finding = a_finding()
    Path("other.toml").write_text("[tool]\nname = 1\n", encoding="utf-8")
    for path, reason in (
        (FILE, " "),
        ("none/proctor-ignore.toml", "x"),
        ("new.toml", "x"),
        ("other.toml", "x"),
        ("exam.jsonl", "x"),
    ):
        with pytest.raises(BadInput):
            accept_finding(Path(path), finding, reason, "")
    assert not Path(FILE).exists()
    assert Path("other.toml").read_text(encoding="utf-8") == "[tool]\nname = 1\n"


def test_samples_that_ask_or_expect_something_else_have_another_digest() -> None:
    [sample, *_] = open_run("first", store=STORE).store.planned("first")
    assert subject_digest(sample) != subject_digest(replace(sample, target="5"))
