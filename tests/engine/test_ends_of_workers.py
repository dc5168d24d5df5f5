"""A worker process that ends leaves nothing behind, on this machine and on one of a cluster."""

import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.processes import Processes
from proctor.runtime.alive import is_alive
from proctor_adapters.ray import shipping
from proctor_adapters.ray.host import PROJECT, host_class

ORPHAN = """
import subprocess, sys
child = subprocess.Popen(["sleep", "600"], stdin=-1)
open("pid", "w").write(str(child.pid))
child.returncode = 0
sys.exit(3)
"""
WORKER = """
import os, subprocess
result = subprocess.run(["./tool.sh"], capture_output=True, text=True)
os.write(2, (os.environ["WORD"] + result.stdout).encode())
os._exit(3)
"""


async def test_what_a_dead_worker_started_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    process = await Processes(1, [sys.executable, "-c", ORPHAN]).hire({}, is_spare=False)
    assert await process.reader.read() == b""
    await process.end()
    end = time.monotonic() + 20
    while is_running(int(Path("pid").read_text(encoding="ascii"))):
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.01)  # noqa: ASYNC251 - nothing else is under way
    await process.close()
    assert process.how_it_ended() == "exit code 3"
    process.writer.close()


def is_running(pid: int) -> bool:
    """True unless the process is gone, or only its entry is left."""
    return is_alive(pid) and " Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    package = tmp_path / "packages" / "proctor" / "api"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "worker.py").write_text(WORKER, encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    yield host_class()()
    assert not list((tmp_path / "temporary").glob(f"{PROJECT}*"))


def test_a_machine_starts_one_worker_after_another_with_what_was_sent(tmp_path: Path, host: Any) -> None:
    (tmp_path / "tool.sh").write_text("#!/bin/sh\necho ' of a program'", encoding="utf-8")
    (tmp_path / "tool.sh").chmod(0o755)
    project = shipping.pack(tmp_path, lambda sentence: pytest.fail(str(sentence)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        for word in ("first", "second"):
            variables = {"PYTHONPATH": str(tmp_path / "packages"), "WORD": word}
            assert host.open(*server.getsockname(), b"token", variables, "", project) == ""
            assert host.wait() == (3, False, f"{word} of a program\n"), "and nothing of the one before"
            host.close()


def test_of_what_a_worker_printed_whole_lines_are_kept(tmp_path: Path, host: Any) -> None:
    (tmp_path / "tool.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "tool.sh").chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        word = f"sk-{'a1' * 20}\n{'x' * 1_980}"  # the key begins in front of the 2,000 bytes
        variables = {"PYTHONPATH": str(tmp_path / "packages"), "WORD": word}
        assert host.open(*server.getsockname(), b"token", variables, str(tmp_path), None) == ""
        assert host.wait() == (3, False, "x" * 1_980)
    host.close()


def test_a_machine_that_cannot_reach_the_driver_keeps_nothing_of_the_project(tmp_path: Path, host: Any) -> None:
    project = shipping.pack(tmp_path, lambda sentence: pytest.fail(str(sentence)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = server.getsockname()
    assert host.open(*nobody, b"token", {}, "", project).startswith(f"127.0.0.1:{nobody[1]}: ")
