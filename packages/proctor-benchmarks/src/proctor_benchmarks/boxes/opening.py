"""Open the box of a task, with its files, on a backend that works here."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sentence import Sentence, listed, say
from proctor_benchmarks.boxes.archives import folder_digest
from proctor_benchmarks.boxes.box_task import SETUP, BoxTask
from proctor_benchmarks.boxes.bubblewrap import BubblewrapBox
from proctor_benchmarks.boxes.contract import Backend, Box, CommandResult, Network
from proctor_benchmarks.boxes.engines import Engine, EngineBox, build_image, find_engine
from proctor_benchmarks.boxes.forwarding import DOOR, HOSTS, start_forwarder
from proctor_benchmarks.boxes.host_proxy import PROXY_VARIABLES, HostProxy, check_hosts
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.boxes.temporary_folders import temporary_folder

HEALTH_TRIES, HEALTH_SECONDS = 30, 1.0
SETUP_SECONDS = 600.0
ENGINES: tuple[Engine, ...] = ("docker", "podman")


class BoxOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How boxes are run.

    Attributes:
        backend: the first that works of docker, podman and bubblewrap where None.
        image: for tasks that name none; needed there by docker and podman.
        network: `open` lets docker and podman give boxes a network; of hosts with their ports (`api.example.com:443`), the agent's box
            reaches those alone (`*.example.com:*` for all names below one, at any port), and by `task` those that its task lists.
        programs: a folder of this machine with the programs of a coding agent, which its box may read.
    """

    backend: Backend | None = None
    image: str | None = None
    network: Network | Literal["task"] = "none"
    programs: str | None = None


def choose_backend(options: BoxOptions, *, needs_image: bool) -> Backend:
    """Return the backend for tasks: the one that was asked for, else the first that works and can run them.

    Raises:
        BadInput: there is none, or the one that was asked for cannot run them.
    """
    if isinstance(options.network, tuple):
        check_hosts(options.network)
    if options.programs is not None and not Path(options.programs).expanduser().is_dir():
        raise BadInput("programs: there is no folder {path}.", path=options.programs)
    has_image = needs_image or options.image is not None
    wanted: tuple[Backend, ...] = (options.backend,) if options.backend is not None else (*ENGINES, "bubblewrap")
    reasons: list[Sentence] = []
    for backend in wanted:
        reason = _refuse(backend, options, has_image)
        if reason is None:
            return backend
        reasons.append(reason)
    raise BadInput("No backend for boxes works here: {reason}. Start or install docker or podman, or bubblewrap for tasks without an image.", reason=listed(reasons))  # fmt: skip


def _refuse(backend: Backend, options: BoxOptions, has_image: bool) -> Sentence | None:
    """Return why a backend cannot run a task, if so."""
    if backend == "bubblewrap":
        if has_image:
            return say(
                "{backend} runs boxes of this machine's own programs, and the task has an image", backend=backend
            )
        if options.network == "open":
            return say("boxes of {backend} have no network", backend=backend)
        return say("{backend} needs {missing}", backend=backend, missing=lacks()) if lacks() else None
    if not has_image:
        return say("the task has no image for {backend} (image=NAME)", backend=backend)
    if shutil.which(backend) is None:
        return say("{backend} is not installed", backend=backend)
    return None if answers(backend) else say("no engine of {backend} answers", backend=backend)


@cache
def answers(engine: Engine) -> bool:
    """True if an engine answers; asked once a process."""
    return find_engine(engine)


@asynccontextmanager
async def open_box(task: BoxTask, options: BoxOptions, mounted: Mapping[str, str] = {}) -> AsyncIterator[Box]:
    """Open a box with the files of a task, as it is before the agent begins.

    Raises:
        EnvironmentFailed: it cannot be opened, or its setup or health check failed.
    """
    image = task.image or options.image
    backend = await asyncio.to_thread(choose_backend, options, needs_image=bool(image or task.build))
    if backend == "bubblewrap":
        async with BubblewrapBox(task.limits, mounted) as box:
            await prepare(box, task)
            yield box
        return
    if task.build is not None:
        image = await image_of_folder(backend, Path(task.build), task.build_leaves_out)
    assert image is not None, "a backend was chosen without an image"
    async with EngineBox(backend, image, task.limits, is_open=options.network == "open", mounted=mounted) as container:
        await prepare(container, task)
        yield container


class AgentBox(msgspec.Struct, frozen=True, kw_only=True):
    """A box as an agent is given it.

    Attributes:
        door: a folder of this machine that the box sees as `DOOR` and cannot change, for sockets that lead out of it.
        hosts: the proxy of the hosts that it reaches, if any.
    """

    box: Box
    door: Path
    hosts: HostProxy | None = None

    @property
    def variables(self) -> Mapping[str, str]:
        """Return what commands have to be told of the proxy."""
        return PROXY_VARIABLES if self.hosts is not None else {}


@asynccontextmanager
async def open_agent_box(
    task: BoxTask, options: BoxOptions, mounted: Mapping[str, str] = {}
) -> AsyncIterator[AgentBox]:
    """Open the box of a task with the way to the hosts that an agent may reach in it.

    Raises:
        EnvironmentFailed: it cannot be opened, or not that way.
    """
    listed = task.hosts if options.network == "task" else options.network
    with temporary_folder() as folder:
        door = Path(folder)
        door.chmod(0o711)  # noqa: ASYNC240 - at once
        async with open_box(task, options, {DOOR: folder, **mounted}) as box:
            if isinstance(listed, str) or not listed:
                yield AgentBox(box=box, door=door)
                return
            with HostProxy(door, listed) as hosts:
                await start_forwarder(box, door, HOSTS)
                yield AgentBox(box=box, door=door, hosts=hosts)


async def image_of_folder(engine: Engine, folder: Path, leave_out: Sequence[str]) -> str:
    """Return the image that is built of a folder as it is now.

    Raises:
        EnvironmentFailed: it cannot be built.
    """
    digest = await asyncio.to_thread(folder_digest, folder, leave_out)
    return await build_image(engine, folder, digest, leave_out)


async def prepare(box: Box, task: BoxTask) -> None:
    """Put the files of a task into its box, and wait until it is healthy."""
    contents: Mapping[str, tuple[bytes, int]] = task.files.contents() if task.files else {}
    await box.put(task.files.archive(task.folder, leave_out=[SETUP]))
    if SETUP in contents:
        setup = contents[SETUP][0].decode("utf-8", "replace")
        result = await box.run(["sh", "-c", setup], SETUP_SECONDS, folder=task.folder, variables=task.variables)
        _check(result, "The setup of this task failed (exit code {code}): {output}", "setup")
    if task.healthcheck is not None:
        for attempt in range(HEALTH_TRIES):
            result = await box.run(["sh", "-c", task.healthcheck], task.command_seconds, folder=task.folder)
            if result.code == 0:
                return
            await asyncio.sleep(HEALTH_SECONDS if attempt < HEALTH_TRIES - 1 else 0)
        _check(result, "The health check of this task fails (exit code {code}): {output}", "unhealthy")


def _check(result: CommandResult, sentence: str | Sentence, kind: str) -> None:
    if result.code != 0:
        raise EnvironmentFailed(sentence, kind=kind, code=result.code, output=result.output.strip()[-800:] or "-")
