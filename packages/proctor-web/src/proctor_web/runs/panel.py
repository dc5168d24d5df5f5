"""The head of a run's page: how far it is, what can be done with it, what people said about it."""

from contextlib import suppress

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.trial import INFRASTRUCTURE
from proctor_ci.request import again, shown, words_to_resume
from proctor_web.runs.actions import run_or_start
from proctor_web.runs.launcher import Launcher, command_of
from proctor_web.runs.listing import NOTHING_SAID, Notes, notes_of
from proctor_web.runs.numbers import numbers_soon
from proctor_web.runs.permitted import check, folder_to_resume, locate
from proctor_web.runs.progress import UNDER_WAY, RunProgress, Watches, ended, state_of
from proctor_web.workspace import Found, NotFound, Workspace

SOON_SECONDS = 0.1  # a page does not wait longer for counts


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a run's page: progress, available actions, and people's labels.

    Attributes:
        is_stored: its process has opened it, so that something can be said about it.
        failed: trials whose infrastructure failed, which can be run again.
        why_no_copy: why another run cannot be made with its options; None where one can be.
        stopping: it was asked to stop already.
        command: the command that its process was started with, or that resumes what is not resumed from here.
        own_note: what the reader wrote about it.
    """

    run: str
    id: str
    progress: RunProgress
    notes: Notes
    own_note: str
    is_stored: bool
    can_go_on: bool
    why_no_copy: Sentence | None
    failed: int
    stopping: bool
    command: str


def panel_of(workspace: Workspace, reference: str, by: str = "") -> Panel:
    """Return what the head of a run's page shows.

    Raises:
        NotFound: there is neither such a run nor a start of one.
    """
    launcher = workspace.kept(Launcher)
    try:
        stored = workspace.find_run(reference)
    except NotFound:
        store, run = run_or_start(workspace, reference)
        record = None
        now = workspace.kept(Watches).of(reference).look(quick=True)
    else:
        store, record, _ = stored
        run = record.id
        now = _progress(workspace, stored)
    start = launcher.last(store, run)
    notes = notes_of(store, run).get(run, NOTHING_SAID) if record is not None else NOTHING_SAID
    permitted, resumed = False, ""
    if record is not None and "continue_from" not in record.provenance:
        resumed = shown(words_to_resume(record.id, store.url, retry_failed=False, accept_changes=False))
        with suppress(BadInput):
            folder_to_resume(workspace, record.spec)
            permitted = True
    is_whole = now.done >= now.planned > 0
    failed = sum(count for outcome, count in now.outcomes.items() if outcome in INFRASTRUCTURE)
    return Panel(
        run=reference,
        id=run,
        progress=now,
        notes=notes,
        own_note=next((note.text for note in notes.notes if note.by == by), ""),
        is_stored=record is not None,
        can_go_on=permitted and not is_whole,
        why_no_copy=_why_no_copy(workspace, record),
        failed=failed if permitted else 0,
        stopping=launcher.is_stopping(store, run),
        command=command_of(start) if start is not None else resumed if not permitted else "",
    )


def _why_no_copy(workspace: Workspace, record: RunRecord | None) -> Sentence | None:
    if record is None:
        return say("The run has not begun.")
    try:
        check(workspace, locate(workspace, again(record)).spec())
    except BadInput as error:
        return error.sentence
    return None


def _progress(workspace: Workspace, found: Found) -> RunProgress:
    """Return how far a run is; of one that is over, the counts are taken where they are kept."""
    store, record, reference = found
    state = state_of(workspace, store, record)
    if state in UNDER_WAY:
        return workspace.kept(Watches).of(reference).recent()
    kept = numbers_soon(workspace, found, seconds=SOON_SECONDS)
    outcomes = kept.outcomes if kept is not None else {}
    launcher = workspace.kept(Launcher)
    start = launcher.last(store, record.id)
    return RunProgress(
        run=reference,
        state=state,
        planned=record.planned,
        done=ended(outcomes) if kept is not None else record.planned,
        outcomes=outcomes,
        seconds=record.seconds,
        said=tuple(launcher.log(store, record.id)) if start is not None else (),
        code=start.code if start is not None else None,
    )
