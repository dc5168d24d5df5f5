"""Worker processes that die, hang, flood or lie: said as such, replaced, and nothing left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from stage import RUN, Stage, assert_sound, wait_until

import proctor
from proctor.core.errors import EnvironmentFailed
from proctor.isolation import WorkerLimits, Workers

PROGRAM = Path(__file__).parents[1] / "isolation" / "worker_program_of_tests.py"
LIMITS = WorkerLimits(seconds=1.0, memory_bytes=200 << 20, printed_bytes=1 << 20, output_bytes=1 << 20)


class Fault(NamedTuple):
    """A row: which function of the program is called with what, as which kind that is recorded, and a word of the message."""

    name: str
    function: str
    kind: str
    said: str
    arguments: dict[str, int] = {}  # noqa: RUF012 - never changed


FAULTS = [
    Fault("worker that is killed", "is_killed", "worker_killed", "SIGKILL"),
    Fault("worker that crashes", "crashes", "worker_killed", "SIGSEGV"),
    Fault("worker that exits", "exits", "worker_killed", "exit code 3). It printed: no key"),
    Fault("worker that hangs in Python", "hangs_in_python", "worker_hung", "within 1 seconds"),
    Fault("worker that hangs in a pattern", "hangs_in_a_pattern", "worker_hung", "within 1 seconds"),
    Fault("worker that hangs in a number", "hangs_in_a_number", "worker_hung", "within 1 seconds"),
    Fault("worker that sleeps and ignores SIGTERM", "sleeps", "worker_hung", "within 1 seconds"),
    Fault("worker that uses all memory", "uses_all_memory", "worker_memory", "more than 200 MB"),
    Fault("worker that floods standard output", "floods_output", "worker_output", "printed more than"),
    Fault("worker that floods standard error", "floods_errors", "worker_output", "printed more than"),
    Fault("worker that writes garbage to its pipe", "garbage", "worker_output", "no reply"),
    Fault("worker that writes garbage without end", "garbage_without_end", "worker_output", "no reply"),
    Fault("worker that closes its pipes", "closes_its_pipes", "worker_killed", "exit code 1"),
    Fault("worker that closes its pipes and sleeps", "closes_its_pipes_and_sleeps", "worker_killed", "closed its pipe"),
    Fault("worker with a result of 50 MB", "large", "worker_output", "52428", {"megabytes": 50}),
    Fault("worker that leaves children and is killed", "leaves_children_behind_and_is_killed", "worker_killed", "SIGKILL"),
    Fault("worker that leaves children and hangs", "leaves_children_behind_and_hangs", "worker_hung", "within 1 seconds"),
]  # fmt: skip


def processes_of(mark: str) -> list[int]:
    """All processes, wherever they went, that have the mark in their environment."""
    marked = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                marked.append(int(entry.name))
        except OSError:
            continue
    return marked


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary folders; none is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@asynccontextmanager
async def marked_workers(
    size: int = 1, *, confined: bool = True, limits: WorkerLimits = LIMITS
) -> AsyncIterator[tuple[Workers, str]]:
    """Workers whose processes can be found; none is left at the end."""
    mark = uuid.uuid4().hex
    workers = Workers(PROGRAM, size=size, limits=limits, variables={"MARK": mark}, confined=confined)
    async with workers:
        yield workers, mark
        assert len(processes_of(mark)) <= 3 * size + 3, "a worker that ended was not removed"
    wait_until(lambda: not processes_of(mark), seconds=20)


def row(fault: Fault) -> object:
    expected = f"environment_failed ({fault.kind}); replaced; no process left"
    return pytest.param(
        fault, marks=pytest.mark.fault(fault.name, "a worker process", expected), id=fault.name.replace(" ", "-")
    )


@pytest.mark.parametrize("fault", [row(fault) for fault in FAULTS])
async def test_a_worker_that_misbehaves_fails_its_call_and_no_other(fault: Fault, temporary: Path) -> None:
    limits = LIMITS if fault.kind == "worker_hung" else msgspec.structs.replace(LIMITS, seconds=30.0)
    async with marked_workers(limits=limits) as (workers, _):
        idle = await workers.open("counter", start=1)
        assert await idle.call("add", by=1) == 2
        started = time.monotonic()
        with pytest.raises(EnvironmentFailed) as failed:
            await workers.run(fault.function, **fault.arguments)
        assert time.monotonic() - started < 20
        assert failed.value.kind == fault.kind
        assert fault.said in str(failed.value)
        assert len(str(failed.value)) < 5_000
        assert await idle.call("add", by=1) == 3
        assert await workers.run("echo", a=1) == {"a": 1}


@pytest.mark.parametrize("function", ["leaves_children_behind_and_is_killed", "leaves_children_behind_and_hangs"])
@pytest.mark.fault("worker without namespaces that leaves children", "a worker process", "no process left")
async def test_without_namespaces_nothing_is_left_either(function: str, temporary: Path) -> None:
    async with marked_workers(confined=False) as (workers, mark):
        with pytest.raises(EnvironmentFailed):
            await workers.run(function)
        wait_until(lambda: not processes_of(mark), seconds=20)
        assert await workers.run("echo") == {}


@pytest.mark.fault(
    "object whose worker dies under it", "a worker process", "the object is lost; the others are made again"
)
async def test_the_object_whose_call_was_under_way_is_lost_and_others_are_made_again(temporary: Path) -> None:
    async with marked_workers() as (workers, _):
        one, other, clock = [await workers.open("counter", start=n) for n in (1, 2, 3)]
        await other.call("add", by=40)
        await clock.call("looks_at_the_clock")
        with pytest.raises(EnvironmentFailed, match="SIGKILL"):
            await one.call("does", what="is_killed")
        for _ in range(2):
            with pytest.raises(EnvironmentFailed) as again:
                await one.call("add", by=1)
            assert again.value.kind == "worker_killed"
        assert await other.call("add", by=0) == 42
        with pytest.raises(EnvironmentFailed, match="came out otherwise"):
            await clock.call("add", by=0)
        assert await other.call("add", by=0) == 42


@pytest.mark.fault("worker that is killed while it is idle", "SIGKILL", "nothing is noticed")
async def test_a_worker_that_is_killed_while_idle_is_replaced_unnoticed(temporary: Path) -> None:
    async with marked_workers() as (workers, mark):
        instances = [await workers.open("counter", start=n) for n in range(5)]
        for pid in processes_of(mark):
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert [await instance.call("add", by=1) for instance in instances] == [1, 2, 3, 4, 5]


@pytest.mark.fault(
    "worker that writes to its pipe when it is not asked", "a worker process", "replaced before the next call"
)
async def test_a_worker_that_writes_when_it_is_not_asked_is_replaced(temporary: Path) -> None:
    async with marked_workers() as (workers, _):
        await workers.run("garbage_later")
        await asyncio.sleep(0.3)
        assert await workers.run("echo") == {}


@pytest.mark.fault(
    "call in a worker that is cancelled", "a time limit", "given up; the worker is replaced if it does not answer soon"
)
async def test_a_call_that_is_cancelled_keeps_a_worker_that_answers_soon(temporary: Path) -> None:
    async with marked_workers() as (workers, _):
        pid = await workers.run("pid")
        for function, arguments in (("number_of_lines", {"text": "", "seconds": 0.3}), ("sleeps", {})):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await workers.run(function, **arguments)
            if function == "number_of_lines":
                assert await workers.run("pid") == pid
        instance = await workers.open("counter", start=1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await instance.call("does", what="sleeps")
        with pytest.raises(EnvironmentFailed, match="given up"):
            await instance.call("add", by=1)
        assert await workers.run("echo") == {}


ACTING = """
import re
from contextlib import asynccontextmanager
from pathlib import Path
from proctor import Sample, Task
from proctor.core.sample import Message, ToolCall, ToolResult
from proctor.core.trajectory import Step
from proctor.isolation import WorkerLimits, Workers

class Counters:
    def __init__(self):
        self.workers = Workers(Path({program!r}), limits=WorkerLimits(seconds=1), variables={{"MARK": {mark!r}}})
    async def __aenter__(self):
        await self.workers.__aenter__()
        return self
    async def __aexit__(self, *raised):
        await self.workers.__aexit__(*raised)
    def __call__(self, sample):
        return Counter(self.workers)

class Counter:
    def __init__(self, workers):
        self.workers = workers
    async def __aenter__(self):
        self.instance = await self.workers.open("counter", start=0)
        return self
    async def __aexit__(self, *raised):
        await self.instance.close()
    async def call(self, call):
        return ToolResult(name=call.name, content=str(await self.instance.call(call.name, **call.arguments)))
    def state(self):
        return {{}}

class Acts:
    name, tools = "acts", "native"
    @asynccontextmanager
    async def open(self, sample, environment):
        self = Acts()
        self.number, self.environment = int(sample.id[1:]), environment
        yield self
    async def send(self, turn):
        for by in (self.number - 1, 1):
            result = await self.environment.call(ToolCall(name="add", arguments={{"by": by}}))
            if self.number % 10 == 7:
                await self.environment.call(ToolCall(name="does", arguments={{"what": {function!r}}}))
        return [Step(message=Message.of("assistant", result.content if self.number % 4 else "no idea"))]

def questions(count):
    samples = lambda: (Sample.ask(f"s{{n}}", f"What is {{n}}?", target=str(n)) for n in range(count))
    return Task(name="questions", samples=samples, scorers=["exact"], environment=Counters())

agent = Acts()
"""


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["one process", "two processes"])
@pytest.mark.parametrize("function", ["is_killed", "sleeps"])
@pytest.mark.fault(
    "worker of a run that dies or hangs",
    "a worker process, in a run of 20 samples",
    "environment_failed for that sample only; no process left",
)
def test_a_worker_that_fails_costs_a_run_its_sample_only(stage: Stage, function: str, more: tuple[str, ...]) -> None:
    mark = uuid.uuid4().hex
    stage.script("questions.py", ACTING.format(program=str(PROGRAM), mark=mark, function=function))
    done = stage.run_alone(stage.command("./questions.py:agent", "--concurrency", "8", *more))
    assert done.code == 3, done.error  # a tenth of the samples says nothing
    assert_sound(stage, {n: "environment_failed" for n in range(stage.samples) if n % 10 == 7})
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        kinds = {trial.failure.kind for trial in store.trials(RUN) if trial.failure is not None}
    assert kinds == {"worker_killed" if function == "is_killed" else "worker_hung"}
    wait_until(lambda: not processes_of(mark), seconds=20)


@pytest.mark.fault(
    "kill -9 of a run whose worker has a call under way", "SIGKILL", "no process left; resumed, all are scored once"
)
def test_a_run_that_is_killed_leaves_no_worker_and_is_resumed(stage: Stage) -> None:
    mark = uuid.uuid4().hex
    stage.script(
        "questions.py",
        ACTING.format(program=str(PROGRAM), mark=mark, function="sleeps").replace("seconds=1", "seconds=600"),
    )
    run = stage.start(stage.command("./questions.py:agent", "--concurrency", "8"))
    wait_until(lambda: len(processes_of(mark)) >= 3)
    time.sleep(0.5)
    run.kill()
    run.communicate()
    wait_until(lambda: not processes_of(mark), seconds=20)
    stage.script("questions.py", ACTING.format(program=str(PROGRAM), mark=mark, function="pid"))
    done = stage.run_alone(stage.go_on("--accept-changes"))
    assert done.code == 0, done.error
    assert_sound(stage)


PARENT = """
import asyncio, signal, sys
from pathlib import Path
from proctor.isolation import Workers

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a shell

async def main():
    async with Workers(Path(sys.argv[1]), size=2, variables={"MARK": sys.argv[2]}, confined=sys.argv[3] == "1") as workers:
        await workers.run("leaves_children_behind")
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(workers.run("sleeps"))
            await asyncio.sleep(0.3)
            print("ready", flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("confined", [True, False])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.fault(
    "parent of workers that ends", "SIGKILL, SIGINT, SIGTERM while calls are under way", "no process, no folder left"
)
def test_no_worker_outlives_its_parent(number: signal.Signals, confined: bool, tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    folder = tmp_path / "temporary"
    folder.mkdir()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(PROGRAM), mark, str(int(confined))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    with parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        assert len(processes_of(mark)) >= 4
        parent.send_signal(number)
        parent.wait(10)
    wait_until(lambda: not processes_of(mark), seconds=20)
    wait_until(lambda: not list(folder.iterdir()), seconds=20)
