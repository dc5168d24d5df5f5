"""Write files whole: a draft next to the file replaces it in one step. Say which file cannot be read, and lock those that are changed."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.core.errors import BadInput

PATIENCE_SECONDS = 10.0
NAME_CHARACTERS = 40  # of the file's own name in that of its draft, as names are at most 255 bytes long


@contextmanager
def draft_of(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield the path to write to, which replaces the file after the block; a pipe or device is written to directly.

    Args:
        durable: only for a locked file: after a crash of the machine, too, it is the old one or the new one.

    Raises:
        BadInput: the file cannot be written, or is an address.
    """
    if path.parts[:1] in (("http:",), ("https:",)):  # it would become a folder of that name
        raise BadInput("{path} is an address. Name a file.", path=path)
    with _written(path):
        if path.exists() and not path.is_file():  # such as /dev/stdout
            yield path
            return
        target = path.resolve()  # a link stays one, and what it names is replaced
        target.parent.mkdir(parents=True, exist_ok=True)
        # under a lock one name is enough, and what a killed process left is written over
        suffix = "new" if durable else f"{os.getpid()}-{threading.get_ident()}.part"
        draft = target.with_name(f".{target.name[:NAME_CHARACTERS]}.{suffix}")
        try:
            yield draft
            if durable:
                _sync(draft)
            with suppress(OSError):
                draft.chmod(target.stat().st_mode & 0o777)
            draft.replace(target)
            if durable and sys.platform != "win32":
                _sync(target.parent)
        finally:
            draft.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str, *, durable: bool = False) -> Path:
    """Write a file as a whole and return its path; a text is written as UTF-8, with `?` for lone surrogates.

    Raises:
        BadInput: the file cannot be written.
    """
    with draft_of(path, durable=durable) as draft:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    return path


@contextmanager
def reading(path: Path | str | None) -> Iterator[None]:
    """Read a file or a folder here, and say which one cannot be read.

    Raises:
        BadInput: it cannot be read, or is no text of its encoding.
    """
    try:
        yield
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise BadInput("{path} cannot be read: {error}.", path=path, error=reason) from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file while it is read and replaced; other processes and threads wait.

    Raises:
        BadInput: it cannot be written, or another process held it for ten seconds.
    """
    from filelock import lock_descriptor  # 10 ms

    with _written(path):
        handle = _handle(path)
        try:
            until = time.monotonic() + PATIENCE_SECONDS
            while not lock_descriptor(handle, blocking=False):
                if time.monotonic() > until:
                    raise BadInput("{path} is held by another process; nothing was written. Try again.", path=path)
                time.sleep(0.005)
            yield
        finally:
            os.close(handle)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from error


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _handle(path: Path) -> int:
    """Open what is locked: the folder, so that no file is left over; on Windows, which locks only files, one next to it."""
    if sys.platform == "win32":
        return os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    folder = path.resolve().parent
    if folder.exists() and not os.access(folder, os.W_OK):
        raise PermissionError(0, "the folder cannot be written")
    return os.open(folder, os.O_RDONLY)


def folder_name(model: str) -> str:
    """Return the name of the folder for the files of a model, as official programs name it; it leads out of no folder.

    >>> folder_name("meta-llama/Llama-3")
    'meta-llama_Llama-3'

    Raises:
        BadInput: no folder can be called that.
    """
    name = model.replace("/", "_")
    if not name.strip(". ") or any(sign in name for sign in "\\:\0"):
        raise BadInput("'{model}' cannot be the name of a folder.", model=model)
    return name
