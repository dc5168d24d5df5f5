"""Nothing of a cluster of this machine outlives the process that started it, however that ends."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import os, subprocess, sys
from proctor.engine.ray_folder import session_folder
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


def is_alive(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # a zombie has none
    except OSError:
        return False
