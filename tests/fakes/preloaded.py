"""`proctor` and `python FILE` in processes forked from one that has imported Proctor already, for a third of the CPU.

Two programs are put into a folder for the PATH. Each hands its words, folder, variables and files to a server, which
forks a process for them, and exits as that does. The server itself only imports, so that no fork knows of another;
what is no script (`python -m`, `python -c`) starts as ever.
"""

import atexit
import gc
import importlib
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MODULES = (
    *("proctor.api", "proctor.api.check", "proctor.cli.run", "proctor.cli.output", "proctor.datasets.files"),
    *(
        "proctor.reports.terminal",
        "proctor.runtime.json_file",
        "proctor.runtime.pattern_search",
        "proctor.runtime.program",
    ),
    *("proctor.runtime.toml_file", "proctor.stores.sqlite", "proctor.trajectory_matching.arguments"),
    *("concurrent.futures.thread", "difflib", "email.parser", "filelock", "http.client", "importlib.resources.readers"),
    *("rich._emoji_codes", "rich.console", "rich.jupyter", "rich.markup", "rich.table", "rich.text", "uvloop"),
)
STUB = """#!{python} -IS
import _socket as socket, array, os, sys
words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
if words[0] == "python" and not "".join(words[1:2]).endswith(".py"):
    os.execv({python!r}, [{python!r}, *words[1:]])
variables = [f"{{name}}={{value}}" for name, value in os.environ.items()]
request = "\\0".join([os.getcwd(), str(len(words)), *words, *variables]).encode("utf-8", "surrogateescape")
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
files = array.array("i", [0, 1, 2])
server.sendmsg([len(request).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
server.sendall(request)
sys.exit(server.recv(1)[0])
"""


@contextmanager
def preloaded(folder: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """Start the server, and yield the folder of the two programs."""
    address, programs = folder / "socket", folder / "bin"
    programs.mkdir()
    for name in ("proctor", "python"):
        program = programs / name
        program.write_text(STUB.format(python=sys.executable, address=str(address)), encoding="utf-8")
        program.chmod(0o755)
    command = [sys.executable, __file__, str(address)]
    pipe = subprocess.PIPE  # Python notes as it starts that these cannot be sought in, which is so for most programs
    with subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield programs
        finally:
            server.terminate()


def serve(address: str) -> list[str]:
    """Wait for programs, and return in a process forked for one of them, with the words of its command line."""
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()
    running: dict[int, socket.socket] = {}

    def report(*_: object) -> None:
        """Tell those whose programs have ended how they did."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                with running.pop(ended[0]) as connection, suppress(BrokenPipeError):
                    connection.send(bytes([os.waitstatus_to_exitcode(ended[1]) % 256]))

    usual = signal.signal(signal.SIGCHLD, report)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # until the program is noted
        program = os.fork()
        if program == 0:
            signal.signal(signal.SIGCHLD, usual)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            for other in (listener, *running.values()):
                other.close()
            return _taken(connection)
        running[program] = connection
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _taken(connection: socket.socket) -> list[str]:
    """Take over the folder, the variables and the files of who asks, and return the words."""
    head, files, _, _ = socket.recv_fds(connection, 8, 3)
    with connection, connection.makefile("rb") as reader:
        request = reader.read(int.from_bytes(head, "big"))
    for index, file in enumerate(files):
        os.dup2(file, index)
        os.close(file)
    folder, count, *rest = request.decode("utf-8", "surrogateescape").split("\0")
    os.chdir(folder)
    os.environ.clear()
    for variable in rest[int(count) :]:
        name, _, os.environ[name] = variable.partition("=")
    return rest[: int(count)]


def become(words: list[str]) -> int:
    """Run the script of a command line as `__main__`, and return its exit code."""
    script = str(Path(sys.executable).with_name("proctor")) if words[0] == "proctor" else words[1]
    sys.argv = [script, *words[1 if words[0] == "proctor" else 2 :]]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        return ended.code or 0
    return 0


def end(code: int) -> None:
    """End as Python does, but for what it frees, object by object: most is shared with the server, and would be copied first."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    end(become(serve(sys.argv[1])))
