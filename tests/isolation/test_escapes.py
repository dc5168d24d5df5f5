"""What namespaces leave open is closed: sockets that are files, named pipes, devices; for workers and confined commands."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from proctor.isolation import Confinement, WorkerRaised, Workers, child, confine

PROGRAM = Path(__file__).parent / "escapes.py"
WIDE = Confinement()
WAYS = ("stream", "packets", "datagram", "datagram_of_a_pair", "stream_of_a_pair", "abstract", "machine_socket", "ring", "pipe", "device")  # fmt: skip
KINDS = {"stream": socket.SOCK_STREAM, "packets": socket.SOCK_SEQPACKET, "datagram": socket.SOCK_DGRAM}
SYSTEM_PYTHON = "/usr/bin/python3"
OUTSIDE = (
    "stream",
    "packets",
    "datagram",
    "datagram_of_a_pair",
    "pipe",
)  # what an unconfined program reaches everywhere


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Listen in every way that there is; return the path of each."""
    with ExitStack() as stack:
        paths = {way: str(tmp_path / way) for way in WAYS}
        for name, kind in KINDS.items():
            server = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            server.bind(paths[name])
            if kind != socket.SOCK_DGRAM:
                server.listen()
        paths |= {"datagram_of_a_pair": paths["datagram"], "stream_of_a_pair": paths["stream"]}
        hidden = stack.enter_context(socket.socket(socket.AF_UNIX))
        hidden.bind("\0" + paths["abstract"])
        hidden.listen()
        os.mkfifo(paths["pipe"])
        stack.callback(os.close, os.open(paths["pipe"], os.O_RDONLY | os.O_NONBLOCK))
        yield paths


@pytest.fixture
def namespaces() -> None:
    """Skip where the machine makes none."""
    if subprocess.run(["unshare", "--user", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("needs namespaces")


async def test_a_worker_gets_out_by_none_of_them(listening: dict[str, str], namespaces: None) -> None:
    async with Workers(PROGRAM, size=1) as workers:
        for way in WAYS:
            with pytest.raises(WorkerRaised) as raised:
                await workers.run(way, path=listening[way])
            assert raised.value.type.endswith("Error"), way
        assert await workers.run("ordinary", path="") == "started"


async def test_what_is_not_confined_gets_out_by_most(listening: dict[str, str]) -> None:
    async with Workers(PROGRAM, size=1, confined=False) as workers:
        for way in OUTSIDE:
            assert await workers.run(way, path=listening[way])


def run_confined(code: str, folder: Path, bounds: Confinement = WIDE) -> subprocess.CompletedProcess[str]:
    """Run Python code as a confined command."""
    inside = f"import sys; sys.path.append({str(PROGRAM.parent)!r}); import escapes\n{code}"
    command = confine([sys.executable, "-c", inside], str(folder), bounds)
    variables = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=60)


def test_a_confined_command_gets_out_by_none_of_them(
    listening: dict[str, str], namespaces: None, tmp_path: Path
) -> None:
    code = f"""
for way, path in {listening!r}.items():
    try:
        print(way, getattr(escapes, way)(path))
    except OSError:
        print(way, "refused")
print(escapes.ordinary(""))
"""
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run_confined(code, folder)
    assert done.stdout.splitlines() == [*(f"{way} refused" for way in WAYS), "started"], done.stderr
    assert not folder.exists()


def test_a_confined_command_has_so_much_memory_and_disk(namespaces: None, tmp_path: Path) -> None:
    code = """
import os
try:
    bytearray(400_000_000)
except MemoryError:
    print("no memory")
try:
    open(os.environ["TMPDIR"] + "/large", "wb").write(bytes(30_000_000))
except OSError as error:
    print(error.strerror)
"""
    done = run_confined(code, tmp_path, Confinement(memory_mb=200, disk_mb=10))
    assert done.stdout.splitlines() == ["no memory", "No space left on device"], done.stderr


def test_a_confined_command_has_so_many_processes(namespaces: None, tmp_path: Path) -> None:
    code = "import os, time\nfor n in range(200):\n    if os.fork() == 0:\n        time.sleep(30)\n"
    _, *isolated, _, folder, limits = confine([], str(tmp_path), Confinement(processes=50))
    as_nobody = []
    if os.getuid() == 0:  # whose processes the kernel does not bound
        if shutil.which("setpriv") is None or not Path(SYSTEM_PYTHON).exists():
            pytest.skip("needs setpriv, as root")
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as readable:  # unlike the folders of root
        Path(readable).chmod(0o755)
        program = Path(shutil.copy(child.__file__, readable))
        program.chmod(0o644)
        folder = f"{readable}/folder"
        Path(folder).mkdir()
        Path(folder).chmod(0o777)
        python = SYSTEM_PYTHON if as_nobody else sys.executable
        command = [*as_nobody, python, *isolated, str(program), folder, limits, python, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert "BlockingIOError" in done.stderr
