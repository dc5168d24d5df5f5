import asyncio

from msgspec.structs import replace

from proctor.core.around import Around, around
from proctor.core.run import Limits
from proctor.core.trial import FailedRequest
from proctor.transport import retry
from proctor.transport.client import Client


async def test_a_task_inherits_what_surrounds_it_and_changes_its_own() -> None:
    around.set(Around(limits=Limits(steps=3)))

    async def attempt(steps: int) -> tuple[int, int]:
        before = around.get().limits.steps
        around.set(replace(around.get(), limits=Limits(steps=steps)))
        await asyncio.sleep(0)
        return before, around.get().limits.steps

    tasks = [asyncio.create_task(attempt(steps)) for steps in (5, 7)]
    assert await asyncio.gather(*tasks) == [(3, 5), (3, 7)]
    assert around.get().limits.steps == 3


async def test_a_client_that_closes_leaves_what_was_set_meanwhile() -> None:
    async with Client() as outer:
        async with Client() as inner:
            assert Client.current() is inner
            failed = retry.record_calls()
        assert Client.current() is outer
    assert Client.current() is None
    retry.keep(FailedRequest(cause="reset"))
    assert [request.cause for request in failed] == ["reset"]
