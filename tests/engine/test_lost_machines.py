"""What a run does whose workers are lost with their machines."""

import asyncio
from collections.abc import Mapping

import pytest
from far_worker import Far

from proctor import Sample
from proctor.core.errors import BadInput
from proctor.core.run import RunSpec
from proctor.engine import wire
from proctor.engine.pool import CrewPool
from proctor.runtime.concurrent import run_together
from proctor.transport.client import Client


class LastMachine:
    """Hires one worker, whose machine is lost when both trials are there, and finds no other."""

    size = 1
    paths: tuple[str, ...] = ()
    is_here = False

    async def hire(self, variables: Mapping[str, str], *, is_spare: bool) -> Far:
        if is_spare:
            await asyncio.sleep(0)
            raise BadInput("There is no other machine.")
        far = await Far.open()
        far.is_lost = True
        self.losing = asyncio.create_task(self._lose(far))
        return far

    async def _lose(self, far: Far) -> None:
        for _ in range(2):
            await anext(far.granted)  # the start, and the first trial; the other is on its way
        far.far.close()


async def test_a_run_whose_last_machine_is_lost_ends_and_says_so() -> None:
    start = wire.Start(run_id="r", spec=RunSpec(task="t", agent="a"), scorers=(), price=None, paths=())
    async with Client() as client:
        with pytest.raises(BadInput, match="no other machine"):
            async with CrewPool(LastMachine(), start, client, lambda sentence: pytest.fail(str(sentence))) as pool:
                await run_together(*(pool.run(Sample.ask(id, "?"), 0) for id in "ab"))
