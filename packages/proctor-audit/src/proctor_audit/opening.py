"""Open a task for an audit: its samples, its scorers, the rows that cannot be read, and where each sample is written."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.api import resolve
from proctor.api.task_kinds import kind_of
from proctor.core.errors import BadInput
from proctor.core.run import Selection
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.datasets.files import refusing
from proctor.datasets.formats import Reading
from proctor.datasets.rows import rows
from proctor.engine.scoring import BoundScorer
from proctor.engine.selection import choose
from proctor_audit.audit import Audit, Unreadable
from proctor_audit.findings import FindingLocation, NotChecked
from proctor_audit.scoring import LocalScorer


class AuditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is audited, named as `proctor run` names it.

    Attributes:
        options: of the task (`--set`, `--map`).
        jobs: processes for scorers of users.
        seconds: for one call of such a scorer.
    """

    task: str
    options: Mapping[str, object] = {}
    scorers: tuple[str, ...] = ()
    selection: Selection = Selection()
    seed: int = 0
    jobs: int = 1
    seconds: float = 5.0

    @property
    def command(self) -> str:
        """Return the command line of the audit, to which a finding adds `--replay`."""
        words = ["proctor", "audit-task", self.task, *(word for name in self.scorers for word in ("--scorer", name))]
        for key, value in self.options.items():
            given = value.items() if key == "columns" and isinstance(value, Mapping) else [(key, value)]
            flag = "--map" if key == "columns" else "--set"
            words += [word for name, text in given for word in (flag, f"{name}={text}")]
        return shlex.join(words)


def open_audit(request: AuditRequest) -> Audit:
    """Read the task; rows that cannot be read are kept aside.

    Raises:
        BadInput: there is no such task, or nothing of it can be read.
    """
    refused: dict[str, BadInput] = {}
    with refusing(lambda error: refused.update({str(error): error})):
        task, _, _ = resolve.task_with_user(request.task, request.options, talked_with=False)
        task, _ = resolve.environment(task, (), {})
        samples = list(choose(task, request.selection, request.seed).read())
    if not samples and not refused:
        raise BadInput("{task} has no samples to audit.", task=request.task)
    scorers, judges = _scorers(task, request)
    where = _locations(request, task)
    audit = Audit(
        name=task.name,
        task=task,
        samples=samples,
        scorers=scorers,
        scoring=LocalScorer(task, scorers),
        seed=request.seed,
        command=request.command,
        where=where,
        unreadable=[_unreadable(error, where) for error in refused.values()],
    )
    for name in judges:
        reason = say("the scorer {scorer} asks a model, so what answers earn from it is not known here", scorer=name)
        audit.not_checked.append(NotChecked(check="gold-fails", cls="proved", reason=reason))
    return audit


def _scorers(task: Task, request: AuditRequest) -> tuple[Sequence[BoundScorer], Sequence[str]]:
    """Return the scorers that ask no model, and the names of the others."""
    bound = resolve.scorers_of(task, request.scorers or task.scorers)
    judges = {name for scorer in bound for name in resolve.judges_of([scorer])}
    return [scorer for scorer in bound if scorer.name not in judges], sorted(judges)


def _locations(request: AuditRequest, task: Task) -> Mapping[str, FindingLocation]:
    """Return where each sample of a data file is written, by its id."""
    if kind_of(request.task) != "data" or not Path(request.task).exists():
        return {}
    given = {
        name: request.options[name] for name in ("encoding", "header", "sheet", "split") if name in request.options
    }
    reading = msgspec.convert({**given}, Reading, strict=False)
    columns = task.provenance.get("columns", {})
    found: dict[str, FindingLocation] = {}
    with_id = columns.get("id") if isinstance(columns, Mapping) else None
    for row in rows(Path(request.task).expanduser(), msgspec.structs.replace(reading, refuse=lambda _: None)):
        id = f"row-{row.number}" if with_id is None else str(row.cell(with_id)).strip()
        found.setdefault(id, location_of(row.where))
    return found


def location_of(where: Sentence) -> FindingLocation:
    """Return the file and line of a row.

    >>> location_of(say("{path}, line {line}", path="a.jsonl", line=3)).line
    3
    """
    line = where.values.get("line")
    return FindingLocation(file=str(where.values.get("path", "")), line=line if isinstance(line, int) else None)


def _unreadable(error: BadInput, known: Mapping[str, FindingLocation]) -> Unreadable:
    where = error.sentence.values.get("where")
    location = location_of(where if isinstance(where, Sentence) else error.sentence)
    line = "" if location.line is None else f"-{location.line}"
    id = next((id for id, place in known.items() if place == location and line), f"row{line}")
    return Unreadable(id=id, reason=error.sentence, where=location)
