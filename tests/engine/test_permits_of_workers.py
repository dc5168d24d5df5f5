"""What a worker holds and waits for comes back when it dies; no endpoint and no budget is asked for more than it has."""

import asyncio

import pytest
from far_worker import ORIGIN, Far

from proctor.engine import wire
from proctor.engine.pool import Worker
from proctor.transport.allowance import Allowance
from proctor.transport.client import Client


async def test_a_dead_worker_gives_back_what_it_holds_and_leaves_the_queue() -> None:
    async with Client() as client, asyncio.timeout(20):
        first, second = await Far.open(), await Far.open()
        workers = [Worker(client, lambda sentence: pytest.fail(str(sentence)), far) for far in (first, second)]
        for number in range(4):
            first.ask(number)
        assert [await anext(first.granted) for _ in range(2)] == [wire.Granted(number=number) for number in range(2)]
        for number in range(2):
            second.ask(number)
        endpoint = client.endpoint_at(ORIGIN)
        first.outbox.send(wire.GiveBack(origin=ORIGIN, seconds=0.1))
        assert await anext(first.granted) == wire.Granted(number=2)
        assert endpoint.in_flight == 2
        await workers[0].close()
        assert [await anext(second.granted) for _ in range(2)] == [wire.Granted(number=number) for number in range(2)]
        await workers[1].close()
        assert endpoint.in_flight == 0
        assert client.allowance.sent == 5


async def test_permits_of_several_workers_never_pass_the_budget() -> None:
    async with Client(allowance=Allowance(3)) as client, asyncio.timeout(20):
        fars = [await Far.open() for _ in range(3)]
        workers = [Worker(client, lambda sentence: pytest.fail(str(sentence)), far) for far in fars]
        spent = 0
        for number in range(4):
            for far in fars:
                far.ask(number)
            for far in fars:
                granted = await anext(far.granted)
                assert isinstance(granted, wire.Granted)
                spent += granted.spent is not None
                if granted.spent is None:
                    far.outbox.send(wire.GiveBack(origin=ORIGIN, seconds=0.1))
        assert (client.allowance.sent, spent) == (3, 9)
        for worker in workers:
            await worker.close()
