"""Keep the sockets and logs of a cluster of this machine in a folder that is gone with the process, even if that is killed.

A process of its own waits for that end: Ray leaves two helpers for a minute, and its folder for good.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from proctor.runtime.alive import is_alive

FOLDER = "ray-"
MARK = "CLUSTER_OF_PROCTOR"  # of the processes of a cluster, in their environment
MOST_OF_FOLDER = 20  # letters of where it is: the path of a socket in it may have 107
TRIES = 50  # to kill what others start meanwhile


@contextmanager
def session_folder(*, is_needed: bool) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Make a folder that only this user can enter, and remove it at the end, with the processes that have the variables.

    Yields the folder for Ray, and the variables. Folders whose guards were killed too are removed.
    """
    if not is_needed:
        yield "", {}
        return
    base = tempfile.gettempdir()
    base = base if len(base) <= MOST_OF_FOLDER else "/tmp"  # noqa: S108 - a folder of our own is made in it
    for left in Path(base).glob(f"{FOLDER}*"):
        pid = left.name.removeprefix(FOLDER).partition("-")[0]
        with suppress(FileNotFoundError):  # another process removes it too
            if pid.isdecimal() and not is_alive(int(pid)) and left.stat().st_uid == os.getuid():
                shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=base)
    with _guard(folder):
        yield str(Path(folder, "r")), {MARK: folder}  # that one Ray opens to everybody


@contextmanager
def _guard(folder: str) -> Iterator[None]:
    command = [sys.executable, "-m", __name__, folder]
    quiet = subprocess.DEVNULL
    guard = subprocess.Popen(command, stdin=-1, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 - our own module
    with guard:  # closes its input and waits
        yield


def main() -> None:
    """Wait until the process at the other end of standard input is gone, then end what it left."""
    sys.stdin.buffer.read()
    mark = f"{MARK}={sys.argv[1]}".encode()
    for _ in range(TRIES):
        left = [pid for pid in _processes() if mark in _environment(pid)]
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            break
    shutil.rmtree(sys.argv[1], ignore_errors=True)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if path.name.isdecimal()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


if __name__ == "__main__":
    main()
