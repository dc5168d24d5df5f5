"""Open games of ALFWorld in workers, by the package of that name and the game files of its download."""

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.isolation import Instance, Workers, find_packages
from proctor.isolation.limits import MEGABYTE, WorkerLimits, WorkerRaised
from proctor_benchmarks.agentbench.alfworld import SeenHousehold

VARIABLE = "ALFWORLD_DATA"  # that of the package
LIMITS = WorkerLimits(seconds=60.0, start_seconds=120.0, memory_bytes=1024 * MEGABYTE)


class Games:
    """The games of a folder, entered for as long as a run lasts."""

    def __init__(self, folder: str | None) -> None:
        given = folder or os.environ.get(VARIABLE)
        self._folder = Path(given).expanduser().absolute() if given else None
        self._workers: Workers | None = None

    async def __aenter__(self) -> Self:
        if self._folder is None:
            raise BadInput("The part alfworld needs the game files: pip install alfworld, alfworld-download, then --set alfworld=DIR, or {variable}=DIR.", variable=VARIABLE)  # fmt: skip
        packages = find_packages("alfworld", "textworld")
        self._workers = Workers(Path(__file__).with_name("alfworld_worker_program.py"), paths=packages, limits=LIMITS)
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        if self._workers is not None:
            await self._workers.__aexit__(*raised)

    @asynccontextmanager
    async def open(self, game: str) -> AsyncIterator["AlfworldGame"]:
        """Open a game, named as in the official list.

        Raises:
            EnvironmentFailed: it is not there, or the package cannot play it.
        """
        assert self._workers is not None, "the games were not entered"
        assert self._folder is not None
        path = self._folder / game
        if not path.is_file():
            raise EnvironmentFailed(
                "The game {path} cannot be played: {error}", kind="game", path=path, error=os.strerror(errno.ENOENT)
            )
        try:
            instance = await self._workers.open("start", path=str(path))
        except WorkerRaised as error:
            raise EnvironmentFailed("The game {path} cannot be played: {error}", kind="game", path=path, error=error) from error  # fmt: skip
        try:
            yield AlfworldGame(instance, path)
        finally:
            await instance.close()


class AlfworldGame:
    """A game of one attempt."""

    def __init__(self, instance: Instance, path: Path) -> None:
        self._instance = instance
        self._path = path

    async def reset(self) -> SeenHousehold:
        return await self._call("reset")

    async def step(self, action: str) -> SeenHousehold:
        return await self._call("step", action=action)

    async def _call(self, name: str, **given: object) -> SeenHousehold:
        try:
            return msgspec.convert(await self._instance.call(name, **given), SeenHousehold)
        except WorkerRaised as error:
            raise EnvironmentFailed("The game {path} cannot be played: {error}", kind="game", path=self._path, error=error) from error  # fmt: skip
