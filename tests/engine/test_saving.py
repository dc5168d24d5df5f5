"""Trials on their way to the disk: how many are not waited for, and what becomes of an error."""

import asyncio
from collections.abc import Sequence

import pytest
from stored_runs import a_sample, a_trial, a_verdict

from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor.core.sample import Sample
from proctor.core.trial import Trial, Verdict
from proctor.engine.budget import Purse
from proctor.engine.progress import Progress
from proctor.engine.saving import GATHER_SECONDS, Saving
from proctor.stores.sqlite import SqliteStore


class Disk(SqliteStore):
    """A store whose disk does nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.asked: list[str] = []
        self.waiting: list[asyncio.Future[None]] = []

    def add(
        self,
        trial: Trial,
        verdicts: Sequence[Verdict] = (),
        sample: Sample | None = None,
    ) -> "asyncio.Future[None]":
        self.asked.append(trial.sample_id)
        self.waiting.append(asyncio.get_running_loop().create_future())
        return self.waiting[-1]

    def work(self, error: Exception | None = None) -> None:
        """End what waits."""
        while self.waiting:
            one = self.waiting.pop()
            if error is None:
                one.set_result(None)
            else:
                one.set_exception(error)


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
    assert await ended(Saving(Disk(), Progress(), at_once), at_once) == unwaited


async def test_with_a_budget_all_are_waited_for() -> None:
    progress = Progress()
    progress.begin(100, 0, Purse(Budget(tokens=100)))
    assert await ended(Saving(Disk(), progress, 256), 256) == 0


async def test_a_trial_counts_when_it_is_on_disk_and_not_before() -> None:
    disk, progress = Disk(), Progress()
    saving = Saving(disk, progress, 64)
    for number in range(16):
        await save(saving, f"s{number}")
    assert progress.done == 0
    settled = asyncio.create_task(saving.settle())
    await asyncio.sleep(0)
    assert len(disk.asked) == 16
    disk.work()
    await settled
    assert (progress.done, progress.scored) == (16, 16)


async def test_a_few_do_not_wait_for_more_to_come() -> None:
    disk, progress = Disk(), Progress()
    saving = Saving(disk, progress, 64)
    await save(saving, "alone")
    assert disk.asked == []
    await asyncio.sleep(4 * GATHER_SECONDS)
    assert disk.asked == ["alone"]
    disk.work()
    await saving.settle()
    assert progress.done == 1


async def test_an_error_reaches_the_next_trial_and_the_end() -> None:
    disk, progress = Disk(), Progress()
    saving = Saving(disk, progress, 64)
    for number in range(12):
        await save(saving, f"s{number}")
    disk.work(BadInput("The disk is full."))
    await asyncio.sleep(0)
    with pytest.raises(BadInput, match="full"):
        await save(saving, "next")
    settled = asyncio.create_task(saving.settle())
    await asyncio.sleep(0)
    disk.work()
    with pytest.raises(BadInput, match="full"):
        await settled
    assert (len(disk.asked), progress.done) == (12, 3)  # what waited for company is not forgotten
