"""Run a test that is a coroutine without a plugin of pytest for it."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

P = ParamSpec("P")


def in_loop(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Return a test that runs the coroutine in an event loop of its own; pytest still sees its fixtures."""

    @wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        async def play() -> None:
            await test(*arguments, **named)

        asyncio.run(play())

    return run
