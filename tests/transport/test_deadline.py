"""The time limit of an attempt keeps the promises of `asyncio.timeout`."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest

from proctor.transport.deadline import Deadline, alarms


async def test_time_that_is_up_is_a_time_out_and_the_task_goes_on() -> None:
    limit = Deadline(0.01)
    with pytest.raises(TimeoutError), limit:
        await asyncio.sleep(5)
    assert limit.expired()
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()
    await asyncio.sleep(0)


async def test_what_is_done_in_time_is_left_alone() -> None:
    with Deadline(0.02) as limit:
        await asyncio.sleep(0)
    await asyncio.sleep(0.04)
    assert not limit.expired()


async def test_a_cancellation_from_outside_stays_one() -> None:
    async def work() -> None:
        with Deadline(5):
            await asyncio.sleep(5)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_from_outside_wins_where_both_come() -> None:
    async def work() -> None:
        with Deadline(0.01):
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                await asyncio.sleep(5)  # is busy with its end when the second one comes

    task = asyncio.create_task(work())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_answer_given_in_spite_of_the_limit_counts() -> None:
    said = ""
    with Deadline(0.01) as limit:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        said = "Paris"
    assert (said, limit.expired()) == ("Paris", True)


async def test_an_error_of_its_own_is_no_time_out() -> None:
    with pytest.raises(ValueError, match="mine"), Deadline(5):
        raise ValueError("mine")


async def test_it_can_be_moved_and_stopped() -> None:
    with Deadline(0.02) as limit:
        limit.move(None)
        assert limit.when() is None
        await asyncio.sleep(0.05)
        limit.move(asyncio.get_running_loop().time())
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(5)
    assert limit.expired()
    limit.move(0.0)  # over: nothing happens


async def test_time_in_which_the_loop_did_not_run_is_not_charged() -> None:
    limit = Deadline(1.0)
    began = asyncio.get_running_loop().time()
    with limit:
        await asyncio.sleep(0)
        time.sleep(1.8)  # noqa: ASYNC251 - as a process that is stopped
        await asyncio.sleep(0.1)
        assert alarms().paused_since(began) == pytest.approx(1.3, abs=0.3)
        assert not limit.expired()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(5)
    assert limit.expired()


async def test_one_inside_the_other_ends_alone() -> None:
    with Deadline(5) as outer:
        with pytest.raises(TimeoutError), Deadline(0.01):
            await asyncio.sleep(5)
        await asyncio.sleep(0)
    assert not outer.expired()


async def test_limits_of_all_lengths_end_in_their_order_whatever_the_order_of_their_beginning() -> None:
    ended: list[float] = []

    async def work(seconds: float) -> None:
        with suppress(TimeoutError), Deadline(seconds):
            await asyncio.sleep(5)
        ended.append(seconds)

    await asyncio.gather(*(work(seconds) for seconds in (0.05, 0.01, 5e-3, 0.09, 0.03)))
    assert ended == [5e-3, 0.01, 0.03, 0.05, 0.09]


async def test_limits_that_are_not_reached_share_a_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    timers: list[float] = []
    call_at = loop.call_at

    def counted(when: float, *arguments: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(when)
        return call_at(when, *arguments, **more)

    monkeypatch.setattr(loop, "call_at", counted)
    for _ in range(100):
        with Deadline(60):
            pass
    assert len(timers) <= 1


def test_each_loop_has_limits_of_its_own() -> None:
    async def work() -> bool:
        with Deadline(60), pytest.raises(TimeoutError), Deadline(0.01):
            await asyncio.sleep(5)
        return True

    assert all(asyncio.run(work()) for _ in range(3))
