"""Lock a run, so that only one process writes it: a lock file next to the store, which the system releases with the process.

A forked child holds no lock: filelock closes the file there, else a child that outlives a killed run would keep it locked.
"""

import os
import sys
from pathlib import Path

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput


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


def is_locked(store: Path, run_id: str) -> bool:
    """True if a process that is alive holds the lock on a run."""
    holder = _holder(path) if (path := _file(store, run_id)).exists() else ""
    if not holder.isdecimal() or sys.platform == "win32":  # where asking for a process could end it
        return path.exists()
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


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
