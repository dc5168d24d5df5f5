"""Read and keep what people say of events in trials; of a stored run, where the web app and the terminal both find it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from proctor.core.digest import digest
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.runtime.files import locked, write_whole
from proctor.runtime.folders import data_folder
from proctor_audit.findings import AuditFinding
from proctor_audit.inspector.inspecting import TrialLine
from proctor_judging.review import labels as verifications

HAPPENED: Mapping[verifications.Status, bool] = {"approved": True, "rejected": False}  # else people disagree


class FindingLabels(msgspec.Struct, frozen=True, kw_only=True):
    """What people say of findings: those of a run that somebody opened, not a draw of its trials.

    Attributes:
        records: by check and trial, of findings as they are now.
        changed: by check, how many labels are of a trial or finding that is another now, or gone.
    """

    records: Mapping[tuple[str, str], verifications.LabelRecord] = {}
    changed: Mapping[str, int] = {}

    def said(self, check: str) -> dict[str, bool | None]:
        """Return by trial whether a finding of a check is right; None where people disagree."""
        return {
            trial: HAPPENED.get(record.verdict.status)
            for (name, trial), record in self.records.items()
            if name == check
        }


def read_finding_labels(path: Path, lines: Sequence[TrialLine], findings: Iterable[AuditFinding]) -> FindingLabels:
    """Return the labels in a file that are of these findings; without a file none."""
    records = verifications.records(path) if path.is_file() else {}
    by_id = {line.id: line for line in lines}
    events: dict[tuple[str, str], list[AuditFinding]] = {}
    for finding in findings:
        events.setdefault((finding.check, finding.samples[0]), []).append(finding)
    current: dict[tuple[str, str], verifications.LabelRecord] = {}
    changed: Counter[str] = Counter()
    for item, record in records.items():
        check, _, trial = item.partition(":")
        digests = [finding_digest(by_id[trial], events[check, trial])] if (check, trial) in events else []
        if record.entries[-1].item_digest in digests:
            current[check, trial] = record
        else:
            changed[check] += 1
    return FindingLabels(records=current, changed=changed)


def finding_digest(line: TrialLine, events: Iterable[AuditFinding]) -> str:
    """Return the fingerprint of what a label of a finding is of: the trial, and the steps and words of each event."""
    return digest([line.digest, sorted([[*event.steps], event.witness["span"]] for event in events)])[:16]


def label_file(store: Store, record: RunRecord) -> Path:
    """Return where labels of a stored run are kept: next to a store that is a file, else in the user's data folder.

    The name holds the time of the run, so that a later run of the same name does not inherit its labels.
    """
    path = Path(store.url).expanduser()
    folder = path.with_name(f"{path.name}.reviews") if path.is_file() else data_folder() / "reviews"
    return folder / f"{record.id}-{int(record.created)}-inspect_verifications.json"


def save_label(path: Path, item: tuple[str, str], digest: str, reviewer: str, happened: bool | None) -> None:
    """Keep whether an event happened, by one person; None removes what that person said of it.

    Args:
        item: the check and the trial.
        digest: the fingerprint of what was judged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    id = ":".join(item)
    with locked(path):
        records = verifications.records(path) if path.exists() else {}
        entries = [entry for entry in records[id].entries if entry.reviewer != reviewer] if id in records else []
        if happened is not None:
            entries.append(
                verifications.LabelEntry(
                    number=1 + max((entry.number for each in records.values() for entry in each.entries), default=0),
                    reviewer=reviewer,
                    scores={},
                    status="approved" if happened else "rejected",
                    verified_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
                    item_digest=digest,
                )
            )
        if entries:
            records[id] = verifications.record(id, entries)
        else:
            records.pop(id, None)
        write_whole(path, msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n", durable=True)
