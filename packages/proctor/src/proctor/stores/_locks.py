"""Lock a run, so that only one process writes it: a lock file next to the store, which the system releases with the process.

A forked child holds no lock: filelock closes the file there, else a child that outlives a killed run would keep it locked.
"""

import os
import sys
from pathlib import Path

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.runtime.alive import is_alive


class RunLock:
    """The lock on a run, held until `release`. The file names the process that holds it."""

    def __init__(self, store: Path, run_id: str) -> None:
        """Take the lock.

        Raises:
            BadInput: it is held, here or in another process, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout  # 10 ms that a command which only reads does not need

        self._path = _file(store, run_id)
        self._lock = FileLock(
            self._path, timeout=0, mode=0o600, thread_local=False, fallback_to_soft=False, on_acquired=_name_holder
        )
        try:
            self._lock.acquire()
        except Timeout:
            raise BadInput(
                "The run '{run}' is open in process {pid}. Wait for it or end it; a run with another id can run at the same time.",
                run=run_id,
                pid=_holder(self._path),
            ) from None
        except OSError as error:
            raise BadInput(
                "The run '{run}' cannot be locked: {path}: {error}. Check that the folder of the store can be written.",
                run=run_id,
                path=self._path,
                error=error.strerror or error,
            ) from None

    def release(self) -> None:
        """Release the lock and remove its file."""
        if self._lock.is_locked:
            if sys.platform != "win32":  # Windows does not remove open files; filelock removes it after closing
                self._path.unlink(missing_ok=True)
            self._lock.release()


def writer_of(store: Path, run_id: str) -> int | None:
    """Return the id of the process that has locked a run: 0 for a process of another user, None if the run is not locked.

    The lock is not taken to find that out.
    """
    path = _file(store, run_id)
    pid = 0
    try:
        if not os.access(path, os.R_OK):
            return 0 if path.exists() else None
        pid = int(_holder(path))
        if not is_alive(pid):
            return None
        with path.open("rb", buffering=0) as file:
            return pid if _is_locked(file.fileno()) else None
    except PermissionError:  # of another user; on Windows, a file that is locked
        return pid
    except (OSError, ValueError):  # it is not there, or what a killed process left
        return None


def _is_locked(file: int) -> bool:
    """True if another process has the lock: its number may be that of a new process by now."""
    if sys.platform == "win32":
        os.read(file, 1)  # raises where the first byte is locked
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _file(store: Path, run_id: str) -> Path:
    digits = digest_bytes(run_id.encode(errors="replace"))[:12]
    return store.with_name(f"{store.name}.{digits}.lock")


def _name_holder(file: int) -> None:
    os.ftruncate(file, 0)
    os.write(file, f"\n{os.getpid()}\n".encode())


def _holder(path: Path) -> str:
    """Return the process that the lock file names."""
    try:
        with path.open("rb", buffering=0) as file:
            if sys.platform == "win32":
                file.seek(1)  # the first byte is the locked one, which nobody else can read there
            return file.read(20).decode("ascii", "replace").strip() or "?"
    except OSError:  # released just now
        return "?"
