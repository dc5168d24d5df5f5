"""The synchronous door: signals while its loop ends."""

import asyncio
import os
import signal
import sys

import pytest

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
