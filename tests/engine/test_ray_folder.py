"""Nothing of a cluster of this machine outlives the process that started it, however that ends."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from proctor_adapters.ray.folder import session_folder

SCRIPT = """
import os, subprocess, sys
from proctor_adapters.ray.folder import session_folder
with session_folder(is_needed=True) as (folder, mark):
    os.mkdir(folder)
    child = subprocess.Popen(["sleep", "600"], env={**os.environ, **mark}, start_new_session=True)
    print(folder, child.pid, flush=True)
    sys.stdin.readline()
    child.returncode = 0
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_its_folder_and_its_processes_are_gone_with_it(is_killed: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=-1, stdout=-1, text=True) as started:
        assert started.stdout is not None
        assert started.stdin is not None
        folder, pid = started.stdout.readline().split()
        assert Path(folder).parent.stat().st_mode & 0o077 == 0
        if is_killed:
            started.kill()
        else:
            started.stdin.write("\n")
    end = time.monotonic() + 20
    while Path(folder).parent.exists() or is_alive(int(pid)):
        assert time.monotonic() < end, "something is left"
        time.sleep(0.02)


def test_only_folders_of_dead_processes_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="t") as base, subprocess.Popen(["true"]) as ended:
        ended.wait()
        monkeypatch.setattr(tempfile, "tempdir", base)
        for name in (f"ray-{os.getpid()}-a", "ray-1-b", f"ray-{ended.pid}-c", "ray-mine"):
            Path(base, name).mkdir()
        with session_folder(is_needed=True) as (folder, _):
            left = {path.name for path in Path(base).iterdir()} - {Path(folder).parent.name}
        assert left == {f"ray-{os.getpid()}-a", "ray-1-b", "ray-mine"}


def is_alive(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # a zombie has none
    except OSError:
        return False
