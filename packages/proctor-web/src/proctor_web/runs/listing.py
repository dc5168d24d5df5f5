"""List runs: filter them, and add the numbers that a reader looks for first."""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec
from msgspec.structs import replace

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor_ci.changes import Change, changes_between
from proctor_web.runs.launcher import Launcher
from proctor_web.runs.numbers import RunNumbers, numbers_soon
from proctor_web.runs.ordering import EarlierRuns, RunFilter, begin_after, cursor_of, in_order
from proctor_web.runs.progress import UNDER_WAY, LiveState, Watches, state_of
from proctor_web.workspace import Found, Workspace

MOST = 200
ENDED = (None, 0, 1, 3, 130)  # of a process whose run was there, and was deleted since
PATIENCE = 0.15  # seconds in which the numbers of a page are computed; those that are missing then are asked for again


class RunNote(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wrote about a run."""

    text: str
    by: str = ""
    created: float = 0.0


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as the list shows it; `numbers` is None while they are being computed, `rate` and `seconds_left` are of one under way.

    Attributes:
        changed: what differs from the run of the same task and agent before it.
        history: the values of the runs of the same task and agent up to this one; None where there is none yet.
    """

    run: str
    id: str
    task: str
    agent: str
    state: LiveState
    created: float
    seconds: float
    planned: int
    tags: tuple[str, ...] = ()
    notes: tuple[RunNote, ...] = ()
    baselines: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()
    history: tuple[float | None, ...] = ()
    numbers: RunNumbers | None = None
    rate: float | None = None
    seconds_left: float | None = None


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of runs; before them, where nothing is filtered, those that have not begun or never did.

    Attributes:
        next: what `after` has to be for the following page; '' on the last one.
        total: how many runs the filter leaves.
        tasks, agents, tags: what there is to filter by.
        broken: the stores that cannot be read, and why.
    """

    rows: tuple[RunRow, ...]
    next: str
    total: int
    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    tags: tuple[str, ...]
    broken: Mapping[str, Sentence]


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """What people said about a run as a whole."""

    tags: tuple[str, ...] = ()
    notes: tuple[RunNote, ...] = ()
    baselines: tuple[str, ...] = ()


NOTHING_SAID = Notes()


def list_runs(workspace: Workspace, given: RunFilter) -> RunPage:
    """Return the runs of all stores that a filter leaves, in its order.

    Raises:
        BadInput: a day that is none, or a run to go on after that is not in the list.
    """
    found, broken = workspace.runs()
    readable = [store for name, store in workspace.stores.items() if name not in broken]
    notes = {(one.url, run): said for one in readable for run, said in notes_of(one).items()}

    def said(one: Found) -> Notes:
        return notes.get((one.store.url, one.record.id), NOTHING_SAID)

    chosen = [run for run in found if _matches(run, said(run), given)]
    if given.state:
        chosen = [run for run in chosen if state_of(workspace, run.store, run.record) == given.state]
    ranked = in_order(workspace, chosen, given)
    begin = begin_after(ranked, given)
    page = ranked[begin : begin + min(max(given.size, 1), MOST)]
    by = time.monotonic() + PATIENCE
    before = EarlierRuns(workspace, found)
    is_whole = given == RunFilter(size=given.size)
    rows = [_row(workspace, run, said(run), by, before) for run in page]
    return RunPage(
        rows=(
            *(_unopened(workspace, found) if is_whole else ()),
            *(replace(row, history=before.history(run)) for run, row in zip(page, rows, strict=True)),
        ),
        next=cursor_of(page[-1]) if begin + len(page) < len(chosen) else "",
        total=len(chosen),
        tasks=_sorted(run.record.spec.task for run in found),
        agents=_sorted(run.record.agent for run in found),
        tags=_sorted(tag for noted in notes.values() for tag in noted.tags),
        broken=broken,
    )


def notes_of(store: Store, run_id: str | None = None) -> Mapping[str, Notes]:
    """Return what people said about runs, by run."""
    said: dict[str, list[Annotation]] = {}
    for annotation in store.annotations(run_id):
        if not annotation.sample_id:
            said.setdefault(annotation.run_id, []).append(annotation)
    return {run: _notes(all_of_run) for run, all_of_run in said.items()}


def _notes(said: Iterable[Annotation]) -> Notes:
    said = [*said]
    return Notes(
        tags=_sorted(annotation.name for annotation in said if annotation.kind == "tag"),
        notes=tuple(
            RunNote(text=str(annotation.value), by=annotation.by, created=annotation.created)
            for annotation in said
            if annotation.kind == "note"
        ),
        baselines=_sorted(annotation.name for annotation in said if annotation.kind == "baseline"),
    )


def _unopened(workspace: Workspace, found: Sequence[Found]) -> list[RunRow]:
    """Return the runs that were started from here and that their process has not opened, or never did."""
    launcher, known = (workspace.kept(Launcher), {(run.store.url, run.record.id) for run in found})
    return [
        RunRow(
            run=workspace.reference(name, start.run),
            id=start.run,
            task=start.request.task,
            agent=start.request.agent,
            state="starting" if launcher.is_alive(store, start.run) else "not_started",
            created=start.started,
            seconds=0.0,
            planned=0,
        )
        for name, store in workspace.stores.items()
        for start in launcher.starts(store)
        if start.request is not None and (store.url, start.run) not in known
        if launcher.is_alive(store, start.run)
        or start.code not in ENDED
        or not start.pid  # the server was killed first
    ]


def _row(workspace: Workspace, found: Found, said: Notes, by: float, before: EarlierRuns) -> RunRow:
    store, record, reference = found
    *earlier, _ = before.until(found)
    state = state_of(workspace, store, record)
    row = RunRow(
        run=reference,
        id=record.id,
        task=record.spec.task,
        agent=record.agent,
        state=state,
        created=record.created,
        seconds=record.seconds,
        planned=record.planned,
        tags=said.tags,
        notes=said.notes,
        baselines=said.baselines,
        changed=changes_between(earlier[-1].record, record) if earlier else (),
    )
    if state in UNDER_WAY:
        now = workspace.kept(Watches).of(reference).recent()
        numbers_now = RunNumbers(headline=now.headline, outcomes=now.outcomes, usage=now.usage)
        return replace(row, seconds=now.seconds, numbers=numbers_now, rate=now.rate, seconds_left=now.seconds_left)
    known = numbers_soon(workspace, found, seconds=max(0.0, by - time.monotonic()))
    return replace(row, numbers=known)


def _matches(found: Found, said: Notes, given: RunFilter) -> bool:
    record = found.record
    if given.task not in ("", record.spec.task) or given.agent not in ("", record.agent):
        return False
    if given.tag and given.tag not in said.tags:
        return False
    if not _day(given.since, 0.0) <= record.created < _day(given.until, float("inf"), after=1):
        return False
    written = (*said.tags, *said.baselines, *(note.text for note in said.notes))
    text = " ".join([record.id, record.spec.task, record.agent, *written]).casefold()
    return all(word in text for word in given.text.casefold().split())


def _day(text: str, otherwise: float, *, after: int = 0) -> float:
    """Return when a day of the server's time zone begins."""
    if not text:
        return otherwise
    try:
        return datetime.combine(date.fromisoformat(text) + timedelta(days=after), datetime.min.time()).timestamp()
    except (ValueError, OverflowError):
        raise BadInput("'{text}' is no day; write 2026-01-31.", text=text) from None


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))
