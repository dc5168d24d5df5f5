"""Write an eval-set file: the whole file or nothing, a copy of what was there when its shape changes."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.evalsets.read import Loaded, read
from proctor.evalsets.schema import EvalCase, EvalSet, builtins


def as_text(noun: EvalSet | EvalCase) -> str:
    """A set or a case as its file has it: indented JSON in snake_case, without members that say nothing."""
    return _dumped(builtins(noun))


def create(path: Path, eval_set: EvalSet) -> Path:
    """Write a new file.

    Raises:
        BadInput: there is one already, or it cannot be written.
    """
    with _locked(path.parent, path):
        if path.exists():
            raise BadInput("{path} is there already; nothing was written.", path=path)
        _replace(path, as_text(eval_set).encode())
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
    path = path.expanduser().resolve()  # behind a link the file itself is replaced
    data = as_text(eval_set).encode()
    with _locked(path.parent, path):
        try:
            now = digest_bytes(path.read_bytes())
        except OSError:
            now = ""
        if now != loaded.digest:
            raise BadInput(
                "{path} was changed by someone else since it was read; nothing was written. Try again.", path=path
            )
        copy = _copied(path) if loaded.shape != "current" else None
        _replace(path, data)
    return copy


def _dumped(value: object) -> str:
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only escape
        text = json.dumps(value, indent=2)
    return text + "\n"


def _copied(path: Path) -> Path:
    """A copy beside the file, under the first name that is free: `shop.evalset.json.bak`, `.bak2`, …"""
    count = 1
    while (copy := path.with_name(f"{path.name}.bak{count if count > 1 else ''}")).exists():
        count += 1
    shutil.copy2(path, copy)
    return copy


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path, path: Path) -> Iterator[None]:
    """Hold the folder while a file in it is checked and replaced, so that two of us never write over each other."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    try:
        _lock(handle)
        yield
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such lock; the check of the digest stands alone there
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
