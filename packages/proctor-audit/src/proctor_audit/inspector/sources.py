"""Find what is to be inspected: files of conversations, and stored runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import Sample, Turn
from proctor.core.score import Score
from proctor_adapters import traces
from proctor_adapters.traces import is_trace
from proctor_audit.findings import FindingLocation
from proctor_audit.inspector.chat_rows import has_messages, read_rows, read_trial
from proctor_audit.inspector.stored_trials import trials_of_run, view_trial
from proctor_audit.inspector.trial_labels import label_file
from proctor_audit.inspector.view import InspectedTrial

if TYPE_CHECKING:
    from proctor.api import Run

ADAPTERS = "proctor_adapters.imports"
Located = tuple[InspectedTrial, FindingLocation | None]


def read_sources(names: Sequence[str], store: str | None = None) -> Iterator[Located]:
    """Yield the trials of files and runs, in order; their ids hold the source where there are several.

    Raises:
        BadInput: neither a file nor a stored run has a name, one is named twice, or a line is no conversation.
    """
    paths = [Path(name) for name in names]
    if twice := [path for path, count in Counter(paths).items() if count > 1]:
        raise BadInput("{path} is named twice.", path=twice[0])
    counts = Counter(path.name for path in paths)
    for name, path in zip(names, paths, strict=True):
        source = path.name if counts[path.name] == 1 else path.as_posix()
        if path.is_file():
            trials = _of_path(path)
        else:
            run = _open(name, store)
            trials = ((trial, None) for trial in trials_of_run(run.store, run.record))
        for trial, where in trials:
            yield (_within(source, trial) if len(names) > 1 else trial), where


def count_unplayed(names: Sequence[str], store: str | None = None) -> int:
    """Return how many planned trials of the stored runs among the names were never played."""
    runs = [_open(name, store) for name in names if not Path(name).is_file()]
    return sum(max(run.record.planned - sum(run.store.outcomes(run.record.id).values()), 0) for run in runs)


def find_label_file(names: Sequence[str], store: str | None = None) -> Path | None:
    """Return where the web app keeps labels of a stored run; None for several sources, whose trials have other ids."""
    if len(names) != 1 or Path(names[0]).is_file():
        return None
    run = _open(names[0], store)
    return label_file(run.store, run.record)


def _within(source: str, trial: InspectedTrial) -> InspectedTrial:
    return replace(trial, id=f"{source}/{trial.id}", sample=f"{source}/{trial.sample or trial.id}")


def _of_path(path: Path) -> Iterator[Located]:
    """Yield the trials of a file: conversations, else spans, else the log of another program."""
    if is_trace(path):
        attempts: Counter[str] = Counter()
        for each in traces.read([path]).whole:
            id = each.sample or each.id
            sample = Sample(id=id, turns=tuple(Turn(messages=(message,)) for message in each.turns))
            yield view_trial(sample, each.trajectory, attempt=attempts[id]), FindingLocation(file=path.as_posix())
            attempts[id] += 1
    elif has_messages(path) or find_spec(ADAPTERS) is None:
        yield from _of_file(path)
    else:
        yield from _of_log(path)


def _of_log(path: Path) -> Iterator[Located]:
    try:
        runs = import_module(ADAPTERS).read(path)
    except BadInput:
        if path.suffix not in (".jsonl", ".gz"):
            raise
        yield from _of_file(path)  # says what a row of a conversation lacks
        return
    for number, run in enumerate(runs, 1):
        for trial in run.trials():
            if not trial.again:
                score = next((value for value in trial.scores.values() if isinstance(value, Score)), None)
                view = view_trial(trial.sample, trial.trajectory, trial.outcome, score, attempt=trial.attempt)
                yield (
                    _within(f"{number}-{run.agent}", view) if len(runs) > 1 else view,
                    FindingLocation(file=path.as_posix()),
                )


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


def _open(name: str, store: str | None) -> "Run":
    from proctor.api import open_run

    if name.endswith((".jsonl", ".gz", ".json")) or "/" in name:
        raise BadInput("There is no file {path}.", path=name)
    return open_run(name, store=store)
