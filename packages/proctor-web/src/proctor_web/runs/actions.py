"""Start, stop, resume and delete runs, and keep what people say about them."""

import time
from pathlib import Path, PurePath

import msgspec

from proctor.api.baselines import baselines
from proctor.api.names import check_run_id
from proctor.api.options import refuse_imported
from proctor.api.prepare import new_id
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.registry import unknown
from proctor_ci.baselines import remove_baseline, set_baseline
from proctor_ci.request import RunRequest, shown, words_of, words_to_resume
from proctor_web.operations import RunReference
from proctor_web.runs.launcher import Launcher, RunProcess, command_of
from proctor_web.runs.listing import NOTHING_SAID, Notes, notes_of
from proctor_web.runs.permitted import check, folder_to_resume, locate
from proctor_web.runs.progress import UNDER_WAY, RunProgress, digest_of, get_progress, state_of
from proctor_web.workspace import Found, NotFound, Workspace

MOST_TAG = 60  # characters
MOST_NOTE = 10_000


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started, and the command of the terminal that does the same."""

    run: str
    command: str


class Resume(RunReference, frozen=True, kw_only=True):
    """A run to resume; `retry_failed` runs its infrastructure failures again, `accept_changes` mixes old and new code."""

    retry_failed: bool = False
    accept_changes: bool = False


class Saying(RunReference, frozen=True, kw_only=True):
    """What a person adds to or takes from what is said about a run; `note` replaces that person's note, '' removes it."""

    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    note: str | None = None
    add_baseline: str = ""
    remove_baseline: str = ""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A name by which others are compared with a run."""

    name: str
    run: str


def start_run(workspace: Workspace, given: RunRequest, by: str = "", lang: str = "en") -> Started:
    """Start a run as a process of its own.

    Raises:
        BadInput: it is not permitted from here, or a run of that name is there.
    """
    given = locate(workspace, given)
    check(workspace, given.spec())
    name, store = _store(workspace, given.store)
    run = given.run or new_id(_short(given.task))
    check_run_id(run)
    if any(record.id == run for record in store.runs()):
        raise BadInput("There is a run '{run}' already. Go on with that one, or choose another name.", run=run)
    words = words_of(given, run=run, store=store.url)
    workspace.kept(Launcher).start(store, RunProcess(run=run, words=tuple(words), request=given, by=by), lang=lang)
    return Started(run=workspace.reference(name, run), command=shown(words))


def resume_run(workspace: Workspace, given: Resume, by: str = "", lang: str = "en") -> Started:
    """Go on with a run that was stopped or cut off, or whose infrastructure failed.

    Raises:
        BadInput: it is under way, or what it is made of is not permitted from here.
    """
    store, record, reference = workspace.find_run(given.run)
    refuse_imported(record)
    if "continue_from" in record.provenance:
        raise BadInput(
            "The run '{run}' was made from Python objects, so it is resumed from Python: evaluate(..., run_id='{run}').",
            run=record.id,
        )
    folder = folder_to_resume(workspace, record.spec)
    if state_of(workspace, store, record) not in UNDER_WAY:
        workspace.kept(Launcher).await_end(store, record.id)
    elsewhere = "" if folder == Path.cwd() else str(folder)
    url = _from_anywhere(store.url) if elsewhere else store.url
    words = words_to_resume(record.id, url, retry_failed=given.retry_failed, accept_changes=given.accept_changes)
    start = RunProcess(run=record.id, words=tuple(words), before=digest_of(record), by=by, folder=elsewhere)
    workspace.kept(Launcher).start(store, start, lang=lang)
    return Started(run=reference, command=command_of(start))


def _from_anywhere(url: str) -> str:
    """Return the address of a store for a process that is in another folder."""
    scheme, separator, path = url.partition("://")
    if separator and scheme != "sqlite":
        return url
    return f"{scheme}{separator}{Path(path).absolute()}" if separator else str(Path(url).expanduser().absolute())


def stop_run(workspace: Workspace, given: RunReference) -> RunProgress:
    """Stop a run; what is in flight may finish, and a second time it stops at once. What is finished is kept."""
    store, run = run_or_start(workspace, given.run)
    workspace.kept(Launcher).stop(store, run)
    return get_progress(workspace, given)


def delete_run(workspace: Workspace, given: RunReference) -> None:
    """Delete a run with all its trials, and what was said about it.

    Raises:
        BadInput: it is under way.
    """
    store, run = run_or_start(workspace, given.run)
    launcher = workspace.kept(Launcher)
    if get_progress(workspace, given).state not in UNDER_WAY:
        launcher.await_end(store, run)
    if launcher.is_alive(store, run):
        raise BadInput("The run '{run}' is under way. Stop it first.", run=run)
    if any(record.id == run for record in store.runs()):
        store.delete(run)
    launcher.forget(store, run)


def say_about_run(workspace: Workspace, given: Saying, by: str = "") -> Notes:
    """Change the tags, the note and the baselines of a run; return what is said about it then."""
    store, record, _ = workspace.find_run(given.run)
    for tag in given.add_tags:
        if not tag.isprintable() or tag != tag.strip() or not 0 < len(tag) <= MOST_TAG:
            raise BadInput("'{tag}' cannot be a tag: give 1 to {most} characters.", tag=tag, most=MOST_TAG)
    if given.note is not None and len(given.note) > MOST_NOTE:
        raise BadInput("A note has at most {most} characters, this one has {count}.", most=MOST_NOTE, count=len(given.note))  # fmt: skip
    before = [annotation for annotation in store.annotations(record.id) if not annotation.sample_id]
    removed = [annotation for annotation in before if annotation.kind == "tag" and annotation.name in given.remove_tags]
    added = [_annotation(record.id, by, kind="tag", name=tag) for tag in given.add_tags]
    if given.note is not None:
        if given.note.strip():
            added.append(_annotation(record.id, by, kind="note", value=given.note))
        else:
            removed += [annotation for annotation in before if annotation.kind == "note" and annotation.by == by]
    if added or removed:
        store.annotate(added, removed)
    if given.add_baseline:
        set_baseline(store, given.add_baseline, record.id, by=by)
    if given.remove_baseline and baselines(store).get(given.remove_baseline) == record.id:
        remove_baseline(store, given.remove_baseline)
    return notes_of(store, record.id).get(record.id, NOTHING_SAID)


def list_baselines(workspace: Workspace) -> list[Baseline]:
    """Return the named baselines of all stores."""
    return [
        Baseline(name=name, run=workspace.reference(store, run))
        for store, one in workspace.stores.items()
        for name, run in baselines(one).items()
    ]


def _annotation(run_id: str, by: str, **given: object) -> Annotation:
    return msgspec.convert({"run_id": run_id, "by": by, "created": time.time(), **given}, Annotation)


def _short(task: str) -> str:
    """Return what names a task of a file: its function, or the file without the way to it.

    >>> _short("agents/mine.py:capitals"), _short("sets/shop.evalset.json"), _short("bfcl/simple_python")
    ('capitals', 'shop', 'bfcl/simple_python')
    """
    path, _, name = task.partition(".py:")
    return name or (PurePath(path).name.partition(".")[0] if "." in task else task)


def _store(workspace: Workspace, name: str) -> tuple[str, Store]:
    """Return the store of this name; without a name, the first."""
    name = name or next(iter(workspace.stores))
    if name not in workspace.stores:
        raise NotFound(unknown("store", name, [*workspace.stores], paths=False).sentence)
    return name, workspace.stores[name]


def run_or_start(workspace: Workspace, reference: str) -> tuple[Store, str]:
    """Return the store and id of a run, also of one that its process has not opened yet.

    Raises:
        NotFound: there is neither.
    """
    run, separator, name = reference.partition("@")
    for store_name, store in workspace.stores.items():
        is_named = name == store_name if separator else True
        if is_named and workspace.kept(Launcher).last(store, run) is not None:
            return store, run
    found: Found = workspace.find_run(reference)
    return found.store, found.record.id
