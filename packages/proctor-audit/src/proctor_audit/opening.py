"""Open a task for an audit: its samples, its scorers, the rows that cannot be read, and where each sample is written."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.api import resolve
from proctor.api.task_kinds import kind_of
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice
from proctor.core.own_code import is_ours
from proctor.core.run import Selection
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.datasets.files import refusing
from proctor.datasets.formats import FileReading
from proctor.datasets.rows import DataRow, rows
from proctor.engine.scoring import BoundScorer
from proctor.engine.selection import choose
from proctor_audit.attachments import name_by_content
from proctor_audit.audit import SPLIT, Audit, Unreadable
from proctor_audit.findings import FindingLocation, NotChecked
from proctor_audit.request import TaskRequest
from proctor_audit.scoring import LocalScorer

NEVER_ASKED = JudgeChoice(model="ollama:never-asked")


class OpenedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task with its samples and the scorers that ask no model.

    Attributes:
        judges: the names of the scorers that ask one.
        main: the name of the scorer whose number is the main one; it may be one of those.
        refused: the errors of rows that could not be read.
        has_user_scorer: True if a scorer is code of the user.
        has_user_code: True if a scorer is, or what says how samples are done right; an environment alone is not confined.
    """

    task: Task
    samples: Sequence[Sample]
    scorers: Sequence[BoundScorer]
    judges: Sequence[str]
    main: str
    refused: Sequence[BadInput]
    has_user_scorer: bool
    has_user_code: bool


def open_task(request: TaskRequest) -> OpenedTask:
    """Read a task; rows that cannot be read are kept aside.

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
    bound = _scorers_of(task, request)
    has_user_scorer = not all(_is_own(scorer.function) for scorer in bound if not resolve.judges_of([scorer]))
    judges = sorted({name for scorer in bound for name in resolve.judges_of([scorer])})
    return OpenedTask(
        task=task,
        samples=samples,
        scorers=[scorer for scorer in bound if scorer.name not in judges],
        judges=judges,
        main=bound[0].name if bound else "",
        refused=[*refused.values()],
        has_user_scorer=has_user_scorer,
        has_user_code=has_user_scorer or not (_is_own(task.oracle) and _is_own(task.oracle_agent)),
    )


def _scorers_of(task: Task, request: TaskRequest) -> list[BoundScorer]:
    """Return the scorers; those that need a judge get one that is never asked, as they are set aside."""
    given = request.scorers or task.scorers
    try:
        return resolve.scorers_of(task, given)
    except BadInput:
        return resolve.scorers_of(task, given, NEVER_ASKED)


def _is_own(part: object) -> bool:
    """True if a part of a task is code of Proctor, or is not there."""
    function = part.func if isinstance(part, partial) else part
    module = getattr(function, "__module__", None) or type(function).__module__
    return part is None or is_ours(str(module))


def open_audit(request: TaskRequest, *, seconds: float = 5.0, against: str = "") -> Audit:
    """Open a task for its checks; scorers and oracles of users run in a confined worker, with the environment of their task.

    Args:
        seconds: for one call of such a scorer.
        against: other data, whose samples are compared with those of the task; it is read with the same options.

    Raises:
        BadInput: there is no such task, or nothing of it can be read.
    """
    from proctor_audit.isolated import IsolatedScorer

    opened = open_task(request)
    task, samples = opened.task, opened.samples
    known = {sample.id: sample for sample in samples}
    where = _locations(request, task)
    others: Sequence[Sample] = ()
    of_others: Mapping[str, FindingLocation] = {}
    if against:
        others, of_others = _read_others(replace(request, task=against, selection=Selection()), opened)
    audit = Audit(
        name=task.name,
        task=task,
        samples=samples,
        scorers=opened.scorers,
        scoring=IsolatedScorer(request, seconds=seconds)
        if opened.has_user_code
        else LocalScorer(task, opened.scorers, known),
        request=request if opened.has_user_scorer else None,
        seconds=seconds,
        seed=request.seed,
        command=request.command,
        where={**where, **of_others},
        unreadable=[_unreadable(error, where) for error in opened.refused],
    )
    audit.main, audit.others = opened.main, others
    for name in opened.judges:
        reason = say("the scorer {scorer} asks a model, so what answers earn from it is not known here", scorer=name)
        audit.not_checked.append(NotChecked(check="gold-fails", cls="proved", reason=reason))
    return audit


def _read_others(request: TaskRequest, own: OpenedTask) -> tuple[Sequence[Sample], Mapping[str, FindingLocation]]:
    """Return the samples of other data, with its name in their ids and as their split, and where they are written."""
    opened = open_task(request)
    name = Path(request.task).name
    others = [
        replace(sample, id=f"{name}:{sample.id}", tags={**sample.tags, SPLIT: request.task})
        for sample in name_by_content(opened.samples, opened.task, own.samples, own.task)
    ]
    return others, {f"{name}:{id}": where for id, where in _locations(request, opened.task).items()}


def _locations(request: TaskRequest, task: Task) -> Mapping[str, FindingLocation]:
    """Return where each sample of a data file is written, by its id."""
    locations: dict[str, FindingLocation] = {}
    for id, row in rows_by_id(request, task):
        locations.setdefault(id, location_of(row.where))
    return locations


def rows_by_id(request: TaskRequest, task: Task) -> Iterator[tuple[str, DataRow]]:
    """Yield the rows of a data file with the ids of their samples; none of another task."""
    if kind_of(request.task) != "data" or not Path(request.task).exists():
        return
    given = {
        name: request.options[name] for name in ("encoding", "header", "sheet", "split") if name in request.options
    }
    reading = msgspec.convert({**given}, FileReading, strict=False)
    columns = task.provenance.get("columns", {})
    with_id = columns.get("id") if isinstance(columns, Mapping) else None
    for row in rows(Path(request.task).expanduser(), replace(reading, refuse=lambda _: None)):
        yield f"row-{row.number}" if with_id is None else str(row.cell(with_id)).strip(), row


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
    id = next((id for id, each in known.items() if each == location and line), f"row{line}")
    return Unreadable(id=id, reason=error.sentence, where=location)
