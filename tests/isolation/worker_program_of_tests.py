"""What the workers of these tests run: a good part, and everything that a program can do wrong."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any


class Counter:
    """An object with a state."""

    def __init__(self, start: int) -> None:
        self.value = start

    def add(self, by: int) -> int:
        self.value += by
        return self.value

    def raises(self) -> None:
        self.value += 1
        raise LookupError("no such thing")

    def looks_at_the_clock(self) -> int:
        return time.monotonic_ns()

    def does(self, what: str) -> Any:
        return globals()[what]()


def counter(start: int) -> Counter:
    return Counter(start)


def echo(**values: object) -> object:
    return values


def pid() -> int:
    return os.getpid()


def number_of_lines(text: str, seconds: float) -> int:
    time.sleep(seconds)
    return text.count("\n")


def prints() -> str:
    print("to standard output")
    print("to standard error", file=sys.stderr)
    os.write(1, b"to its descriptor\n")
    return input() if sys.stdin else ""


def looks_around() -> dict[str, Any]:
    """Return all that can be seen of the environments of processes, and what is loaded."""
    environments = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # its owner is another, or it is gone
            environments.append(entry.read_text(encoding="utf-8", errors="replace"))
    return {
        "environment": dict(os.environ),
        "environments": environments,
        "folder": str(Path.cwd()),
        "modules": sorted(sys.modules),
    }


def connects(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


def writes(path: str) -> int:
    return Path(path).write_text("x" * 1_000, encoding="ascii")


def fills(megabytes: int) -> None:
    with Path("large").open("wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))


def imports(name: str) -> str:
    return str(__import__(name).__name__)


def large(megabytes: int) -> str:
    return "x" * (megabytes << 20)


def no_json() -> object:
    return {1, 2}


def not_a_number() -> float:
    return float("nan")


def deep() -> object:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exits() -> None:
    sys.stderr.write("no key\n")
    sys.stderr.flush()
    os._exit(3)


def leaves() -> None:
    sys.exit(4)


def crashes() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs_in_python() -> None:
    while True:
        pass


def hangs_in_a_pattern() -> None:
    re.match(r"(a+)+$", "a" * 64 + "b")


def hangs_in_a_number() -> int:
    return len(str(10 ** (10**8)))


def sleeps() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def uses_all_memory() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def floods_output() -> None:
    while True:
        os.write(1, b"x" * 65_536)


def floods_errors() -> None:
    while True:
        sys.stderr.write("x" * 65_536)


def garbage() -> None:
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"} nonsense {\n")
        except OSError:
            continue


def garbage_without_end() -> None:
    while True:
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"x" * 65_536)
            except OSError:
                continue


def garbage_later() -> None:
    def write() -> None:
        time.sleep(0.05)
        garbage()

    threading.Thread(target=write).start()


def closes_its_pipes() -> None:
    os.closerange(3, 100)


def closes_its_pipes_and_sleeps() -> None:
    os.closerange(3, 100)
    time.sleep(600)


def leaves_children_behind() -> None:
    """Start one in a session of its own, and one whose parent has ended."""
    sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    subprocess.Popen(sleep, start_new_session=True)
    if not os.fork():
        os.setsid()
        subprocess.Popen(sleep)
        os._exit(0)


def leaves_children_behind_and_is_killed() -> None:
    leaves_children_behind()
    is_killed()


def leaves_children_behind_and_hangs() -> None:
    leaves_children_behind()
    sleeps()
