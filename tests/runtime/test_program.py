"""Programs that are spoken to in lines, cancelled at the worst moment."""

import ast
import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proctor.runtime.alive import is_alive
from proctor.runtime.program import RunningProgram, start_whole, state_of_process

PACKAGES = Path(__file__).parents[2] / "packages"
SECONDS = 60
LEAVES_ONE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1], "w") as noted:
    noted.write(f"{child.pid} ")
input()
"""


async def test_a_program_whose_start_is_cancelled_is_killed_with_what_it_started(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    starting = asyncio.create_task(RunningProgram.start([sys.executable, "-c", LEAVES_ONE, str(noted)]))
    pid = await _cancelled_half_way(starting, noted)
    assert await _ends(pid)


async def test_a_process_whose_start_is_cancelled_is_killed_with_what_it_started(tmp_path: Path) -> None:
    noted, pipe = tmp_path / "pid", asyncio.subprocess.PIPE
    command = [sys.executable, "-c", LEAVES_ONE, str(noted)]
    process = asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, start_new_session=True)
    pid = await _cancelled_half_way(asyncio.create_task(start_whole(process, state_of_process)), noted)
    assert await _ends(pid)


async def test_a_process_that_cannot_be_started_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        await RunningProgram.start(["no-such-program-here"])


async def _cancelled_half_way(starting: asyncio.Task[Any], noted: Path) -> int:
    """Cancel a start when the program runs and asyncio does not know yet, and return the process that it started."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    until = time.monotonic() + SECONDS
    while not (noted.exists() and noted.read_text().endswith(" ")):  # nothing else may run meanwhile
        assert time.monotonic() < until
        time.sleep(0.01)  # noqa: ASYNC251 - on purpose
    starting.cancel()
    done, _ = await asyncio.wait([starting], timeout=SECONDS)
    assert done
    assert starting.cancelled()
    return int(noted.read_text())


async def _ends(pid: int) -> bool:
    for _ in range(SECONDS * 50):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


def test_what_leads_a_group_of_its_own_is_started_whole() -> None:
    for file in PACKAGES.glob("*/src/**/*.py"):
        text = file.read_text(encoding="utf-8")
        if "subprocess_exec(" not in text:
            continue
        awaited = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Await)]
        groups = [
            call
            for call in awaited
            if isinstance(call, ast.Call) and any(word.arg == "start_new_session" for word in call.keywords)
        ]
        assert not groups, f"{file}: cancelled, asyncio waits for all that the program started; use start_whole"
