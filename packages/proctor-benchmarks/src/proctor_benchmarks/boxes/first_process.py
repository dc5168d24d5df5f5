"""The first process of a box, which runs commands for Proctor; it knows only the standard library.

Requests are lines of JSON on standard input, replies are lines on standard output. As first process of its namespace it
cannot be ended from within.
"""

import base64
import ctypes
import errno
import json
import os
import select
import signal
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SILENT_SECONDS = 5.0  # after which officially no more of a command is read
DRAIN_SECONDS = 0.05  # what a command printed may come a little after its end
MOST_BYTES = 1 << 20  # of what a command prints; the rest is thrown away
MOST_CHARACTERS = 1 << 16  # of a command
AGAIN = "[a new shell was started, as the last command had not ended]\r\n"
COMMANDS, ENDS = 200, 201
SHELL = f"""
shopt -s expand_aliases
while IFS= read -r -d '' -u {COMMANDS} command; do eval "$command" {COMMANDS}<&- {ENDS}>&-; printf . >&{ENDS}; done
"""


LEFT_BY_THE_AGENT = {errno.E2BIG, errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP, errno.ENOEXEC}
"""Why a command does not start: an answer is too long for one, or the agent has removed its program."""
PR_SET_DUMPABLE = 4
_code_by_process: dict[int, int] = {}  # of those that ended


def prepare(files: Mapping[str, str], farms: Mapping[str, str], limits: Mapping[str, int]) -> None:
    """Make the files of a small system, folders where a name ends with a slash, and bound what each process may use."""
    import resource  # no other system than Linux runs this, and some could not import it

    os.umask(0o022)
    for name, text in files.items():
        path = Path(name)
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for folder, source in farms.items():  # links, so that programs can be added and removed
        Path(folder).mkdir(parents=True, exist_ok=True)
        for program in Path(source).iterdir():
            Path(folder, program.name).symlink_to(program)
    Path("/tmp").chmod(0o1777)  # noqa: S108 - that of the box
    for name, most in limits.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (most, most))


def run(command: Sequence[str], seconds: float) -> tuple[int, str]:
    """Return the exit code of a command, and what it printed until it ended; what it left running may go on."""
    ours, theirs = os.pipe()
    try:
        process = _spawn([part.encode("utf-8", "replace") for part in command], theirs)
    except OSError as error:
        if error.errno not in LEFT_BY_THE_AGENT:
            raise
        return 126, os.strerror(error.errno)
    finally:
        os.close(theirs)
    output, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        has_ended = _has_ended(process)
        if select.select([ours], [], [], min(left, DRAIN_SECONDS))[0]:
            data = os.read(ours, 1 << 16)
            output = (output + data)[:MOST_BYTES]
            if not data:
                break
        elif has_ended:
            break
    os.close(ours)
    while not _has_ended(process) and time.monotonic() < deadline:
        time.sleep(DRAIN_SECONDS)
    return _end(process), output.decode("utf-8", "replace")


class Shell:
    """A login shell that prints to a terminal, and lives from command to command.

    Attributes:
        has_ended: it takes no more commands.
    """

    def __init__(self) -> None:
        import pty

        self.has_ended = False
        self._is_busy = False
        self._left = b""
        commands, self._commands = os.pipe()
        self._ends, ends = os.pipe()
        self._terminal, terminal = pty.openpty()
        os.dup2(commands, COMMANDS)
        os.dup2(ends, ENDS)
        self._process = _spawn(["bash", "--login", "-c", SHELL], terminal, keep=(COMMANDS, ENDS))
        for end in (commands, ends, terminal, COMMANDS, ENDS):
            os.close(end)

    def is_stuck(self) -> bool:
        """True if the last command goes on: it waits for what nobody will type, or has no end."""
        if self._is_busy:
            self._left = self._read(SILENT_SECONDS)
        return self._is_busy

    def type(self, command: str, seconds: float) -> str:
        """Return what is printed until the command ends, the shell is silent, or the time is over."""
        if len(command) > MOST_CHARACTERS:
            return f"bash: {os.strerror(errno.E2BIG)}\r\n"
        with suppress(BrokenPipeError):
            os.write(self._commands, command.replace("\0", "").encode("utf-8", "replace") + b"\0")
        self._is_busy = True
        printed, self._left = self._left + self._read(seconds), b""
        return printed.decode("utf-8", "replace")

    def close(self) -> None:
        """End the shell and what runs in its session."""
        _end(self._process)
        for end in (self._commands, self._ends, self._terminal):
            os.close(end)

    def _read(self, seconds: float) -> bytes:
        output, heard = b"", time.monotonic()
        deadline = heard + seconds
        while (left := deadline - time.monotonic()) > 0:
            ends = [self._ends] if self._is_busy else []
            _forget()  # now and then: those that a silent command leaves to us count until then
            ready = select.select([self._terminal, *ends], [], [], min(left, DRAIN_SECONDS))[0]
            if not ready:
                if time.monotonic() - heard >= (SILENT_SECONDS if self._is_busy else DRAIN_SECONDS):
                    break
                continue
            heard = time.monotonic()
            if self._terminal in ready:
                try:
                    output = (output + os.read(self._terminal, 1 << 16))[:MOST_BYTES]
                except OSError:  # nobody holds the other end any more
                    self._is_busy, self.has_ended = False, True
                    break
            if self._ends in ready:
                self._is_busy = False
                self.has_ended = not os.read(self._ends, 1)
        return output


def _spawn(command: Sequence[str | bytes], output: int, keep: Sequence[int] = (), **more: Any) -> "subprocess.Popen[bytes]":  # fmt: skip
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "pass_fds": keep, "cwd": "/", **more}  # fmt: skip
    for is_last in (False, True):
        try:
            return subprocess.Popen(command, start_new_session=True, **how)  # noqa: S603 - what boxes are for
        except BlockingIOError:  # a command left too many processes
            if is_last:
                raise
            os.kill(-1, signal.SIGKILL)
            time.sleep(DRAIN_SECONDS)
            _forget()
    raise AssertionError


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    _forget()
    return process.pid in _code_by_process


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End a process and its group, if it has not ended, and return its exit code."""
    with suppress(ProcessLookupError):
        if not _has_ended(process):
            os.killpg(process.pid, signal.SIGKILL)
    while not _has_ended(process):
        time.sleep(DRAIN_SECONDS)
    process.returncode = _code_by_process.pop(process.pid)  # as it was not waited for by itself
    return process.returncode


def _forget() -> None:
    """Take note of the ends of all processes, also of those that were left to us: each counts until then."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            _code_by_process[ended[0]] = os.waitstatus_to_exitcode(ended[1])


def execute(command: Sequence[str], seconds: float, kept_bytes: int, how: Mapping[str, Any]) -> dict[str, Any]:
    """Run a command in a session of its own, and return how it ended and the beginning and end of what it printed.

    One that is late is killed with its session. What it left running in the background goes on.

    Args:
        kept_bytes: of the beginning, and again of the end.
        how: `user` (a name or number), `folder` and `variables`, where the command has its own.
    """
    ours, theirs = os.pipe()
    output = Ends(kept_bytes)
    begun = time.monotonic()
    try:
        process = _spawn([os.fsencode(part) for part in command], theirs, **_circumstances(how))
    except (OSError, ValueError, LookupError) as error:
        return {"code": 126, "head": str(error), "tail": "", "cut": 0, "late": False, "seconds": 0.0}
    finally:
        os.close(theirs)
    deadline, is_late = begun + seconds, False
    while not is_late:
        has_ended = _has_ended(process)
        if select.select([ours], [], [], DRAIN_SECONDS)[0]:
            data = os.read(ours, 1 << 16)
            output.add(data)
            if not data:
                break
        elif has_ended:
            break
        is_late = time.monotonic() > deadline
    os.close(ours)
    while not _has_ended(process) and not is_late:
        time.sleep(0.002)
        is_late = time.monotonic() > deadline
    code = _end(process)
    return {"code": code, **output.texts(), "late": is_late, "seconds": time.monotonic() - begun}


class Ends:
    """The beginning and the end of what a command prints; the middle is dropped and counted."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._head, self._tail, self._cut = b"", b"", 0

    def add(self, data: bytes) -> None:
        missing = self._kept - len(self._head)
        self._head += data[:missing]
        tail = self._tail + data[missing:]
        self._cut += max(len(tail) - self._kept, 0)
        self._tail = tail[-self._kept :]

    def texts(self) -> dict[str, Any]:
        """Return both as text; where nothing is missing between them, all of it is the head."""
        whole = self._head + self._tail if not self._cut else self._head
        tail = self._tail if self._cut else b""
        return {"head": whole.decode("utf-8", "replace"), "tail": tail.decode("utf-8", "replace"), "cut": self._cut}


def _circumstances(how: Mapping[str, Any]) -> dict[str, Any]:
    variables = {**os.environ, **how.get("variables", {})}
    more: dict[str, Any] = {"cwd": how.get("folder") or "/", "env": variables}
    import pwd

    if (user := how.get("user")) not in (None, "", "root", "0"):
        entry = pwd.getpwuid(int(user)) if str(user).isdigit() else pwd.getpwnam(str(user))
        more.update(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
        variables.update(HOME=entry.pw_dir, USER=entry.pw_name)
    return more


class Pack:
    """A tar archive on its way in or out, in pieces that fit into a line."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.memfd_create("pack"), "w+b")  # no disk that a command may have filled

    def begin(self) -> None:
        """Forget the archive that was moved last."""
        self._file.seek(0)
        self._file.truncate()

    def append(self, data: str) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(base64.b64decode(data))

    def read(self, start: int, size: int) -> str:
        self._file.seek(start)
        return base64.b64encode(self._file.read(size)).decode("ascii")

    def fill(self, paths: Sequence[str], most_bytes: int, most_entries: int) -> dict[str, object]:
        """Write what is at these paths, of the box's own files only; say whether that was too much."""
        self.begin()
        size, entries = 0, 0
        with tarfile.open(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for top in paths:
                for path in _walk(top):
                    with suppress(OSError):  # gone meanwhile
                        entry = archive.gettarinfo(path, arcname=path.lstrip("/") or ".")
                        if entry is None or not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
                            continue
                        size += entry.size
                        entries += 1
                        if size > most_bytes or entries > most_entries:
                            return {"too_much": True, "bytes": 0}
                        if entry.isreg():
                            with open(path, "rb") as content:  # noqa: PTH123 - as it was named
                                archive.addfile(entry, content)
                        else:
                            archive.addfile(entry)
        return {"too_much": False, "bytes": self._file.seek(0, os.SEEK_END)}

    def spread(self) -> None:
        """Write the files of the archive, with the owners that it names."""
        self._file.seek(0)
        with tarfile.open(fileobj=self._file) as archive:
            archive.extractall("/", numeric_owner=True)  # noqa: S202 - checked by Proctor, and within the box


def _walk(top: str) -> Iterator[str]:
    """Yield a path and all below it on the same device, folders before what is in them."""
    if not os.path.lexists(top):
        return
    yield top
    if os.path.islink(top) or not os.path.isdir(top):  # noqa: PTH112, PTH114 - quicker, and as it was named
        return
    device = os.lstat(top).st_dev
    for folder, names, files in os.walk(top):
        paths = [os.path.join(folder, name) for name in (*names, *files)]  # noqa: PTH118
        yield from (path for path in paths if _device(path) == device)
        names[:] = [name for name in names if _device(os.path.join(folder, name)) == device]  # noqa: PTH118


def _device(path: str) -> int | None:
    with suppress(OSError):
        return os.lstat(path).st_dev
    return None


class Machine:
    """What can be requested.

    Attributes:
        calls: what runs each request, by its name.
    """

    def __init__(self) -> None:
        self._shell: Shell | None = None
        pack = Pack()
        self.calls: Mapping[str, Callable[..., Any]] = {
            "prepare": prepare,
            "run": run,
            "execute": execute,
            "type": self._type,
            "begin_pack": pack.begin,
            "append_pack": pack.append,
            "read_pack": pack.read,
            "fill_pack": pack.fill,
            "spread_pack": pack.spread,
            "list_processes": list_processes,
            "stop_all": stop_all,
        }

    def _type(self, command: str, seconds: float) -> str:
        """Type a command into the shell of the agent; there is a new one where that has ended, or cannot go on."""
        before = ""
        if self._shell is not None and self._shell.is_stuck():
            before = AGAIN
            self._shell.has_ended = True
        if self._shell is None or self._shell.has_ended:
            if self._shell is not None:
                self._shell.close()
            self._shell = Shell()
        return before + self._shell.type(command, seconds)


def list_processes() -> list[str]:
    """Return the number and the start of each other process that has not ended."""
    names = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # gone meanwhile
            fields = path.read_text("utf-8", "replace").rpartition(") ")[2].split()
            if path.parent.name != "1" and fields[0] not in "ZX":
                names.append(f"{path.parent.name} {fields[19]}")
    return names


def stop_all() -> None:
    """End all other processes of the box."""
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    _forget()


def main() -> None:
    """Serve requests until the pipe is closed; what commands print reaches neither pipe."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # commands have our user, and must not take our pipes
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    machine = Machine()
    for line in requests:
        request = json.loads(line)
        try:
            reply = {"value": machine.calls[request.pop("call")](**request)}
        except Exception as error:  # noqa: BLE001 - the other side raises it
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
