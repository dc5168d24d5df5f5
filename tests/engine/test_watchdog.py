"""Code that holds up the event loop is named, once, and code that only waits is not."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_store import MemoryStore

from proctor.api.options import RunOptions
from proctor.api.prepare import prepare
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.task import Task
from proctor.engine import watchdog
from proctor.engine.evaluate import evaluate
from proctor.engine.progress import Progress

LOOKED = threading.Event()
"""Set when the watchdog has found the loop held up, and looked by what."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    find = watchdog._culprit

    def find_and_note(thread: int) -> Any:
        found = find(thread)
        LOOKED.set()
        return found

    LOOKED.clear()
    monkeypatch.setattr(watchdog, "_culprit", find_and_note)
    monkeypatch.setattr(watchdog, "BLOCKED_SECONDS", 0.2)
    monkeypatch.setattr(watchdog, "INTERVAL_SECONDS", 0.05)


def until_looked() -> Iterator[None]:
    """Yield until the watchdog has looked, once at least: a busy machine may stop its thread for a while."""
    for _ in range(50):
        yield
        if LOOKED.is_set():
            return


async def sleeps() -> None:
    for _ in until_looked():
        time.sleep(0.4)  # noqa: ASYNC251 - that is the mistake


async def starts_a_program() -> None:
    for _ in until_looked():
        subprocess.run(["sleep", "0.4"], check=True)  # noqa: ASYNC221


async def computes() -> None:
    for _ in until_looked():
        until = time.monotonic() + 0.4
        while time.monotonic() < until:
            sum(range(1000))


async def in_a_task_of_its_own() -> None:
    await asyncio.gather(sleeps(), asyncio.sleep(0))


async def only_waits() -> None:
    await asyncio.sleep(0.4)


async def in_a_thread() -> None:
    await asyncio.to_thread(time.sleep, 0.4)


async def told_of(work: Callable[[], Awaitable[None]], times: int = 1) -> list[str]:
    told: list[Sentence] = []
    with watchdog.watched_loop(told.append):
        for _ in range(times):
            await asyncio.gather(work())  # as a task, as in a run
            await asyncio.sleep(0.1)
    return [str(sentence) for sentence in told]


@pytest.mark.parametrize(
    ("work", "name"),
    [
        (sleeps, "sleeps"),
        (starts_a_program, "starts_a_program"),
        (computes, "computes"),
        (in_a_task_of_its_own, "sleeps"),
    ],
)
async def test_what_holds_up_the_loop_is_named_with_its_place(work: Callable[[], Awaitable[None]], name: str) -> None:
    (told,) = await told_of(work)
    assert told.startswith(f"'{name}' (test_watchdog.py:")
    assert "plain 'def'" in told


@pytest.mark.parametrize("work", [only_waits, in_a_thread])
async def test_what_waits_as_it_should_is_not_named(work: Callable[[], Awaitable[None]]) -> None:
    assert await told_of(work) == []


def plain() -> None:
    for _ in until_looked():
        time.sleep(0.4)


async def test_a_plain_function_that_a_library_calls_in_the_loop_is_not_called_async(tmp_path: Path) -> None:
    path = tmp_path / "site-packages" / "calls.py"
    path.parent.mkdir()
    path.write_text("async def calls():\n    plain()\n")
    space: dict[str, Any] = {"plain": plain}
    exec(compile(path.read_text(), path, "exec"), space)
    (told,) = await told_of(space["calls"])
    assert told.startswith("'plain' (test_watchdog.py:")
    assert "is async" not in told
    assert "'async def'" in told


async def test_code_without_a_file_is_nobodys() -> None:
    space: dict[str, Any] = {"until_looked": until_looked, "time": time}
    exec("async def made():\n    for _ in until_looked():\n        time.sleep(0.4)\n", space)
    assert await told_of(space["made"]) == []
    assert LOOKED.is_set()


@pytest.mark.parametrize("folder", ["lib/python3.11/site-packages", "mine"])
async def test_a_library_that_is_busy_on_its_own_is_not_named(folder: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "busy.py"
    path.parent.mkdir(parents=True)
    path.write_text("import time\n\nasync def imports_much():\n    for _ in until_looked():\n        time.sleep(0.4)\n")
    space: dict[str, Any] = {"until_looked": until_looked}
    exec(compile(path.read_text(), path, "exec"), space)
    assert len(await told_of(space["imports_much"])) == (folder == "mine")
    assert LOOKED.is_set()


async def test_it_is_said_once() -> None:
    assert len(await told_of(sleeps, times=3)) == 1


async def test_a_run_goes_on_and_keeps_the_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def blocks(question: str) -> str:
        for _ in until_looked():
            time.sleep(0.3)  # noqa: ASYNC251
        return question

    samples = [Sample.ask(str(n), str(n), target=str(n)) for n in range(4)]
    store = MemoryStore()
    task = Task(name="t", samples=samples, scorers=["exact"])
    progress = Progress()
    job = prepare(task, RunOptions(agent=blocks, store=store, run_id="r")).job
    record = await evaluate(job, store, progress, asyncio.Event())
    assert (record.state, store.outcomes("r")) == ("finished", {"scored": 4})
    assert "blocks' (test_watchdog.py" in str(record.warnings[0])
    assert progress.status.warnings == list(record.warnings)
    assert "blocks' (test_watchdog.py" in caplog.text
    job = prepare(task, RunOptions(agent=blocks, store=store, run_id="r")).job
    assert (await evaluate(job, store, Progress(), asyncio.Event())).warnings == record.warnings
