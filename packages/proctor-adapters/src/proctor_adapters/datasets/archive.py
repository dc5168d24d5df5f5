"""Unpack an archive that others made: nothing leaves the folder, nothing is a link, and what comes out is bounded."""

import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from proctor.core.errors import BadInput

_CHUNK = 1 << 20


def unpack(
    path: Path,
    folder: Path,
    *,
    most_files: int,
    most_bytes: int,
    wanted: Callable[[str], bool] | None = None,
    flat: bool = False,
) -> int:
    """Unpack the selected files of a zip into a folder, without their own folders if `flat`; return their number.

    Raises:
        BadInput: they are too much, or one would leave the folder.
        zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError: it cannot be read.
    """
    with zipfile.ZipFile(path) as archive:
        entries = [
            entry for entry in archive.infolist() if not entry.is_dir() and (wanted is None or wanted(entry.filename))
        ]
        if len(entries) > most_files or sum(entry.file_size for entry in entries) > most_bytes:
            raise BadInput("{path} unpacks to more than we accept.", path=path)
        for entry in entries:
            name = PurePosixPath(entry.filename)
            unsafe = name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in entry.filename
            if unsafe or stat.S_ISLNK(entry.external_attr >> 16):
                raise BadInput(
                    "{path} holds a file that would leave its folder: {name}.", path=path, name=ascii(entry.filename)
                )
            target = folder / (name.name if flat else name)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, _CHUNK)
    return len(entries)
