"""A run is open for writing once: a lock file beside the store, which the system lets go when the process dies."""

import os
import sys
import weakref
from pathlib import Path

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput

_held: "weakref.WeakSet[RunLock]" = weakref.WeakSet()


class RunLock:
    """The lock on a run, held until `release`. The file names the process that holds it."""

    def __init__(self, store: Path, run_id: str) -> None:
        """Take the lock.

        Raises:
            BadInput: it is held, here or in another process, or the folder cannot be written.
        """
        digits = digest_bytes(run_id.encode(errors="replace"))[:12]
        self._path = store.with_name(f"{store.name}.{digits}.lock")
        try:
            self._file = self._taken(run_id)
        except OSError as error:
            raise BadInput(
                "The run '{run}' cannot be locked: {path}: {error}. Check that the folder of the store can be written.",
                run=run_id,
                path=self._path,
                error=error.strerror or error,
            ) from None
        _held.add(self)

    def release(self) -> None:
        """Let go; the file goes with it."""
        if self._file < 0:
            return
        if sys.platform != "win32":  # Windows does not remove open files
            self._path.unlink(missing_ok=True)
        self.drop()

    def drop(self) -> None:
        """Close the file in this process only, as a forked child must: it holds nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _taken(self, run_id: str) -> int:
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _lock(file):
                holder = os.read(file, 20).decode("ascii", "replace").strip()
                os.close(file)
                raise BadInput(
                    "The run '{run}' is open in process {pid}. Wait for it or end it; another run id can run beside it.",
                    run=run_id,
                    pid=holder or "?",
                )
            if _is_at(file, self._path):
                break
            os.close(file)  # its last holder removed it between our opening and locking
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        return file


if sys.platform == "win32":
    import msvcrt

    _BEHIND_THE_TEXT = 1 << 20  # a locked byte cannot be read by others

    def _lock(file: int) -> bool:
        os.lseek(file, _BEHIND_THE_TEXT, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
        return True

    def _is_at(file: int, path: Path) -> bool:  # noqa: ARG001 - an open file cannot be removed there
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _is_at(file: int, path: Path) -> bool:
        try:
            return os.path.samestat(os.fstat(file), path.stat())
        except FileNotFoundError:
            return False

    def _drop_all() -> None:
        for lock in list(_held):
            lock.drop()

    os.register_at_fork(after_in_child=_drop_all)  # else a child that outlives a killed run would keep it locked
