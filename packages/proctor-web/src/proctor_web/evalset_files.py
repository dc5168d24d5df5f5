"""Eval-set files of one folder: list and open them, and change their cases without overwriting others.

For other pages, which name a file by its path inside the folder (`shop/prices.evalset.json`):

    list_sets(folder)                                  what is there, also files that cannot be read, and why
    new_set(folder, file, set_id=..., name=...)        an empty set
    open_set(folder, file)                             an `OpenedEvalset`: the set, and the digest to send back
    save_case(folder, file, case)                      one more case; a free id is chosen, a missing file is made
    save_case(folder, file, case, case_id="a", expected_digest=digest)   in place of the case "a"
    folder_of(workspace)                               the folder of a workspace; `NotFound` where it has none

A digest is that of the whole file or that of the case. Whoever changes something sends the one that was seen: if neither is
the present one, someone else was quicker, and `Conflict` carries what they wrote. A program that only adds needs none.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest, digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.runtime.file_names import can_be_a_file
from proctor.runtime.files import locked, reading, write_whole
from proctor_adapters.evalsets import cases, read, write
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import Loaded, file_bytes, parse
from proctor_adapters.evalsets.recording import free_id
from proctor_adapters.evalsets.schema import EvalCase, EvalSet
from proctor_adapters.evalsets.task import SUFFIXES
from proctor_web.workspace import NotFound, Workspace

MOST_FILES = 2_000
MOST_FOLDERS = 5_000
MOST_ID_CHARACTERS = 200
TRIES = 5
SETS_KEPT = 8  # that were read, until they change
STEPS_KEPT = 50  # that can be undone, of all files
BYTES_KEPT = 32_000_000
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class Conflict(BadInput):
    """Someone else changed the file meanwhile, and nothing was written.

    Attributes:
        theirs: the case as it is now, None when it is gone or when the whole set was meant.
        digest: that of the file as it is now.
    """

    theirs: EvalCase | None = None
    digest: str = ""


class SetReference(msgspec.Struct, frozen=True, kw_only=True):
    """An eval-set file as addresses name it: by its path inside the folder."""

    file: str


class SetFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the folder; `problem` is why it cannot be read, and then nothing else is known of it."""

    file: str
    changed: float = 0.0
    digest: str = ""
    set_id: str = ""
    name: str = ""
    description: str = ""
    cases: int = 0
    turns: int = 0
    problem: Sentence | None = None


class OpenedEvalset(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read."""

    file: str
    path: Path
    loaded: Loaded
    data: bytes = b""

    @property
    def digest(self) -> str:
        return self.loaded.digest

    @property
    def eval_set(self) -> EvalSet:
        return self.loaded.eval_set


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: the case, the digests of the file and of the case, and the copy of a file in an older shape."""

    file: str
    case: str = ""
    digest: str
    case_digest: str = ""
    copy: str = ""


class EvalsetEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A change that can be taken back while the file is what it made of it."""

    number: int
    file: str
    what: Sentence
    by: str
    at: float
    before: bytes
    after: str


class History:
    """The last changes made here, of all files; `workspace.kept(History)`."""

    def __init__(self, _: Workspace | None = None) -> None:
        self._steps: list[EvalsetEdit] = []
        self._count = 0

    def add(self, path: Path, what: Sentence, by: str, before: bytes, after: str) -> None:
        """Record a change; the oldest changes are dropped."""
        self._count += 1
        step = EvalsetEdit(
            number=self._count, file=str(path), what=what, by=by, at=time.time(), before=before, after=after
        )
        self._steps = [*self._steps, step][-STEPS_KEPT:]
        while sum(len(edit.before) for edit in self._steps) > BYTES_KEPT:
            self._steps = self._steps[1:]

    def last(self, opened: OpenedEvalset) -> EvalsetEdit | None:
        """Return the change that made the file what it is; None if something else did."""
        of_file = (step for step in reversed(self._steps) if step.file == str(opened.path))
        return next((step for step in of_file if step.after == opened.digest), None)

    def remove(self, step: EvalsetEdit) -> None:
        """Forget a change that was taken back."""
        self._steps = [edit for edit in self._steps if edit.number != step.number]


Edit = Callable[[EvalSet], EvalSet]


def folder_of(workspace: Workspace) -> Path:
    """Return where eval sets are: in their own folder, else next to the agents, as `adk web` has them.

    Raises:
        NotFound: neither was named.
    """
    folder = workspace.evalsets or workspace.agents
    if folder is None:
        raise NotFound("No folder of eval sets was named. Start with: proctor web --evalsets DIR")
    return folder


def inside(folder: Path, file: str) -> Path:
    """Return the path of a file that others name, which may not exist.

    Raises:
        BadInput: it is not in the folder, is hidden, or is called otherwise than an eval set.
    """
    parts = PurePosixPath(file).parts
    plain = bool(parts) and "/".join(parts) == file and not any(sign in file for sign in "\\:\0\r\n")
    if not plain or any(part.startswith(".") for part in parts) or not can_be_a_file(file):
        raise BadInput("'{file}' is no file of the folder of eval sets.", file=file)
    if not file.endswith(SUFFIXES) or parts[-1] in SUFFIXES:
        raise BadInput("'{file}' is not the name of an eval set: it ends in .evalset.json or .test.json.", file=file)
    root = folder.resolve()
    path = (root / file).resolve()
    if not path.is_relative_to(root):
        raise BadInput("'{file}' is no file of the folder of eval sets.", file=file)
    return path


def list_sets(folder: Path) -> list[SetFile]:
    """Return the eval-set files in a folder and below it, by name; hidden folders and what links lead out to are left out."""
    root = folder.resolve()
    files = []
    for path in _files(root):
        file = path.relative_to(root).as_posix()
        try:
            if inside(root, file):
                about = path.stat()
                files.append(_summary(path, file, about.st_mtime_ns, about.st_size, about.st_ino))
        except (BadInput, OSError):
            continue  # a link that leads out, or a file that is gone again
    return files


def open_set(folder: Path, file: str) -> OpenedEvalset:
    """Read a file; one that was not changed since it was read last is not read again.

    Raises:
        NotFound: there is none.
        BadInput: it is not in the folder, or cannot be read; says where in it.
    """
    path, about = _stat(folder, file)
    loaded = _loaded(path, file, about.st_mtime_ns, about.st_size, about.st_ino)
    return OpenedEvalset(file=file, path=path, loaded=loaded)


def open_to_change(folder: Path, file: str) -> OpenedEvalset:
    """Read a file as it is at this moment, with its bytes.

    Raises:
        NotFound, BadInput: as `open_set`.
    """
    path, _ = _stat(folder, file)
    data = file_bytes(path)
    return OpenedEvalset(file=file, path=path, data=data, loaded=_parse(data, file))


def new_set(folder: Path, file: str, *, set_id: str = "", name: str = "", description: str = "") -> OpenedEvalset:
    """Write a set without cases; folders of its path are made.

    Raises:
        BadInput: there is a file already, its name is none, or it cannot be written.
    """
    path = inside(folder, file)
    chosen = set_id or read.set_id(path)
    eval_set = EvalSet(
        eval_set_id=chosen,
        name=name or chosen,
        description=description or None,
        eval_cases=[],
        creation_timestamp=time.time(),
    )
    if path.exists():
        raise BadInput("There is an eval set {file} already; nothing was written.", file=file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=file, error=error.strerror or error) from None
    write.create(path, eval_set)
    return open_set(folder, file)


def find_case(opened: OpenedEvalset, case_id: str) -> EvalCase:
    """Return a case.

    Raises:
        NotFound: there is none of this id.
    """
    try:
        return cases.find(opened.eval_set, case_id)
    except BadInput as error:
        raise NotFound(error.sentence) from None


def case_digest(case: EvalCase) -> str:
    """Return the digest of a case, which is another as soon as anything in it is."""
    return digest(as_json(case))


def save_case(
    folder: Path,
    file: str,
    case: EvalCase,
    *,
    case_id: str | None = None,
    expected_digest: str | None = None,
    history: History | None = None,
    by: str = "",
) -> Saved:
    """Add a case, or write it in place of another.

    Args:
        case_id: the case that it takes the place of; None adds one, under an id that is free, to a file that is made if it
            is missing.
        expected_digest: that of the file or of the case as it was when the change began; it is needed to replace.

    Raises:
        Conflict: the case was changed meanwhile.
        BadInput: the id is taken or none, the file cannot be read or written.
    """
    if case_id is None and not inside(folder, file).exists():
        new_set(folder, file)

    wanted = addition(case) if case_id is None else replacement(case_id, case)
    return change(folder, file, wanted, expected_digest=expected_digest, history=history, by=by)


class EvalsetChange(NamedTuple):
    """A change to a set.

    Attributes:
        what: says to people what was done.
        needed: the cases that are changed; if it is one, its own digest will do.
        whole: the change is to the set itself, so that the digest of the file is needed.
    """

    edit: Edit
    what: Sentence
    needed: Sequence[str] = ()
    whole: bool = False


def addition(case: EvalCase) -> EvalsetChange:
    """Add a case, under an id that is free."""

    def edit(eval_set: EvalSet) -> EvalSet:
        added = replace(case, eval_id=free_id(checked_id(case.eval_id), _ids(eval_set)))
        return replace(eval_set, eval_cases=[*eval_set.eval_cases, added])

    return EvalsetChange(edit, say("{case} added", case=case.eval_id))


def replacement(case_id: str, case: EvalCase) -> EvalsetChange:
    """Write a case in place of another."""
    if case.eval_id != case_id:
        checked_id(case.eval_id)
    return EvalsetChange(
        lambda eval_set: cases.put(eval_set, case_id, case), say("{case} changed", case=case_id), [case_id]
    )


def deletion(case_id: str) -> EvalsetChange:
    """Take a case out of a set."""
    return EvalsetChange(
        lambda eval_set: cases.delete(eval_set, [case_id]), say("{case} deleted", case=case_id), [case_id]
    )


def move(case_id: str, to: int) -> EvalsetChange:
    """Give a case another position in its set, counted from 0."""

    def edit(eval_set: EvalSet) -> EvalSet:
        case = cases.find(eval_set, case_id)
        others = [other for other in eval_set.eval_cases if other is not case]
        position = min(max(to, 0), len(others))
        return replace(eval_set, eval_cases=[*others[:position], case, *others[position:]])

    return EvalsetChange(edit, say("{case} moved", case=case_id), whole=True)


def duplication(case_id: str) -> EvalsetChange:
    """Write a copy of a case after it, under an id that is free."""

    def edit(eval_set: EvalSet) -> EvalSet:
        case = cases.find(eval_set, case_id)
        after = eval_set.eval_cases.index(case) + 1
        copy = replace(case, eval_id=free_id(case_id, _ids(eval_set)))
        return replace(eval_set, eval_cases=[*eval_set.eval_cases[:after], copy, *eval_set.eval_cases[after:]])

    return EvalsetChange(edit, say("{case} duplicated", case=case_id), [case_id])


def change(
    folder: Path,
    file: str,
    wanted: EvalsetChange,
    *,
    expected_digest: str | None = None,
    history: History | None = None,
    by: str = "",
) -> Saved:
    """Change a set in its file; what was not changed stays as it is written.

    Raises:
        Conflict: it was changed meanwhile.
        BadInput: what the edit raises; the file cannot be read or written.
    """
    for attempt in range(TRIES):
        opened = open_to_change(folder, file)
        if wanted.needed or wanted.whole:
            _check(opened, wanted.needed, expected_digest)
        eval_set = wanted.edit(opened.eval_set)
        try:
            copy = write.save(opened.path, eval_set, opened.loaded)
        except write.ChangedMeanwhile:
            if attempt == TRIES - 1:
                raise
            continue
        after = digest_bytes(opened.path.read_bytes())
        if history is not None and after != opened.digest:
            history.add(opened.path, wanted.what, by, opened.data, after)
        new = [case for case in eval_set.eval_cases if case.eval_id not in _ids(opened.eval_set)]
        case = next(iter(new or [case for case in eval_set.eval_cases if case.eval_id in wanted.needed]), None)
        return Saved(
            file=file,
            case=case.eval_id if case is not None else "",
            digest=after,
            case_digest=case_digest(case) if case is not None else "",
            copy=copy.name if copy else "",
        )
    raise AssertionError("unreachable")


def _ids(eval_set: EvalSet) -> set[str]:
    return {case.eval_id for case in eval_set.eval_cases}


def undo(folder: Path, file: str, history: History, number: int) -> Sentence:
    """Take back a change, and return what it was; only the one that made the file what it is can be.

    Raises:
        Conflict: the file is not what that change made of it.
        BadInput: it cannot be written.
    """
    path, _ = _stat(folder, file)
    with locked(path):
        opened = open_to_change(folder, file)
        step = history.last(opened)
        if step is None or step.number != number:
            raise _conflict(opened, None)
        write_whole(opened.path, step.before, durable=True)
        history.remove(step)
    return step.what


def checked_id(case_id: str) -> str:
    """Return an id that a new case may have.

    Raises:
        BadInput: it is empty or long, or has a character that separates ids on a command line.
    """
    if not case_id.strip() or case_id != case_id.strip() or len(case_id) > MOST_ID_CHARACTERS:
        raise BadInput(
            "The id of a case has 1 to {most} characters, and no space at its ends.", most=MOST_ID_CHARACTERS
        )
    if "," in case_id or not case_id.isprintable():
        raise BadInput("The id of a case has no comma and no line break: commands name cases as FILE:ID,ID.")
    return case_id


def _check(opened: OpenedEvalset, needed: Sequence[str], expected: str | None) -> None:
    """Refuse a change of what is not what it was."""
    if expected == opened.digest:
        return
    present = {case.eval_id: case for case in opened.eval_set.eval_cases}
    theirs = present.get(needed[0]) if len(needed) == 1 else None
    if theirs is None or case_digest(theirs) != expected:
        raise _conflict(opened, theirs)


def _conflict(opened: OpenedEvalset, theirs: EvalCase | None) -> Conflict:
    conflict = Conflict("{file} was changed by someone else meanwhile; nothing was written.", file=opened.file)
    conflict.theirs = theirs
    conflict.digest = opened.digest
    return conflict


def _stat(folder: Path, file: str) -> tuple[Path, os.stat_result]:
    path = inside(folder, file)
    with reading(file):
        if path.is_file():
            return path, path.stat()
    raise NotFound("There is no eval set {file}.", file=file)


@lru_cache(maxsize=SETS_KEPT)
def _loaded(path: Path, file: str, changed: int, size: int, inode: int) -> Loaded:
    del changed, size, inode
    return _parse(file_bytes(path), file)


def _parse(data: bytes, file: str) -> Loaded:
    """Read a text; messages name the file by its path in the folder. Half of a character can neither ADK nor a browser read."""
    loaded = parse(data, Path(file))
    if _HALF.search(data) is not None:
        try:
            json.dumps(as_json(loaded.eval_set), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise BadInput(
                "{file} has half of a character (a lone surrogate), which ADK cannot read.", file=file
            ) from None
    return loaded


def plain(sentence: Sentence) -> Sentence:
    """Return a sentence whose values can be sent as JSON: paths become texts."""
    values = {
        name: plain(value) if isinstance(value, Sentence) else str(value) if isinstance(value, Path) else value
        for name, value in sentence.values.items()
    }
    return Sentence(sentence.text, values)


@lru_cache(maxsize=2 * MOST_FILES)
def _summary(path: Path, file: str, changed: int, size: int, inode: int) -> SetFile:
    """Return what a list tells of a file; it is read again when its time, size or number is another."""
    del size, inode
    try:
        loaded = _parse(file_bytes(path), file)
    except BadInput as error:
        return SetFile(file=file, changed=changed / 1e9, problem=plain(error.sentence))
    eval_set = loaded.eval_set
    return SetFile(
        file=file,
        changed=changed / 1e9,
        digest=loaded.digest,
        set_id=eval_set.eval_set_id,
        name=eval_set.name or "",
        description=eval_set.description or "",
        cases=len(eval_set.eval_cases),
        turns=sum(len(case.conversation or ()) for case in eval_set.eval_cases),
    )


def _files(root: Path) -> Iterator[Path]:
    """Yield the eval-set files in a folder and below, by name, up to a number that a page can show."""
    waiting, seen, count = [root], 0, 0
    while waiting and seen < MOST_FOLDERS:
        seen += 1
        try:
            entries = sorted(waiting.pop().iterdir(), key=lambda entry: entry.name, reverse=True)
        except OSError:
            continue
        for entry in reversed(entries):
            if entry.name.endswith(SUFFIXES) and entry.is_file() and not entry.name.startswith("."):
                count += 1
                if count > MOST_FILES:
                    return
                yield entry
        waiting += [
            path for path in entries if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
        ]
