"""Workers on other machines use the reply cache of the machine that owns the run: a reply is paid once for all of them."""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from endpoint import Endpoint, Request, chat

from proctor import Sample
from proctor.core.run import RunSpec
from proctor.core.trajectory import NOTHING
from proctor.engine import wire
from proctor.engine.pool import CrewPool
from proctor.engine.processes import EngineProcess, Processes
from proctor.models import cache
from proctor.transport.allowance import Allowance
from proctor.transport.client import Client

HUGE = secrets.token_urlsafe(wire.MOST_KEPT_BYTES)  # random text of four thirds of that, which packs to the whole


class Machines(Processes):
    """Starts each worker with folders of its own, as on a machine of its own."""

    is_here = False
    hired = 0

    async def hire(self, variables: Mapping[str, str], *, is_spare: bool) -> EngineProcess:
        self.hired += 1
        return await super().hire({**variables, "PROCTOR_CACHE": f"machine-{self.hired}"}, is_spare=is_spare)


class Gate:
    """A model that answers "slow?" once it is opened, "huge?" with a huge text, and everything else at once."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        (message,) = request.json["messages"]
        if message["content"] == "slow?":
            self.came.set()
            await self.opened.wait()
        await chat(HUGE if message["content"] == "huge?" else "Paris")(request, writer)


@asynccontextmanager
async def pool_of_two(url: str, client: Client) -> AsyncIterator[CrewPool]:
    crew = Machines(2, [sys.executable, "-m", "proctor.api.worker"])
    Path("none.py").write_text("from proctor import Task\nTASK = Task(name='none', samples=[])\n", encoding="utf-8")
    start = wire.Start(
        run_id="r",
        spec=RunSpec(task="./none.py:TASK", agent="openai:mock", agent_options={"base_url": url, "retries": 0}),
        scorers=(),
        price=None,
        paths=crew.paths,
        cache=True,
        shares_folders=crew.is_here,
    )
    with cache.opened(cache.Cache(Path("replies.db")), agents=True):
        async with client, CrewPool(crew, start, client, lambda sentence: pytest.fail(str(sentence))) as pool:
            yield pool


async def test_a_reply_is_paid_once_whichever_machine_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gate = Gate()
    async with Endpoint(gate) as endpoint, pool_of_two(endpoint.url, Client(allowance=Allowance(4))) as pool:

        async def ask(question: str) -> tuple[str, object, bool]:
            trial, _ = await pool.run(Sample.ask(question, question), 0)
            return trial.trajectory.answer, trial.notes.get("cache_hits"), trial.usage == NOTHING

        slow = asyncio.create_task(ask("slow?"))  # keeps the first machine busy
        await asyncio.wait_for(gate.came.wait(), 20)
        assert await ask("?") == ("Paris", None, False)
        await ask("huge?")
        gate.opened.set()
        await slow
        assert await ask("?") == ("Paris", 1, True), "paid by the other machine"
        assert (await ask("huge?"))[1:] == (None, False), "too large to be sent around"
        assert await ask("slow?") == ("Paris", 1, True), "the budget of requests is spent, but needs none"
        assert len(endpoint.requests) == 4
    assert not list(tmp_path.glob("machine-*/replies*"))
