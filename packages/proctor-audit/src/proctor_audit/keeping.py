"""Keep the audit of a whole task, and find it again for a run of that task: by data, options and main scorer."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest, digest_bytes
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.runtime.files import write_whole
from proctor.runtime.folders import data_folder
from proctor.stores.blobs import encode
from proctor_audit.audit import Audit
from proctor_audit.findings import AuditFinding, NotChecked
from proctor_audit.floor import AuditFloor
from proctor_audit.ignoring import FILE, find_ignore_file
from proctor_audit.report import AuditReport, as_json
from proctor_audit.request import TaskRequest
from proctor_audit.wording import fold

FOLDER = "audits"


class AuditSubject(msgspec.Struct, frozen=True, kw_only=True):
    """A sample that a finding names: the digest of what it asks and expects, and its tags."""

    digest: str
    tags: Mapping[str, str] = {}


class KeptAudit(msgspec.Struct, frozen=True, kw_only=True):
    """An audit of all samples of a task by all checks.

    Attributes:
        task, version, options, main: which runs it is about.
        audit: the digest of the report, as its badge has it.
        command: that makes the audit again.
        titles: of the checks that found something.
        drawn: the samples that every check read; None means all.
        subjects: the samples that findings name, by id.
        ignore_file: where accepted findings are written.
    """

    task: str
    version: str
    options: Mapping[str, Any]
    main: str
    audit: str
    command: str
    samples: int
    findings: tuple[AuditFinding, ...]
    titles: Mapping[str, Sentence]
    floor: tuple[AuditFloor, ...]
    not_checked: tuple[NotChecked, ...]
    drawn: tuple[str, ...] | None
    subjects: Mapping[str, AuditSubject]
    ignore_file: str


def audit_folders(store: str | None) -> Sequence[Path]:
    """Return where audits are kept: next to a store that is named and is a file, and in the user's data folder."""
    folders = [data_folder() / FOLDER]
    path = None if store is None else Path(store).expanduser()
    return folders if path is None or not path.is_file() else [path.with_name(f"{path.name}.{FOLDER}"), *folders]


def keep_audit(audit: Audit, report: AuditReport, request: TaskRequest, folder: Path, ignore_file: Path | None) -> Path:
    """Write an audit of a whole task; an earlier one of the same data, options and scorer is replaced.

    Raises:
        BadInput: the file cannot be written.
    """
    found_by = {finding.check for finding in report.findings}
    named = {id for finding in report.findings for id in finding.samples}
    kept = KeptAudit(
        task=report.task,
        version=report.digest,
        options=request.options,
        main=audit.main,
        audit=as_json(report)["audit"],
        command=report.command,
        samples=report.samples,
        findings=report.findings,
        titles={each.name: each.title for each in report.checks if each.name in found_by},
        floor=report.floor,
        not_checked=report.not_checked,
        drawn=None if report.drawn == report.samples else tuple(sample.id for sample in audit.drawn),
        subjects={
            sample.id: AuditSubject(digest=subject_digest(sample), tags=sample.tags)
            for sample in audit.samples
            if sample.id in named
        },
        ignore_file=str((ignore_file or usual_ignore_file(request.task)).absolute()),
    )
    return write_whole(folder / _name(kept.task, kept.version, kept.options, kept.main), encode(kept))


def usual_ignore_file(task: str) -> Path:
    """Return the ignore list of a task, whether there is one yet or not."""
    written = Path(task.partition(":")[0] if not Path(task).exists() else task)
    folder = written if written.is_dir() else written.parent if written.is_file() else Path()
    return find_ignore_file(None, task) or folder / FILE


def find_audit(record: RunRecord, store: str) -> KeptAudit | Sentence | None:
    """Return the audit of the task of a run: None where it was never audited, and which audits there are, if none is of its data, options and scorer."""
    name = _name(record.task, record.task_version, record.spec.task_options, record.main_scorer or "")
    folders = audit_folders(store)
    for folder in folders:
        if (own := _read(folder / name)) is not None:
            return own
    paths = [path for folder in folders for path in sorted(folder.glob(f"{digest(record.task)[:12]}-*.json"))]
    others = [kept for path in paths if (kept := _read(path)) is not None]
    if any(kept.version == record.task_version for kept in others):
        return say("This version of {task} was audited with other options or another scorer.", task=record.task)
    return say("Another version of {task} was audited, not the data of this run.", task=record.task) if others else None


def subject_digest(sample: Sample) -> str:
    """Return a digest of what a sample asks and expects, the same for a sample that a store returns."""
    turns = [
        [[[message.role, fold(message.text)] for message in turn.messages], turn.tools, turn.reference]
        for turn in sample.turns
    ]
    return digest_bytes(encode([turns, sample.target]))[:16]


def _name(task: str, version: str, options: Mapping[str, Any], main: str) -> str:
    return f"{digest(task)[:12]}-{digest([version, options, main])[:12]}.json"


def _read(path: Path) -> KeptAudit | None:
    """Return what a file keeps; None where there is no such file, or another version of Proctor wrote it."""
    try:
        status = path.stat()
        return _decode(path, status.st_mtime_ns, status.st_size)
    except (OSError, msgspec.DecodeError):
        return None


@lru_cache(maxsize=4)
def _decode(path: Path, _changed: int, _size: int) -> KeptAudit:
    """Return what a file keeps; pages of its samples ask for it one after another."""
    return msgspec.json.decode(path.read_bytes(), type=KeptAudit)
