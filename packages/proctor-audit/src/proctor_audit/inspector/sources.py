"""Find what is to be inspected: files of conversations, and stored runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor_audit.findings import FindingLocation
from proctor_audit.inspector.chat_rows import read_rows, read_trial
from proctor_audit.inspector.view import InspectedTrial

Located = tuple[InspectedTrial, FindingLocation | None]


def read_sources(names: Sequence[str], store: str | None = None) -> Iterator[Located]:
    """Yield the trials of files and runs, in order; their ids hold the source where there are several.

    Raises:
        BadInput: neither a file nor a stored run has a name, or a line is no conversation.
    """
    for name in names:
        path = Path(name)
        trials = _of_file(path) if path.is_file() else _of_run(name, store)
        for trial, where in trials:
            yield (replace(trial, id=f"{path.name}/{trial.id}") if len(names) > 1 else trial), where


def _of_file(path: Path) -> Iterator[Located]:
    ids: set[str] = set()
    for number, row in read_rows(path):
        where = f"{path.name}, line {number}"
        trial = read_trial(row, where, number)
        if trial.id in ids:
            raise BadInput(
                "{where}: the id {id} stands in an earlier line too. Give each row its own.", where=where, id=trial.id
            )
        ids.add(trial.id)
        yield trial, FindingLocation(file=path.as_posix(), line=number)


def _of_run(name: str, store: str | None) -> Iterator[Located]:
    from proctor.api import open_run
    from proctor_audit.inspector.stored_trials import trials_of_run

    if name.endswith((".jsonl", ".gz", ".json")) or "/" in name:
        raise BadInput("There is no file {path}.", path=name)
    run = open_run(name, store=store)
    for trial in trials_of_run(run.store, run.record):
        yield trial, None
