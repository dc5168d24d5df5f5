"""Run several coroutines at once, and leave none running after the others.

`asyncio.gather` is banned in this project: after a failure it leaves the siblings running, and their usage is not counted.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def run_together(*work: Awaitable[T]) -> list[T]:
    """Run coroutines and return the results in order; the first failure cancels the others and is raised itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_awaited(one)) for one in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


async def run_to_the_end(*work: Awaitable[object]) -> None:
    """Run all coroutines to their end, as when closing things; the first failure is raised once all have ended."""
    failures: list[Exception] = []

    async def run(one: Awaitable[object]) -> None:
        try:
            await one
        except Exception as error:  # noqa: BLE001 - raised below
            failures.append(error)

    await run_together(*(run(one) for one in work))
    if failures:
        raise failures[0]


async def _awaited(one: Awaitable[T]) -> T:
    return await one
