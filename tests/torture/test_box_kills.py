"""A run whose boxes are open when it is killed: nothing of them is left, and no sample is lost or counted twice."""

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from machine_image import BACKENDS, import_image, skip_without
from stage import Stage, assert_sound, ended, wait_until

from proctor_benchmarks.boxes.engines import LABEL

SLEEP = "4755"  # seconds of what is left running in each box
WORKING = f"""
import json, re

def answer(messages, tools):
    number = int(re.search(r"What is ([0-9]+)", messages[0]["content"])[1])
    if messages[-1]["role"] == "tool":
        said = messages[-1]["content"].strip()
        return said if number % 4 else "no idea"
    command = f"setsid sleep {SLEEP} > /dev/null 2>&1 & echo {{number}} > n.txt; sleep 0.2; cat n.txt"
    call = {{"name": "run", "arguments": json.dumps({{"command": command}})}}
    return {{"role": "assistant", "content": None, "tool_calls": [{{"id": "1", "type": "function", "function": call}}]}}
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    with TemporaryDirectory() as folder:  # that of a test is closed to the users of boxes
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(name, marks=pytest.mark.fault(f"kill -9 while boxes of {name} are open", "SIGKILL at 12 random moments (2 in the short form), 200 boxes (12)", "no process, folder, group or container is left; every sample once"))
        for name in BACKENDS
    ],
)  # fmt: skip
def test_a_killed_run_leaves_no_boxes(backend: str, stage: Stage, temporary: Path, long: bool) -> None:
    skip_without(backend)
    stage.samples = (200 if backend == "bubblewrap" else 40) if long else 12
    stage.script("agents.py", WORKING)
    stage.environment["TMPDIR"] = str(temporary)
    argument = backend if backend == "bubblewrap" else import_image(backend)
    chosen = [] if backend == "bubblewrap" else ["--environment-set", f"backend={backend}"]
    where = ["--environment", f"container:{argument}", *chosen]
    command = stage.command("./agents.py:answer", *where, "--concurrency", "4")
    draw, killed = random.Random(7), []
    for _ in range(12 if long else 2):
        process = stage.start(command)
        wait_until(lambda process=process: open_doors(temporary, process.pid) or process.poll() is not None)  # type: ignore[misc]
        time.sleep(draw.random() * 2)
        process.kill()
        process.communicate()
        killed.append(process.pid)
    done = ended(stage.start(command), seconds=600)
    assert done.code == 0, done.error
    assert_sound(stage)
    wait_until(lambda: f"sleep {SLEEP}" not in listed("ps", "axwwo", "args"))
    assert list(temporary.iterdir()) == []
    if backend == "bubblewrap":
        groups = [path for pid in killed for path in Path("/sys/fs/cgroup").rglob(f"proctor-box-{pid}-*")]
        assert groups == []
    else:
        assert not {f"proctor-{pid}" for pid in killed} & {name.rpartition("-")[0] for name in containers(backend)}
    assert "proctor" not in Path("/proc/self/mounts").read_text("utf-8").replace(str(Path.cwd()), "")


def open_doors(temporary: Path, process: int) -> bool:
    return any(temporary.glob(f"proctor-box-*-{process}-*"))


def containers(engine: str) -> list[str]:
    return listed(engine, "ps", "-a", "--filter", f"label={LABEL}", "--format", "{{.Names}}").split()


def listed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
