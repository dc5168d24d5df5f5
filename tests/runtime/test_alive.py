"""A process that ended does not run, even where nobody asked for its end."""

import os
import subprocess
import sys

from proctor.runtime.alive import is_alive


def test_a_process_whose_parent_never_asks_for_its_end_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(process.pid)
    assert process.stdin is not None
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and still has its number
    assert not is_alive(process.pid)
    process.wait()
    assert not is_alive(process.pid)
