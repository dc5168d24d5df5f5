"""The first process of a sandbox, which runs commands for Proctor; it knows only the standard library.

Requests are lines of JSON on standard input, replies are lines on standard output. As first process of its namespace it
cannot be ended from within.
"""

import ctypes
import errno
import json
import os
import pty
import resource
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
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
        for found in Path(source).iterdir():
            Path(folder, found.name).symlink_to(found)
    Path("/tmp").chmod(0o1777)  # noqa: S108 - that of the sandbox
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


def _spawn(command: Sequence[str | bytes], output: int, keep: Sequence[int] = ()) -> "subprocess.Popen[bytes]":
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output, "pass_fds": keep}
    for is_last in (False, True):
        try:
            return subprocess.Popen(command, cwd="/", start_new_session=True, **how)  # noqa: S603 - what sandboxes are for
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


class Machine:
    """What can be requested."""

    def __init__(self) -> None:
        self._shell: Shell | None = None

    def prepare(self, **settings: Any) -> None:
        """Prepare the system; see `prepare`."""
        prepare(**settings)

    def run(self, command: Sequence[str], seconds: float) -> tuple[int, str]:
        """Run a command outside of the shell; see `run`."""
        return run(command, seconds)

    def type(self, command: str, seconds: float) -> str:
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
            reply = {"value": getattr(machine, request.pop("call"))(**request)}
        except Exception as error:  # noqa: BLE001 - the other side raises it
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
