"""Give each attempt a table of its own, in worker processes with a MariaDB server or SQLite."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, Self

from proctor.core.errors import BadInput, EnvironmentDied, EnvironmentFailed, MissingExtra
from proctor.core.sample import JsonObject
from proctor.isolation import Instance, WorkerLimits, WorkerRaised, Workers, find_packages
from proctor.isolation.limits import MEGABYTE

Engine = Literal["mariadb", "sqlite"]
SECONDS = 10.0
PROGRAM = Path(__file__).with_name("db_worker_program.py")
LIMITS = WorkerLimits(seconds=75.0, file_bytes=768 * MEGABYTE, memory_bytes=768 * MEGABYTE, processes=256)


class WorkerTable:
    """A table in a worker."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def execute(self, sql: str) -> str:
        """Return the official reply to a statement.

        Raises:
            EnvironmentDied: the worker did not survive it.
        """
        try:
            reply: str = await self._instance.call("execute", sql=sql)
        except EnvironmentFailed as failure:
            raise EnvironmentDied(failure.sentence, kind=failure.kind) from failure
        return reply

    async def digest(self) -> str:
        digest: str = await self._instance.call("digest")
        return digest


class Databases:
    """Makes tables; its workers and their servers end with the last `async with`.

    Args:
        engine: MariaDB, or SQLite, whose dialect and errors differ.
        seconds: of one statement.

    Entering raises `BadInput` if there is no MariaDB on this machine, and `MissingExtra` without its client library.
    """

    def __init__(self, engine: Engine, seconds: float = SECONDS) -> None:
        self._engine = engine
        self._seconds = seconds
        self._workers: Workers | None = None
        self._programs: tuple[str | None, str | None] = (None, None)
        # a table's name is that of its database
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> Self:
        paths: Sequence[Path] = ()
        if self._engine == "mariadb":
            self._programs = (shutil.which("mariadbd"), shutil.which("mariadb-install-db"))
            if None in self._programs:
                raise BadInput("The database part needs MariaDB: install its server (mariadbd and mariadb-install-db), or add --set database=sqlite, whose dialect differs.")  # fmt: skip
            try:
                paths = find_packages("pymysql")
            except BadInput:
                raise MissingExtra("agentbench", "MariaDB") from None
        self._workers = Workers(
            PROGRAM, paths=paths, limits=LIMITS, variables={"STATEMENT_SECONDS": str(self._seconds)}
        )
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        if self._workers is not None:
            await self._workers.__aexit__(*raised)

    @asynccontextmanager
    async def open(self, table: JsonObject) -> AsyncIterator[WorkerTable]:
        """Create a table and drop it afterwards; columns that the database refuses leave no table, as in the official code.

        Raises:
            EnvironmentFailed: the server does not start, or the worker broke.
        """
        assert self._workers is not None, "enter the databases first"
        mariadbd, installer = self._programs
        async with self._locks[table["table_name"].lower()]:
            try:
                instance = await self._workers.open("open_table", table=table, mariadbd=mariadbd, installer=installer)
            except WorkerRaised as error:
                raise EnvironmentFailed("The database of '{name}' cannot be made: {error}", kind="start", name=table["table_name"], error=error) from None  # fmt: skip
            try:
                yield WorkerTable(instance)
                await instance.call("close")
            finally:
                await instance.close()
