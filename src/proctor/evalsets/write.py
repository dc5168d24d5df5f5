"""Write an eval-set file: the whole file or nothing, a copy of what was there when its shape changes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.evalsets.noun import as_json
from proctor.evalsets.read import Loaded, read
from proctor.evalsets.schema import EvalCase, EvalSet
from proctor.runtime.files import locked, write_whole


def as_text(noun: EvalSet | EvalCase) -> str:
    """Return a set or a case as its file has it: indented JSON in snake_case, without members that say nothing."""
    return _dump(as_json(noun))


def create(path: Path, eval_set: EvalSet) -> Path:
    """Write a new file.

    Raises:
        BadInput: there is one already, or it cannot be written.
    """
    with locked(path):
        if path.exists():
            raise BadInput("{path} is there already; nothing was written.", path=path)
        write_whole(path, as_text(eval_set).encode(), durable=True)
    return path


def change(path: Path, edit: Callable[[EvalSet], EvalSet]) -> Path | None:
    """Read a file, change the set, and write it; the copy of the old file, if its shape changed.

    Raises:
        BadInput: what `read` and `edit` raise; someone else changed the file meanwhile, and nothing was written.
    """
    loaded = read(path)
    return save(path, edit(loaded.eval_set), loaded)


def save(path: Path, eval_set: EvalSet, loaded: Loaded) -> Path | None:
    """Write a set over the file it was read from; the copy of the old file, if its shape changes.

    Raises:
        BadInput: someone else changed the file since it was read, or it cannot be written; nothing was.
    """
    path = path.expanduser().resolve()  # a link stays, and the file it names is replaced
    with locked(path):
        return _save(path, eval_set, loaded)


def append(path: Path, edit: Callable[[EvalSet], EvalSet], new: EvalSet) -> Path | None:
    """Change the set in a file, or in a new file that starts as `new`; return the copy of the old file if its layout changed.

    Several of us may do so at once: one waits for the other.

    Raises:
        BadInput: as `change`.
    """
    path = path.expanduser().resolve()
    with locked(path):
        if not path.exists():
            write_whole(path, as_text(edit(new)).encode(), durable=True)
            return None
        loaded = read(path)
        return _save(path, edit(loaded.eval_set), loaded)


def _save(path: Path, eval_set: EvalSet, loaded: Loaded) -> Path | None:
    data = as_text(eval_set).encode()
    try:
        now = digest_bytes(path.read_bytes())
    except OSError:
        now = ""
    if now != loaded.digest:
        raise BadInput(
            "{path} was changed by someone else since it was read; nothing was written. Try again.", path=path
        )
    copy = _keep_copy(path) if loaded.shape != "current" else None
    write_whole(path, data, durable=True)
    return copy


def _dump(value: object) -> str:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        text = json.dumps(value, indent=2)
    return text + "\n"


def _keep_copy(path: Path) -> Path:
    """Copy the file next to it, under the first name that is free: `shop.evalset.json.bak`, `.bak2`, …"""
    count = 1
    while (copy := path.with_name(f"{path.name}.bak{count if count > 1 else ''}")).exists():
        count += 1
    shutil.copy2(path, copy)
    return copy
