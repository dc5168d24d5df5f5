"""What runs in an actor on a machine of a Ray cluster: it starts one worker process, and says how that ended.

The class is sent to the machines by value and uses the standard library only, so that a machine with another version of
Proctor, or with none, can say so.
"""

from typing import Any, NamedTuple

PROJECT = "proctor-project-"


class HostReport(NamedTuple):
    """What a machine runs; `proctor` is "" where it is not installed."""

    host: str
    python: str
    proctor: str


def host_class() -> type[object]:
    class Host:
        """Starts one worker process in the project that was sent, and ends with it."""

        def __init__(self) -> None:
            self.process: Any = None
            self.folder: str | None = None
            self.tail = b""

        def report(self) -> tuple[str, str, str]:
            """Return host, version of Python and of Proctor."""
            import platform
            from importlib import import_module

            try:
                version = str(import_module("proctor").__version__)  # by its name, as it is above this room
            except ImportError:
                version = ""
            return platform.node(), ".".join(platform.python_version_tuple()[:2]), version

        def open(
            self, host: str, port: int, token: bytes, variables: dict[str, str], folder: str, project: bytes | None
        ) -> str:
            """Start the process, connected to the driver; return what went wrong, or ""."""
            import io
            import os
            import socket
            import subprocess
            import sys
            import tempfile
            import threading
            import zipfile

            environment = {**os.environ, **variables}
            environment.pop("RAY_AUTH_TOKEN", None)  # an agent has no business with the cluster
            try:
                if project is not None:
                    self.remove_left(tempfile.gettempdir())
                    self.folder = folder = tempfile.mkdtemp(prefix=f"{PROJECT}{os.getpid()}-")
                    with zipfile.ZipFile(io.BytesIO(project)) as archive:
                        for file in archive.infolist():
                            os.chmod(archive.extract(file, folder), file.external_attr >> 16)  # noqa: PTH101
                with socket.create_connection((host, port), timeout=10) as way:
                    way.settimeout(None)
                    way.sendall(token)
                    self.killed = self.kills()
                    self.process = subprocess.Popen(  # noqa: S603 - our own module
                        [sys.executable, "-m", "proctor.api.worker", str(way.fileno())],
                        pass_fds=[way.fileno()],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE,
                        cwd=folder,
                        env=environment,
                        start_new_session=True,
                    )
                    self.tail = b""
                    self.reader = threading.Thread(target=self.drain, args=(self.process.stderr,), daemon=True)
                    self.reader.start()
            except OSError as error:
                self.close()
                return f"{host}:{port}: {error}"
            return ""

        def drain(self, errors: Any) -> None:
            """Keep the end of what the process prints: logs of the cluster are for others to read."""
            with errors:
                while data := errors.read1(4096):
                    self.tail += data
                    if len(self.tail) > 2000:  # whole lines: the rest of a key would not be known for one
                        cut = self.tail[-2000:]
                        self.tail = cut.partition(b"\n")[2] or cut

        def wait(self) -> tuple[int, bool, str]:
            """Wait for the process, and remove the project: who started it may not know of this actor any longer.

            Return its exit code, whether memory ran out, and the end of what it printed.
            """
            import contextlib
            import os
            import shutil
            import signal

            # once it has ended, another may be started
            process, reader, folder = self.process, self.reader, self.folder
            code = process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            reader.join(1)
            return code, self.kills() > self.killed, self.tail.decode("utf-8", "replace")

        def close(self) -> None:
            """Kill the process and everything it started, and remove the project."""
            import contextlib
            import os
            import shutil
            import signal

            if self.process is not None and self.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
            if self.folder is not None:
                shutil.rmtree(self.folder, ignore_errors=True)

        def remove_left(self, folder: str) -> None:
            """Remove the projects of actors that were killed."""
            import contextlib
            import os
            import shutil
            from pathlib import Path

            for left in Path(folder).glob(f"{PROJECT}*"):
                pid = left.name.removeprefix(PROJECT).partition("-")[0]
                with contextlib.suppress(ValueError, PermissionError):  # not ours; of another user
                    try:
                        os.kill(int(pid), 0)
                    except ProcessLookupError:
                        shutil.rmtree(left, ignore_errors=True)

        def kills(self) -> int:
            """Return how many processes the system has killed for lack of memory; 0 where it does not say."""
            try:
                with open("/proc/vmstat", encoding="ascii") as file:  # noqa: PTH123
                    return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
            except OSError:
                return 0

    return Host
