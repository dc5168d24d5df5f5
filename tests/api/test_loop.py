"""The synchronous door: signals while its loop ends."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from proctor import evaluate
from proctor.api.loop import run_in_loop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")


def interrupt(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_as_the_loop_ends_does_not_lose_the_result() -> None:
    async def interrupted(stop: asyncio.Event) -> int:
        task = asyncio.current_task()
        assert task is not None
        task.add_done_callback(interrupt)
        return 5

    before = signal.getsignal(signal.SIGINT)
    assert run_in_loop(interrupted) == 5
    assert signal.getsignal(signal.SIGINT) is before


class Raised(Exception):
    pass


async def raising(_: asyncio.Event) -> None:
    raise Raised


def chain_of(error: BaseException) -> list[type[BaseException]]:
    """The error and what it was raised from, or while handling."""
    found: list[type[BaseException]] = []
    one: BaseException | None = error
    while one is not None:
        found.append(type(one))
        one = one.__cause__ or one.__context__
    return found


def test_an_error_comes_out_of_the_plain_door_alone() -> None:
    with pytest.raises(Raised) as raised:
        run_in_loop(raising)
    assert chain_of(raised.value) == [Raised]


def test_an_error_comes_alone_where_a_loop_is_running() -> None:
    async def notebook() -> None:
        run_in_loop(raising)

    with pytest.raises(Raised) as raised:
        asyncio.run(notebook())
    assert chain_of(raised.value) == [Raised]


LOOPS = """
import asyncio
from proctor import Sample, Task

def kinds() -> Task:
    return Task(name="kinds", samples=[Sample.ask("a", "Which loop?", target="")], scorers=["exact"])

async def loop(question: str) -> str:
    return type(asyncio.get_running_loop()).__module__
"""


def test_an_agent_runs_in_the_same_kind_of_loop_in_one_process_and_in_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loops.py").write_text(LOOPS, encoding="utf-8")
    runs = [evaluate("./loops.py:kinds", agent="./loops.py:loop", workers=workers) for workers in (1, 2)]
    one, several = (next(iter(run.trials())).trajectory.answer for run in runs)
    assert one == several
