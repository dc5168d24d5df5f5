"""Write files under names that are free, or that say when."""

import json
import time
from pathlib import Path

from proctor.runtime.files import write_whole


def stamp() -> str:
    """Return the time as in names of files: 20250110_120000."""
    return time.strftime("%Y%m%d_%H%M%S")


def write_json(path: Path, value: object) -> Path:
    """Write JSON as people read it; a file that is there is kept, and the next free name is taken."""
    return write(path, _json(value))


def same_json(folder: Path, pattern: str, value: object) -> Path | None:
    """Return the file in a folder that already holds just this, whose verifications are next to it."""
    text = _json(value).encode()
    alike = (path for path in sorted(folder.glob(pattern)) if path.is_file() and path.stat().st_size == len(text))
    return next((path for path in alike if path.read_bytes() == text), None)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n"


def unused(path: Path) -> Path:
    """Return the path, or the next free name like it: `name-2.json`."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def write(path: Path, text: str, *, replace: bool = False) -> Path:
    """Write a text file as a whole; unless it may be replaced, the next free name is used. Lone surrogates become `?`.

    Raises:
        BadInput: it cannot be written.
    """
    return write_whole(path if replace else unused(path), text)
