"""A run that is killed, stopped or paused at any moment: nothing that was finished is lost, repeated or counted twice."""

import asyncio
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest
from endpoint import Answer, Request, never
from stage import RUN, Model, Stage, assert_sound, ended, served, wait_until

from proctor.stores import open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and rights as POSIX has them")

AT_ONCE = 8
COUNTED = """
import asyncio, os, re
calls = os.open("calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

async def answer(question):
    number = int(re.search(r"[0-9]+", question)[0])
    os.write(calls, f"{number}\\n".encode())
    await asyncio.sleep(0.004)
    return str(number) if number % 4 else "no idea"
"""


class Killed:
    """A stage on which the run is killed again and again, with what was finished and called for before each kill."""

    def __init__(self, stage: Stage, samples: int) -> None:
        self.stage = stage
        self.samples = stage.samples = samples
        stage.script("agents.py", COUNTED)
        self.calls_when_finished: dict[int, int] = {}

    def start(self) -> "subprocess.Popen[str]":
        return self.stage.start(self.stage.command("./agents.py:answer", "--concurrency", str(AT_ONCE)))

    def calls(self) -> Counter[int]:
        file = self.stage.folder / "calls.txt"
        return Counter(map(int, file.read_text(encoding="ascii").split())) if file.exists() else Counter()

    def look(self) -> None:
        """What is finished stays so, and is not called for again."""
        if not self.stage.store.exists():
            return
        calls = self.calls()
        with closing(open_store(str(self.stage.store))) as store:
            known = [record.id for record in store.runs()]
            finished = {int(id[1:]) for id, _ in store.finished(RUN)} if RUN in known else set()
        assert finished >= set(self.calls_when_finished)
        assert all(calls[number] == times for number, times in self.calls_when_finished.items())
        assert finished <= set(calls)
        self.calls_when_finished = {number: calls[number] for number in finished}

    def finish(self, kills: int) -> None:
        """Let the run come to its end."""
        done = ended(self.start())
        assert done.code == 0, done.error
        self.look()
        assert_sound(self.stage)
        assert self.calls().total() - self.samples <= kills * AT_ONCE


@pytest.mark.fault(
    "kill -9 at random moments of a long run",
    "SIGKILL, 100 times (4 in the short form)",
    "only what was in flight is run again; all scored once",
)
def test_a_long_run_that_is_killed_again_and_again_ends_right(stage: Stage, long: bool) -> None:
    kills = 100 if long else 4
    killed, draw = Killed(stage, 40 * kills), random.Random(7)
    for _ in range(kills):
        process = killed.start()
        wanted = killed.calls().total() + draw.randrange(0, 40)
        while process.poll() is None and killed.calls().total() <= wanted:
            time.sleep(0.002)
        time.sleep(draw.random() * 0.01)
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
        killed.look()
    killed.finish(kills)


@pytest.mark.fault(
    "kill -9 at random moments of short runs",
    "SIGKILL, 100 times (3 in the short form)",
    "only what was in flight is run again; all scored once",
)
def test_short_runs_that_are_killed_anywhere_between_start_and_end_end_right(stage: Stage, long: bool) -> None:
    draw = random.Random(11)
    started = time.monotonic()
    Killed(stage, 10).finish(0)
    seconds = time.monotonic() - started
    for _ in range(100 if long else 3):
        for path in (*stage.folder.glob("runs.db*"), stage.folder / "calls.txt"):
            path.unlink()
        killed = Killed(stage, 10)
        process = killed.start()
        time.sleep(draw.random() * seconds * 1.1)
        process.kill()
        process.communicate()
        killed.look()
        killed.finish(1)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.fault(f"{number.name} in the middle of a run", "a signal", "exit 130 after what was in flight; goes on where it was"), id=number.name)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    ],
)  # fmt: skip
def test_a_signal_ends_a_run_after_what_is_in_flight(stage: Stage, number: signal.Signals) -> None:
    killed = Killed(stage, 400)
    process = killed.start()
    wait_until(lambda: killed.calls().total() >= 50)
    process.send_signal(number)
    stopped = ended(process)
    assert stopped.code == 130
    assert f"proctor run --run {RUN}" in stopped.error
    killed.look()
    assert set(killed.calls()) == set(killed.calls_when_finished)
    killed.finish(0)


@pytest.mark.fault(
    "SIGTERM while the first sample hangs",
    "a signal, and a server that never answers",
    "exit 130 within seconds; goes on where it was",
)
def test_a_signal_ends_a_first_sample_that_hangs(stage: Stage) -> None:
    model = Model(never)
    with served(model) as endpoint:
        process = stage.start(stage.model(endpoint.url))
        wait_until(lambda: model.asked.total() > 0)
        process.send_signal(signal.SIGTERM)
        stopped = ended(process, seconds=60)
        assert stopped.code == 130
        assert f"proctor run --run {RUN}" in stopped.error
        model.fault = None
        assert stage.run(stage.go_on()).code == 0
    assert_sound(stage)


@pytest.mark.fault("second Ctrl-C", "two signals, and agents that hang", "exit 130 at once; goes on where it was")
def test_a_second_signal_ends_a_run_at_once(stage: Stage) -> None:
    model = Model(never, lambda n, time: n >= stage.samples // 2)
    with served(model) as endpoint:
        process = stage.start(stage.model(endpoint.url))
        wait_until(lambda: model.asked.total() >= stage.samples // 2 + 3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        stopped = ended(process, seconds=60)
        assert time.monotonic() - sent < 25
        assert stopped.code == 130, stopped
        assert "Traceback" not in stopped.error
        assert f"proctor run --run {RUN}" in stopped.error
        model.fault = None
        assert stage.run(stage.go_on()).code == 0
    assert_sound(stage)
    assert all(model.asked[n] == 1 for n in range(stage.samples // 2))


@pytest.mark.fault(
    "process that is paused for longer than the time limit", "SIGSTOP, then SIGCONT", "all scored; nobody is blamed"
)
@pytest.mark.parametrize("agent", ["function", "model"])
def test_a_pause_longer_than_the_time_limit_is_nobodys_fault(stage: Stage, agent: str) -> None:
    stage.samples = 100
    stage.script("agents.py", COUNTED.replace("0.004", "0.2"))
    model = Model()
    with served(slow(model)) as endpoint:
        command = stage.model(endpoint.url, timeout=2) if agent == "model" else stage.command("./agents.py:answer")
        process = stage.start([*command, "--time-limit", "2"])
        wait_until(lambda: model.asked.total() >= 20 or (stage.folder / "calls.txt").exists())
        time.sleep(0.4)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(3.5)
        os.kill(process.pid, signal.SIGCONT)
        done = ended(process)
    assert done.code == 0, done.error
    assert_sound(stage)


def slow(model: Model) -> Answer:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        await model(request, writer)

    return answer


@pytest.mark.fault("process that is paused", "SIGSTOP for seconds, then SIGCONT", "all scored; nobody is blamed for it")
def test_a_pause_is_nobodys_fault(stage: Stage) -> None:
    killed = Killed(stage, 400)
    process = killed.start()
    wait_until(lambda: killed.calls().total() >= 50)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(1.3)
    os.kill(process.pid, signal.SIGCONT)
    done = ended(process)
    assert done.code == 0, done.error
    assert not re.search("held up", done.error)
    killed.look()
    killed.finish(0)


@pytest.mark.fault("kill -9 while a run is copied", "SIGKILL", "half a copy is never read; copied again it is whole")
def test_half_a_copy_is_never_taken_for_a_run(stage: Stage) -> None:
    stage.samples = 3_000
    done = stage.run(stage.command("baseline:null"))
    assert done.code == 0, done.error
    process = stage.start(["runs", "copy", RUN, "--to", "copy.db"])
    copied = stage.folder / "copy.db"

    def count() -> int:
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{copied}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM trials").fetchone()[0])
        return 0

    wait_until(lambda: count() > 0)
    process.kill()
    process.communicate()
    if count() < stage.samples:
        assert "only half there" in stage.run(["show", RUN, "--store", "copy.db"]).error
        assert "only half there" in stage.run(["run", "--run", RUN, "--store", "copy.db"]).error
        again = stage.run(["runs", "copy", RUN, "--to", "copy.db"])
        assert again.code == 0, again.error
    assert count() == stage.samples
    assert stage.run(["show", RUN, "--store", "copy.db", "--json"]).out == stage.run(["show", RUN, "--json"]).out


BLOCKING = """
import os, re, time

def answer(question):
    with open("pids", "a") as pids:
        pids.write(f"{os.getpid()}\\n")
    time.sleep(float(open("seconds").read()))
    number = int(re.search(r"[0-9]+", question)[0])
    return str(number) if number % 4 else "no idea"

async def stuck(question):
    return answer(question)
"""


@pytest.mark.fault("worker that is killed from outside twice", "SIGKILL of each worker", "all scored; nobody is blamed")
def test_a_worker_that_is_killed_from_outside_twice_is_nobodys_fault(stage: Stage) -> None:
    stage.samples = 12
    stage.script("agents.py", BLOCKING)
    (stage.folder / "seconds").write_text("0.4", encoding="ascii")
    process = stage.start(stage.command("./agents.py:answer", "--workers", "2", "--concurrency", "2"))
    pids = stage.folder / "pids"
    killed: set[int] = set()
    while len(killed) < 3:
        wait_until(lambda: pids.exists() and bool(set(map(int, pids.read_text().split())) - killed))
        time.sleep(0.1)
        for pid in set(map(int, pids.read_text().split())) - killed:
            killed.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    done = ended(process)
    assert done.code == 0, done.error
    assert_sound(stage)


@pytest.mark.fault("kill -9 while workers block", "SIGKILL of the parent alone", "the workers end too")
def test_workers_end_with_their_parent(stage: Stage) -> None:
    stage.script("agents.py", BLOCKING)
    (stage.folder / "seconds").write_text("60", encoding="ascii")
    process = stage.start(stage.command("./agents.py:stuck", "--workers", "2"))
    pids = stage.folder / "pids"
    wait_until(pids.exists)
    process.kill()
    process.communicate()
    wait_until(lambda: not any(map(_lives, map(int, pids.read_text().split()))))


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
