"""A file that several of us write, as it is now."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Watched(Generic[T]):
    """What a file holds, read again when somebody replaced it; `missing` while there is none."""

    def __init__(self, path: Path, read: Callable[[Path], T], missing: T) -> None:
        self.path = path
        self._read = read
        self._missing = missing
        self._seen: tuple[object, T] = (None, missing)

    def now(self) -> T:
        """What it holds now."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return self._missing
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._seen[0] != stamp:
            self._seen = (stamp, self._read(self.path))
        return self._seen[1]
