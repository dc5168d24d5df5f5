import asyncio

import pytest

from proctor.core.errors import BadInput
from proctor.runtime.concurrent import run_to_the_end, run_together


async def _work(name: str, seconds: float, ended: list[str], *, fails: bool = False) -> str:
    try:
        await asyncio.sleep(seconds)
        if fails:
            raise BadInput("{name} failed.", name=name)
        return name
    finally:
        ended.append(name)


async def test_results_come_in_the_order_asked_for() -> None:
    ended: list[str] = []
    assert await run_together(_work("a", 0.02, ended), _work("b", 0.0, ended)) == ["a", "b"]
    assert ended == ["b", "a"]


async def test_nothing_goes_on_after_a_failure() -> None:
    ended: list[str] = []
    with pytest.raises(BadInput, match=r"a failed\."):
        await run_together(_work("a", 0.0, ended, fails=True), _work("b", 60.0, ended))
    assert ended == ["a", "b"]


async def test_what_has_to_be_closed_is_closed_though_one_fails() -> None:
    ended: list[str] = []
    with pytest.raises(BadInput, match=r"a failed\."):
        await run_to_the_end(_work("a", 0.0, ended, fails=True), _work("b", 0.02, ended))
    assert ended == ["a", "b"]


async def test_all_of_it_ends_when_it_is_cancelled() -> None:
    ended: list[str] = []
    task = asyncio.create_task(run_to_the_end(_work("a", 60.0, ended), _work("b", 60.0, ended)))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == ["a", "b"]
