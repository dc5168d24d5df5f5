"""`container:IMAGE`, `container:FOLDER` or `container:bubblewrap`: a computer of its own for each attempt, as an environment of any task.

FOLDER has a Dockerfile; `bubblewrap` makes the computer of this machine's own programs. The agent is given `run`, `read_file` and
`write_file`, and a coding agent (`cli:`) works in it. The state has the files below `keep`, which the scorers of the task read: they
are as the agent left them, so that a task whose tests the agent must not reach is a folder for `harbor:` instead.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.declared import Blame
from proctor.core.errors import BadInput
from proctor.core.parts import EnvironmentPart
from proctor.core.sample import Sample
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_maker import BoxMaker
from proctor_benchmarks.boxes.box_task import SETUP, BoxTask
from proctor_benchmarks.boxes.contract import Backend, BoxLimits, Network, Seconds
from proctor_benchmarks.boxes.environment import BoxEnvironment
from proctor_benchmarks.boxes.opening import BoxOptions, choose_backend

FOLDER = "/app"
WITHOUT_IMAGE: Backend = "bubblewrap"
NO_LIMIT = 1e9  # of the agent's time, which is that of the sample


class ContainerOptions(BoxLimits, frozen=True, kw_only=True):
    """The options of `container:`.

    Attributes:
        backend: `docker` or `podman`; the first that works where None.
        network: `none`; hosts with their ports (`api.example.com:443`) that alone are reached; or `open`, that of this machine.
        folder: the working folder; `files`, a folder of this machine, is copied into it, and then `setup` is run there.
        keep: the absolute paths whose files are in the state; the working folder where None.
        user: a name or number in the box; that of the image where None.
        command_seconds: for a command that sets no limit of its own.
        healthcheck: a command that has to end well before the agent begins.
        programs: a folder of this machine with the programs of a coding agent, which the box may read.
        blame_death: whose failure it is when the box dies after a call, while a fresh one is sound.
    """

    backend: Backend | None = None
    network: Network = "none"
    folder: str = FOLDER
    files: str | None = None
    setup: str | None = None
    keep: tuple[str, ...] | None = None
    user: str | None = None
    variables: Mapping[str, str] = {}
    command_seconds: Seconds = 120.0
    healthcheck: str | None = None
    programs: str | None = None
    blame_death: Blame = "agent"


class ContainerStart(msgspec.Struct, frozen=True, kw_only=True):
    """What `meta["environment"]` of a sample holds: texts of files in the working folder, by name, and a command that is run after."""

    files: Mapping[str, str] = {}
    setup: str | None = None


def make(argument: str, options: Mapping[str, Any]) -> BoxMaker:
    """Return what opens the box of a sample.

    Raises:
        BadInput: no image, a folder without a Dockerfile, an unknown option, or no backend here that can run it.
    """
    name = f"container:{argument}"
    chosen = converted(options, ContainerOptions, name)
    task, how = _task(argument, chosen, name), _how(argument, chosen, name)
    for path in (chosen.folder, *task.artefacts):
        if not path.startswith("/") or ".." in path.split("/"):
            raise BadInput("{name}: '{path}' is no absolute path in the box.", name=name, path=path)
    choose_backend(how, needs_image=argument != WITHOUT_IMAGE)
    task.files.contents()  # links are refused before anything runs

    def open_for(sample: Sample) -> BoxEnvironment:
        start = converted(sample.known.environment or {}, ContainerStart, f"{name}, {sample.id}")
        setup = start.setup if start.setup is not None else chosen.setup
        texts = {**start.files, **({} if setup is None else {SETUP: setup})}
        files = FileSet(folder=chosen.files, texts=texts)
        return BoxEnvironment(replace(task, files=files), how, mode=None, blame=chosen.blame_death)

    return BoxMaker(open_for, [task], how)


def _task(argument: str, chosen: ContainerOptions, name: str) -> BoxTask:
    """Return the box that is opened, without what a sample adds."""
    if not argument:
        raise BadInput(
            "container: needs an image, a folder with a Dockerfile, or bubblewrap, such as container:python:3.12."
        )
    is_folder = argument.startswith((".", "/", "~"))
    folder = Path(argument).expanduser().absolute()
    if is_folder and not folder.is_dir():
        raise BadInput("{name}: there is no folder {path}.", name=name, path=folder)
    if is_folder and not (folder / "Dockerfile").is_file():
        raise BadInput(
            "{name}: the folder has no Dockerfile. Write one there, or name an image, or bubblewrap.", name=name
        )
    if chosen.files is not None and not Path(chosen.files).expanduser().is_dir():
        raise BadInput("{name}: there is no folder {path}.", name=name, path=chosen.files)
    return BoxTask(
        instruction="",
        image=None if is_folder or argument == WITHOUT_IMAGE else argument,
        build=str(folder) if is_folder else None,
        folder=chosen.folder,
        files=FileSet(folder=None if chosen.files is None else str(Path(chosen.files).expanduser().absolute())),
        variables=chosen.variables,
        artefacts=(chosen.folder,) if chosen.keep is None else chosen.keep,
        agent_user=chosen.user,
        limits=BoxLimits(**{field: getattr(chosen, field) for field in BoxLimits.__struct_fields__}),
        seconds=NO_LIMIT,
        command_seconds=chosen.command_seconds,
        healthcheck=chosen.healthcheck,
    )


def _how(argument: str, chosen: ContainerOptions, name: str) -> BoxOptions:
    """Return how the box is run."""
    if argument == WITHOUT_IMAGE and chosen.backend not in (None, WITHOUT_IMAGE):
        raise BadInput("{name}: {backend} needs an image.", name=name, backend=chosen.backend)
    backend: Backend | None = WITHOUT_IMAGE if argument == WITHOUT_IMAGE else chosen.backend
    return BoxOptions(backend=backend, network=chosen.network, programs=chosen.programs)


PART = EnvironmentPart(make=make, options=ContainerOptions)
