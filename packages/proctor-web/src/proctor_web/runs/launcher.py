"""Start runs as processes of their own, which go on when the server ends or crashes, and keep what they print.

What is known of a start lies next to the store, `STORE.starts/RUN.json`, and what the process printed in `RUN.log`.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from proctor.api.names import check_run_id
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.runtime.alive import is_alive
from proctor.runtime.folders import data_folder
from proctor.transport.redact import redact
from proctor_ci.request import RunRequest, shown
from proctor_web.workspace import Workspace

MOST_AT_ONCE = 8
MOST_STARTS = 100
TAIL_BYTES = 24_000  # of what is shown
MOST_LOG_BYTES = 8_000_000  # of what is kept
TRIM_SECONDS = 30.0
END_SECONDS = 5.0
OPENING_SECONDS = 60.0  # within which a process has opened its run
LINES = 200


class RunProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that was started for a run.

    Attributes:
        words: the words of its command after `proctor`.
        request: what was asked for; None where a stored run goes on.
        before: the digest of the run's record before; '' for a new run.
        folder: the folder that the process is in; '' for that of the server.
        code: what it ended with; None while it runs, or when it ended without a server that saw it.
    """

    run: str
    words: tuple[str, ...]
    request: RunRequest | None = None
    before: str = ""
    pid: int = 0
    started: float = 0.0
    by: str = ""
    folder: str = ""
    code: int | None = None


def command_of(start: RunProcess) -> str:
    """Return what a person types for the same."""
    command = shown(start.words)
    return f"cd {shlex.quote(start.folder)} && {command}" if start.folder else command


class Launcher:
    """The processes of the runs of a workspace. Any thread may use it."""

    def __init__(self, workspace: Workspace) -> None:
        self._addresses = workspace.addresses
        self._processes: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        self._stopping: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def start(self, store: Store, start: RunProcess, *, lang: str = "en") -> None:
        """Start the process of a run.

        Raises:
            BadInput: the run is under way, too many are, or no other process can write the store.
        """
        run = start.run
        key = (store.url, run)
        log = self._file(store, run, "log")
        with self._lock:
            if self.is_alive(store, run) or store.writer(run) is not None:
                raise BadInput("The run '{run}' is under way.", run=run)
            under_way = sum(process.poll() is None for process in self._processes.values())
            if under_way >= MOST_AT_ONCE:
                raise BadInput("{count} runs are under way; wait until one of them ends.", count=under_way)
            log.parent.mkdir(mode=0o700, exist_ok=True)
            log.unlink(missing_ok=True)
            words, given = [*start.words], dict[str, str]()
            address = self._addresses.get(store.url)
            if address is not None:  # with its password: whoever lists processes sees words
                words, given = [word for word in words if word != f"--store={store.url}"], {"PROCTOR_STORE": address}
            begun = msgspec.structs.replace(start, started=time.time())
            self._write(store, begun)  # first: a server that is killed here has not lost what it was asked for
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603 - words of our own, which were checked
                    [sys.executable, "-m", "proctor", f"--lang={lang}", *words],
                    cwd=start.folder or None,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **given, "PYTHONUNBUFFERED": "1", "COLUMNS": "120"},
                    start_new_session=True,  # Ctrl-C in the terminal of the server is not for it
                )
            self._processes[key] = process
            self._stopping.discard(key)
            begun = msgspec.structs.replace(begun, pid=process.pid)
            self._write(store, begun)
        threading.Thread(
            target=self._note_end, args=(store, begun, process), name=f"proctor-{run}", daemon=True
        ).start()

    def stop(self, store: Store, run: str) -> None:
        """Ask a run to stop, as Ctrl-C does: what is in flight may finish. A second time it stops at once.

        Raises:
            BadInput: nobody writes the run, or it is this process.
        """
        pid = self._pid(store, run) or store.writer(run)
        if pid == 0:
            raise BadInput(
                "The run '{run}' is under way on another machine, or as another user. Stop it there.", run=run
            )
        if pid is None or pid == os.getpid():
            raise BadInput("The run '{run}' is not under way, so there is nothing to stop.", run=run)
        with suppress(ProcessLookupError):  # it ended just now
            try:
                os.kill(pid, signal.SIGINT)
                self._stopping.add((store.url, run))
            except PermissionError:
                raise BadInput("The run '{run}' belongs to another user of this machine.", run=run) from None

    def is_alive(self, store: Store, run: str) -> bool:
        """True while the process that was started for a run has not ended, as far as is known."""
        return self._pid(store, run) is not None

    def _pid(self, store: Store, run: str) -> int | None:
        process = self._processes.get((store.url, run))
        if process is not None:
            return process.pid if process.poll() is None else None
        last = self.last(store, run)  # of a server that was killed; once the run is open, its store tells more
        if last is None or not last.pid or last.code is not None or time.time() - last.started > OPENING_SECONDS:
            return None
        return last.pid if is_alive(last.pid) else None

    def await_end(self, store: Store, run: str) -> None:
        """Wait a moment for the process of a run that is over: it still has its numbers to print."""
        process = self._processes.get((store.url, run))
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)

    def is_stopping(self, store: Store, run: str) -> bool:
        """True if a run was asked to stop from here, since it was started."""
        return (store.url, run) in self._stopping

    def last(self, store: Store, run: str) -> RunProcess | None:
        """Return the last start of a run from a browser."""
        try:
            start = msgspec.json.decode(self._file(store, run, "json").read_bytes(), type=RunProcess)
        except (OSError, msgspec.DecodeError, BadInput):
            return None
        process = self._processes.get((store.url, run))
        if process is None or process.pid != start.pid or start.code is not None:
            return start
        return msgspec.structs.replace(start, code=process.poll())  # its end is known before it is written down

    def starts(self, store: Store) -> Sequence[RunProcess]:
        """Return the last start of each run that was started from a browser, the newest first; not more than a page holds."""
        try:
            files = sorted(folder_of(store).glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
        except (OSError, BadInput):
            return ()
        found = (self.last(store, file.stem) for file in files[:MOST_STARTS])
        return [start for start in found if start is not None]

    def log(self, store: Store, run: str) -> Sequence[str]:
        """Return the last lines that the process printed; keys in them are hidden."""
        try:
            lines = _read_tail(self._file(store, run, "log")).decode(errors="replace").splitlines()
        except (OSError, BadInput):
            return ()
        return [redact(line) for line in lines[-LINES:]]

    def forget(self, store: Store, run: str) -> None:
        """Remove what was kept of the starts of a run."""
        with self._lock, suppress(OSError, BadInput):
            for kind in ("json", "log"):
                self._file(store, run, kind).unlink(missing_ok=True)

    def _note_end(self, store: Store, begun: RunProcess, process: "subprocess.Popen[bytes]") -> None:
        code = None
        while code is None:
            try:
                code = process.wait(TRIM_SECONDS)
            except subprocess.TimeoutExpired:
                self._trim(store, begun.run)
        with self._lock, suppress(OSError):
            last = self.last(store, begun.run)
            if last is not None and last.pid == begun.pid:  # neither forgotten nor started again
                self._write(store, msgspec.structs.replace(begun, code=code))

    def _trim(self, store: Store, run: str) -> None:
        """Keep only the end of what a process printed when it is too long; the process appends to it."""
        with suppress(OSError):
            path = self._file(store, run, "log")
            if path.stat().st_size > MOST_LOG_BYTES:
                tail = _read_tail(path)
                os.truncate(path, 0)
                with path.open("ab") as file:
                    file.write(tail)

    def _write(self, store: Store, start: RunProcess) -> None:
        path = self._file(store, start.run, "json")
        fresh = path.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(start))
        fresh.replace(path)

    def _file(self, store: Store, run: str, kind: str) -> Path:
        check_run_id(run)
        return folder_of(store) / f"{run}.{kind}"


def _read_tail(path: Path) -> bytes:
    """Return the whole lines at the end of a file; a line cut in two could show half a key, which nothing would hide."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        tail = file.read()
    return tail if size <= TAIL_BYTES else tail.partition(b"\n")[2]


def folder_of(store: Store) -> Path:
    """Return where starts are kept: next to a store that is a file, else in the user's data folder.

    Raises:
        BadInput: no other process can write the store.
    """
    if store.url == ":memory:":
        raise BadInput("A store in memory cannot be written by another process. Open a file with --store.")
    scheme, separator, rest = store.url.partition("://")
    if separator and scheme != "sqlite":
        return data_folder() / "starts" / digest_bytes(store.url.encode())[:16]
    path = Path(rest if separator else store.url).expanduser()
    return path.with_name(f"{path.name}.starts")
