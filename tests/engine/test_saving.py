"""Trials on their way to the disk: how many are not waited for, and what becomes of an error."""

import asyncio
from collections.abc import Sequence

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor.core.sample import Sample
from proctor.core.trial import Trial, Verdict
from proctor.engine.budget import BudgetTracker
from proctor.engine.progress import Progress
from proctor.engine.saving import GATHER_SECONDS, Saving
from proctor.engine.status import RunStatus
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_sample, a_trial, a_verdict


class Disk(SqliteStore):
    """A store whose disk does nothing until it works, or fails."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.asked: list[str] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._works = False

    def add(
        self,
        trial: Trial,
        verdicts: Sequence[Verdict] = (),
        sample: Sample | None = None,
    ) -> "asyncio.Future[None]":
        self.asked.append(trial.sample_id)
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(written)
        self.works = self._works
        return written

    @property
    def works(self) -> bool:
        return self._works

    @works.setter
    def works(self, works: bool) -> None:
        self._works = works
        while works and self._waiting:
            self._waiting.pop().set_result(None)

    def fail(self, error: Exception) -> None:
        while self._waiting:
            self._waiting.pop().set_exception(error)


def with_in_flight(count: int) -> RunStatus:
    status = RunStatus(Progress())
    status.in_flight = count
    return status


async def save(saving: Saving, name: str) -> None:
    await saving.save(a_trial(name), [a_verdict(name)], a_sample(name))


async def ended(saving: Saving, count: int) -> int:
    """How many of so many workers could go on without the disk."""
    workers = [asyncio.create_task(save(saving, f"s{number}")) for number in range(count)]
    await asyncio.sleep(4 * GATHER_SECONDS)
    over = sum(worker.done() for worker in workers)
    for worker in workers:
        worker.cancel()
    return over


@pytest.mark.parametrize(("at_once", "unwaited"), [(1, 0), (32, 0), (64, 16), (256, 64)])
async def test_so_many_are_not_waited_for(at_once: int, unwaited: int) -> None:
    assert await ended(Saving(Disk(), with_in_flight(at_once)), at_once) == unwaited


async def test_with_a_budget_all_are_waited_for() -> None:
    status = with_in_flight(256)
    status.begin(100, 0, BudgetTracker(Budget(tokens=100)))
    assert await ended(Saving(Disk(), status), 256) == 0


async def test_a_trial_counts_when_it_is_on_disk_and_not_before() -> None:
    disk, status = Disk(), with_in_flight(64)
    async with Saving(disk, status) as saving:
        for number in range(16):
            await save(saving, f"s{number}")
        assert status.done == 0
        disk.works = True
    assert len(disk.asked) == 16
    assert (status.done, status.scored) == (16, 16)


async def test_a_few_do_not_wait_for_more_to_come() -> None:
    disk, status = Disk(), with_in_flight(64)
    async with Saving(disk, status) as saving:
        await save(saving, "alone")
        assert disk.asked == []
        await asyncio.sleep(4 * GATHER_SECONDS)
        assert disk.asked == ["alone"]
        disk.works = True
    assert status.done == 1


async def test_an_error_of_the_store_reaches_the_next_trial_and_the_end() -> None:
    disk, status = Disk(), with_in_flight(64)
    saving = await Saving(disk, status).__aenter__()
    for number in range(12):
        await save(saving, f"s{number}")
    disk.fail(BadInput("The disk is full."))
    await asyncio.sleep(0)
    with pytest.raises(BadInput, match="full"):
        await save(saving, "next")
    disk.works = True
    with pytest.raises(BadInput, match="full"):
        await saving.__aexit__(None, None, None)
    assert (len(disk.asked), status.done) == (12, 3)  # what waited for company is not forgotten


async def test_a_trial_that_the_store_refuses_at_once_is_no_silent_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    saving = await Saving(disk, with_in_flight(64)).__aenter__()

    def refuse(*_: object) -> None:
        raise BadInput("Not open.")

    monkeypatch.setattr(disk, "add", refuse)
    await save(saving, "alone")
    with pytest.raises(BadInput, match="Not open"):
        await saving.__aexit__(None, None, None)


async def test_what_ended_is_saved_also_where_the_run_breaks_off() -> None:
    disk, status = Disk(), with_in_flight(64)
    disk.works = True
    saving = await Saving(disk, status).__aenter__()
    await save(saving, "ended")
    error = ValueError("mine")
    await saving.__aexit__(ValueError, error, None)
    assert (disk.asked, status.done) == (["ended"], 1)
