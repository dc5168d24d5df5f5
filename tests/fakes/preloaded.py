"""`proctor` and `python FILE` in processes forked from one that has imported Proctor already, for a third of the CPU.

Two programs are put into a folder for the PATH. Each hands its words, folder, variables and files to a server, which
forks a process for them, and exits as that does. The server itself only imports, so that no fork knows of another;
what is no script (`python -m`, `python -c`) starts as ever.
"""

import gc
import importlib
import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MODULES = ("proctor.api", "proctor.cli.run", "proctor.cli.output", "proctor.reports.terminal")
STUB = """#!{python} -IS
import array, os, socket, sys
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
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # so that what they used is counted
                pass
        if os.fork() == 0:
            listener.close()
            return _forked(connection)
        connection.close()


def _forked(connection: socket.socket) -> list[str]:
    """Return in a second process, whose end this one waits for and reports."""
    head, files, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as reader:
        request = reader.read(int.from_bytes(head, "big"))
    if program := os.fork():
        _, status = os.waitpid(program, 0)
        connection.send(bytes([os.waitstatus_to_exitcode(status) % 256]))
        os._exit(0)
    connection.close()
    for index, file in enumerate(files):
        os.dup2(file, index)
        os.close(file)
    folder, count, *rest = request.decode("utf-8", "surrogateescape").split("\0")
    os.chdir(folder)
    os.environ.clear()
    for variable in rest[int(count) :]:
        name, _, os.environ[name] = variable.partition("=")
    return rest[: int(count)]


def become(words: list[str]) -> None:
    """Run the script of a command line as `__main__`."""
    script = str(Path(sys.executable).with_name("proctor")) if words[0] == "proctor" else words[1]
    sys.argv = [script, *words[1 if words[0] == "proctor" else 2 :]]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    become(serve(sys.argv[1]))
