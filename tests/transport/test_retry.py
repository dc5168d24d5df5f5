"""The retry policy, and what a trial keeps of it."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.trial import FailedRequest
from proctor.transport import retry
from proctor.transport.deadline import Deadline
from proctor.transport.retry import RetryPolicy


@given(failed=st.integers(1, 40))
def test_waits_double_up_to_the_longest_and_differ_by_chance(failed: int) -> None:
    policy = RetryPolicy(wait_seconds=0.5, longest_wait_seconds=30)
    most = min(30.0, 0.5 * 2 ** (failed - 1))
    assert most / 2 <= policy.wait(failed, None) <= most


@given(asked=st.floats(0.001, 1e6))
def test_what_the_server_asks_is_waited_at_least_and_hardly_more(asked: float) -> None:
    assert asked <= RetryPolicy().wait(1, asked) <= asked * 1.1


def test_being_asked_to_wait_zero_seconds_is_no_permission_to_hammer() -> None:
    assert RetryPolicy(wait_seconds=1.0).wait(1, 0.0) >= 0.5


async def test_each_task_of_a_run_has_a_list_of_its_own() -> None:
    async def trial(cause: str) -> list[FailedRequest]:
        made = retry.record_calls()
        await asyncio.sleep(0)
        await asyncio.create_task(_call(cause))  # a tool call in a task of its own counts too
        return made

    lists = await asyncio.gather(trial("one"), trial("two"))
    assert [[call.cause for call in made] for made in lists] == [["one"], ["two"]]


async def _call(cause: str) -> None:
    retry.keep(FailedRequest(cause=cause))


def test_outside_a_trial_nothing_is_kept_and_nothing_breaks() -> None:
    retry.keep(FailedRequest(cause="reset"))


async def test_the_clock_stands_still_inside_and_goes_on_behind() -> None:
    with Deadline(10) as limit:
        around.set(replace(around.get(), deadline=limit))
        before = limit.when()
        assert before is not None
        with retry.clock_stopped(already=5.0):
            assert limit.when() is None
            with retry.clock_stopped():  # two calls at once
                await asyncio.sleep(0.05)
            assert limit.when() is None
        after = limit.when()
    assert after is not None
    assert after - before == pytest.approx(5.05, abs=0.04)


async def test_a_clock_that_is_over_is_left_alone() -> None:
    with Deadline(10) as limit:
        around.set(replace(around.get(), deadline=limit))
        await asyncio.sleep(0)
    with retry.clock_stopped():
        await asyncio.sleep(0)
    assert not limit.expired()
