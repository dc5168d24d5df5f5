"""Hire the workers of a pool on the machines of a Ray cluster: `--on ray[:ADDRESS]`.

A long-lived actor on each machine starts the same worker process that a run on one machine has. That process connects
back, so that trials and requests for permits take the way they take on one machine; Ray carries what starts a worker (the
project, keys) and how it ended. A lost machine is noticed by Ray, and closes the connection here.
"""

import asyncio
import contextlib
import hmac
import platform
import secrets
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parts import ClusterPart
from proctor.core.run import RunSpec
from proctor.core.sentence import Sentence
from proctor.engine.processes import import_paths, in_words, is_from_outside
from proctor.transport.redact import quoted, redact
from proctor_adapters.ray import cluster, shipping
from proctor_adapters.ray.host import HostReport, host_class

HIRE_SECONDS = 120.0
LOSSES = 5  # of machines one after another while a worker starts there
SPARE_SECONDS = 10.0  # for a core that was free a moment ago
GREET_SECONDS = 10.0
CLOSE_SECONDS = 5.0
END_SECONDS = 30.0  # until Ray has noticed that a machine is lost
TOKEN_BYTES = 32
MOST_STRANGERS = 64  # connections that have not yet shown a token


class Actors:
    """Hires worker processes on the machines of a cluster; use it in `async with`."""

    def __init__(self, address: str, size: int, spec: RunSpec, warn: Callable[[Sentence], None]) -> None:
        self.size = size
        self.is_here = cluster.is_local(address)
        self.paths = import_paths() if self.is_here else _inside(import_paths())
        self._address = address
        self._spec = spec
        self._warn = warn
        self._expected: dict[bytes, asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]] = {}
        self._idle: list[Any] = []
        self._strangers = 0
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            project = None if self.is_here else shipping.pack(Path.cwd(), self._warn)
            host = await stack.enter_async_context(cluster.connected(self._address, self.size))
            server = await asyncio.start_server(self._greet, host, 0)
            stack.push_async_callback(_closed, server)
            self._way = (host, server.sockets[0].getsockname()[1])
            self._variables = {} if self.is_here else shipping.variables(msgspec.to_builtins(self._spec))
            import ray

            self._host = ray.remote(host_class())
            self._project = None if project is None else ray.put(project)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def hire(self, variables: Mapping[str, str], *, is_spare: bool) -> "Actor":
        """Start a worker on a machine that has a core to spare; a spare worker does not wait for one."""
        import ray

        losses = 0
        while True:
            try:
                actor = await self._idle_actor() or await self._new_actor(is_spare=is_spare)
                return await self._open(actor, variables)
            except (ray.exceptions.RayError, TimeoutError) as error:
                losses += 1
                if losses == LOSSES:
                    raise BadInput(
                        "{count} machines of the cluster were lost while a worker started there: {error}",
                        count=losses,
                        error=quoted(error).partition("\n")[0],
                    ) from error

    async def _open(self, actor: Any, variables: Mapping[str, str]) -> "Actor":
        """Start a worker in an actor.

        Raises:
            RayError, TimeoutError: its machine was lost meanwhile.
            BadInput: it cannot reach this process, or start another.
        """
        import ray

        token = secrets.token_bytes(TOKEN_BYTES)
        arrived = self._expected[token] = asyncio.get_running_loop().create_future()
        try:
            environment = {**self._variables, **variables}
            begun = actor.open.remote(*self._way, token, environment, str(Path.cwd()), self._project)
            if problem := await begun:
                raise BadInput("A machine of the cluster cannot start a worker: {error}", error=redact(problem))
            reader, writer = await asyncio.wait_for(arrived, GREET_SECONDS)
            return Actor(actor, reader, writer, self._idle.append)
        except BaseException:
            ray.kill(actor)
            raise
        finally:
            del self._expected[token]

    async def _idle_actor(self) -> object:
        """Return an actor whose worker has ended, if there is one: it starts another at once."""
        import ray

        while self._idle:
            actor = self._idle.pop()
            with contextlib.suppress(ray.exceptions.RayError):
                await actor.report.remote()
                return actor
        return None

    async def _new_actor(self, *, is_spare: bool) -> object:
        import ray

        if is_spare:
            free = await asyncio.to_thread(ray.available_resources)  # also those of a machine that was just lost
            if free.get("CPU", 0) >= 1:
                with contextlib.suppress(NoCore):
                    return await self._placed_actor(cores=1, seconds=SPARE_SECONDS)
        return await self._placed_actor(cores=0 if is_spare else 1, seconds=HIRE_SECONDS)

    async def _placed_actor(self, *, cores: int, seconds: float) -> object:
        import ray

        options = {"num_cpus": cores, "max_restarts": 0, "max_concurrency": 4}
        actor = self._host.options(scheduling_strategy="SPREAD", **options).remote()
        try:
            async with asyncio.timeout(seconds):
                report = await actor.report.remote()
            _check(report)
        except BaseException as error:
            ray.kill(actor)
            if isinstance(error, TimeoutError):
                raise NoCore(seconds) from None
            raise
        return actor

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Let in who shows one of the tokens that Ray has carried to an actor."""
        if self._strangers >= MOST_STRANGERS:
            writer.close()
            return
        self._strangers += 1
        shown = b""
        try:
            async with asyncio.timeout(GREET_SECONDS):
                shown = await reader.readexactly(TOKEN_BYTES)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            self._strangers -= 1
        for token, arrived in self._expected.items():
            if hmac.compare_digest(token, shown) and not arrived.done():
                arrived.set_result((reader, writer))
                return
        writer.close()


class NoCore(BadInput):
    """No machine has a core to spare."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            "No machine of the Ray cluster had a free core for a worker within {seconds} seconds. Wait until others have ended, or use fewer --workers.",
            seconds=round(seconds),
        )


class Actor:
    """A worker process on a machine of the cluster, and the connection to it."""

    def __init__(
        self,
        actor: Any,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        keep: Callable[[object], None],
    ) -> None:
        self._keep = keep
        self.reader = reader
        self.writer = writer
        self.is_lost = False
        self.was_out_of_memory = False
        self._actor = actor
        self._code: int | None = None
        self._errors = ""
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Wait until the worker or its machine has ended, and close the connection: a machine that is gone says nothing."""
        import ray

        try:
            self._code, self.was_out_of_memory, self._errors = await self._actor.wait.remote()
        except ray.exceptions.RayError:
            self.is_lost = True
        if self.is_lost:
            self.writer.transport.abort()

    async def end(self) -> None:
        """Wait until Ray says how the worker ended, or that its machine is lost."""
        if not self._watching.done():
            await asyncio.wait([self._watching], timeout=END_SECONDS)
        if not self._watching.done():  # connection lost, machine alive
            self.is_lost = True

    async def close(self) -> None:
        """Kill the worker and everything it started; its actor may start another."""
        import ray

        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._actor.close.remote()
            self._keep(self._actor)
        except (ray.exceptions.RayError, TimeoutError):
            ray.kill(self._actor)
        self.writer.transport.abort()
        self._watching.cancel()
        await asyncio.wait([self._watching])

    @property
    def was_killed(self) -> bool:
        """True if the worker ended by a signal that may come from outside, or with its machine."""
        return self.is_lost or is_from_outside(self._code)

    def how_it_ended(self) -> str:
        """Return the signal or exit code of the worker, in words, and the end of what it printed."""
        words = "its machine was lost" if self.is_lost else in_words(self._code)
        return f"{words}: {redact(self._errors)}" if self._errors and self._code not in (None, 0) else words


def _check(found: tuple[str, str, str]) -> None:
    """Refuse a machine with other versions: its trials would not be those of the others."""
    report, ours = (
        HostReport(*found),
        HostReport("", ".".join(platform.python_version_tuple()[:2]), str(import_module("proctor").__version__)),
    )
    if (report.python, report.proctor) != (ours.python, ours.proctor):
        raise BadInput(
            "The machine {host} of the cluster has Python {python} and Proctor {proctor}, but this one Python {our_python} and Proctor {our_proctor}. Install the same versions on all of them.",
            host=report.host,
            python=report.python,
            proctor=report.proctor or "-",
            our_python=ours.python,
            our_proctor=ours.proctor,
        )


def _inside(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths inside of this folder, as they are in the copy that is sent; other machines have no others."""
    here = Path.cwd().resolve()
    return tuple(str(Path(path).relative_to(here)) for path in paths if Path(path).is_relative_to(here))


async def _closed(server: asyncio.Server) -> None:
    server.close()


PART = ClusterPart(check=cluster.check, crew=Actors)
