"""Read and keep what people say of events in trials; of a stored run, where the web app and the terminal both find it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.runtime.files import locked, write_whole
from proctor.runtime.folders import data_folder
from proctor_judging.review import labels as verifications


def read_labels(paths: Sequence[str]) -> Mapping[str, Mapping[str, bool]]:
    """Return what people say by check and trial: approved means that the event is there, rejected that it is not.

    Raises:
        BadInput: a file is missing, or is no verification file.
    """
    labels: dict[str, dict[str, bool]] = defaultdict(dict)
    for path in paths:
        for label in verifications.verdicts(path):
            check, _, trial = label.item.partition(":")
            if label.status != "needs_revision":
                labels[check][trial] = label.status == "approved"
    return labels


def label_file(store: Store, record: RunRecord) -> Path:
    """Return where labels of a stored run are kept: next to a store that is a file, else in the user's data folder.

    The name holds the time of the run, so that a later run of the same name does not inherit its labels.
    """
    path = Path(store.url).expanduser()
    folder = path.with_name(f"{path.name}.reviews") if path.is_file() else data_folder() / "reviews"
    return folder / f"{record.id}-{int(record.created)}-inspect_verifications.json"


def save_label(path: Path, check: str, trial: str, reviewer: str, happened: bool | None) -> None:
    """Keep whether an event happened in a trial, by one person; None removes what that person said of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    item = f"{check}:{trial}"
    with locked(path):
        records = verifications.records(path) if path.exists() else {}
        entries = [entry for entry in records[item].entries if entry.reviewer != reviewer] if item in records else []
        if happened is not None:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            status: verifications.Status = "approved" if happened else "rejected"
            number = 1 + max((entry.number for each in records.values() for entry in each.entries), default=0)
            entries.append(
                verifications.LabelEntry(number=number, reviewer=reviewer, scores={}, status=status, verified_at=now)
            )
        if entries:
            records[item] = verifications.record(item, entries)
        else:
            records.pop(item, None)
        write_whole(path, msgspec.json.format(msgspec.json.encode(records), indent=2) + b"\n", durable=True)
