"""Shards of one run that are killed at random moments, in one PostgreSQL store and in files that are merged: each trial counts once."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest
from postgres_server import PostgresServer
from stage import RUN, Stage, assert_sound, ended

from proctor.stores import open_store
from proctor_adapters.postgresql import PostgresStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")

SHARDS, AT_ONCE = 3, 4
COUNTED = """
import asyncio, os, re
calls = os.open("calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

async def answer(question):
    number = int(re.search(r"[0-9]+", question)[0])
    os.write(calls, f"{number}\\n".encode())
    await asyncio.sleep(0.02)
    return str(number) if number % 4 else "no idea"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    started = PostgresServer()  # a killed process loses nothing that the system has
    yield started
    started.stop()


class Shards:
    """The shards of a run, each a command in a process of its own, of which some are killed."""

    def __init__(self, stage: Stage, samples: int) -> None:
        self.stage = stage
        stage.samples = samples
        stage.script("agents.py", COUNTED)
        self.processes: dict[int, subprocess.Popen[str]] = {}
        self.kills = 0

    def start(self, number: int) -> None:
        words = ["--shard", f"{number}/{SHARDS}", "--concurrency", str(AT_ONCE)]
        self.processes[number] = self.stage.start(self.stage.command("./agents.py:answer", *words, *self.store(number)))

    def store(self, number: int) -> list[str]:
        return []

    def calls(self) -> Counter[int]:
        file = self.stage.folder / "calls.txt"
        return Counter(map(int, file.read_text(encoding="ascii").split())) if file.exists() else Counter()

    def kill_at_random(self, kills: int, draw: random.Random) -> Iterator[None]:
        """Kill one shard after another at random moments, each of which begins again; between the kills the caller looks."""
        for number in range(1, SHARDS + 1):
            self.start(number)
        for _ in range(kills):
            time.sleep(draw.random() * 1.5)
            number = draw.randrange(SHARDS) + 1
            if self.processes[number].poll() is None:
                os.killpg(self.processes[number].pid, signal.SIGKILL)
                self.kills += 1
            self.processes[number].communicate()
            yield
            self.start(number)

    def finish(self) -> None:
        """Start every shard until it has ended: one that meets what a killed one has left may be refused for a moment."""
        for number, process in self.processes.items():
            done = ended(process)
            assert done.code in (0, 3), done.error
            assert "Traceback" not in done.error, (number, done.error)
        assert self.calls().total() - self.stage.samples <= self.kills * AT_ONCE


class ShardsOfOneStore(Shards):
    """Those that write one run in PostgreSQL."""

    def __init__(self, stage: Stage, samples: int, address: str) -> None:
        super().__init__(stage, samples)
        stage.environment["PROCTOR_STORE"] = address


class ShardsInFiles(Shards):
    """Those that have a file each."""

    def store(self, number: int) -> list[str]:
        return ["--store", f"shard{number}.db"]


@pytest.mark.fault(
    "shards of one PostgreSQL run that are killed at random",
    "SIGKILL of one of three, 30 times (once in the short form), from start to end",
    "each sample accepted once, nothing finished is lost or asked again",
)
def test_killed_shards_of_one_store_lose_and_double_nothing(stage: Stage, server: PostgresServer, long: bool) -> None:
    address = server.database()
    shards = ShardsOfOneStore(stage, 3_000 if long else 90, address)
    before: set[tuple[str, int]] = set()
    calls_when_finished: dict[int, int] = {}
    with closing(PostgresStore(address)) as store:
        for _ in shards.kill_at_random(30 if long else 1, random.Random(7)):
            if [record.id for record in store.runs()] != [RUN]:
                continue
            finished = store.finished(RUN)
            calls = shards.calls()  # after that: until it is finished, a sample may be asked again
            assert before <= finished
            assert all(calls[number] == count for number, count in calls_when_finished.items())
            before = finished
            calls_when_finished = {int(id[1:]): calls[int(id[1:])] for id, _ in finished}
        shards.finish()
        assert store.outcomes(RUN) == {"scored": stage.samples}
        assert sum(1 for _ in store.history(RUN)) == 2 * stage.samples
        assert store.run(RUN).state == "finished"
        assert store.writer(RUN) is None


@pytest.mark.fault(
    "shards in files that are killed at random, and their merging",
    "SIGKILL of one of three, 10 times, then of `runs merge`, 10 times",
    "half a merge is never read; merged again each sample is there once",
)
def test_killed_shards_in_files_are_merged_whole(stage: Stage, long: bool) -> None:
    shards, draw = ShardsInFiles(stage, 1_000 if long else 90), random.Random(3)
    for _ in shards.kill_at_random(10 if long else 1, draw):
        pass
    shards.finish()
    merge = ["runs", "merge", *(f"shard{number}.db" for number in range(1, SHARDS + 1)), "--into", str(stage.store)]
    started = time.monotonic()
    assert stage.run_alone([*merge[:-1], "once.db"]).code == 0
    seconds = time.monotonic() - started
    for _ in range(10 if long else 1):
        process = stage.start(merge)
        time.sleep(seconds * (0.5 + draw.random() / 2))
        process.kill()
        process.communicate()
        if stage.store.exists():
            with closing(open_store(str(stage.store))) as store:
                states = [record.state for record in store.runs()]
            if states == ["copying"]:
                assert "only half there" in stage.run_alone(["show", RUN]).error
            elif states:
                stage.store.unlink()  # it was quicker
    done = stage.run_alone(merge)
    assert done.code == 0, done.error
    assert_sound(stage)
