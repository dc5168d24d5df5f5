"""Change a small file as a whole while nobody else does: a lock, and one file that replaces the other."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.core.errors import BadInput

PATIENCE_SECONDS = 10.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file while it is read and replaced; other processes and threads wait.

    Raises:
        BadInput: it cannot be written, or someone held it for ten seconds.
    """
    from filelock import lock_descriptor  # 10 ms

    try:
        handle = _handle(path)
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not lock_descriptor(handle, blocking=False):
            if time.monotonic() > until:
                raise BadInput("{path} is held by another process; nothing was written. Try again.", path=path)
            time.sleep(0.005)
        yield
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    finally:
        os.close(handle)


def replace(path: Path, data: bytes) -> None:
    """Put the data there, on disk and as a whole: after a crash the file is the old one or the new one."""
    path = path.resolve()  # behind a link the file itself is replaced
    draft = path.with_name(f".{path.name}.new")  # one name: what a killed process left is written over
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            with suppress(OSError):
                draft.chmod(path.stat().st_mode & 0o777)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if sys.platform != "win32":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _handle(path: Path) -> int:
    """Open what is locked: the folder, so that no file is left behind; on Windows, which locks only files, one next to it."""
    if sys.platform == "win32":
        return os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    folder = path.resolve().parent
    if folder.exists() and not os.access(folder, os.W_OK):
        raise PermissionError(0, "the folder cannot be written")
    return os.open(folder, os.O_RDONLY)
