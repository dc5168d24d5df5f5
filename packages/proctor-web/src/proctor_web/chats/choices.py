"""Find the agents that may be chatted with: those in the given folder, the project's own, and chat models by name."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from proctor.config import settings
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.registry import unknown
from proctor_adapters.models import local
from proctor_web.folder_code import StartableAgent, agents_in
from proctor_web.workspace import NotFound

PROVIDERS = ("openai", "local", "a2a")  # before a model or an address; none of them takes a path or a command
MOST_FILES = 2_000  # that are looked at for a change of an agent's code
SOURCES = (".py", ".yaml", ".yml", ".toml", ".txt", ".md", ".jinja", ".env")


def list_agents(folder: Path | None) -> list[StartableAgent]:
    """Return the agents of a folder as `adk web` takes it, the objects in its Python files, and the project's own agent.

    Raises:
        BadInput: the folder, or the project's settings, cannot be read.
    """
    choices = [] if folder is None else sorted(agents_in(folder.resolve()), key=lambda each: (each.kind, each.name))
    project = settings()
    name = project.agent
    if name is not None:
        choices.append(StartableAgent(name=name, target=name, kind="project", options=project.agent_options))
    return choices


def choose(name: str, folder: Path | None) -> StartableAgent:
    """Return the agent of a name; `openai:MODEL` and `local:MODEL` need no folder.

    Raises:
        BadInput: there is no such agent, or it may not be started from here.
    """
    known = list_agents(folder)
    if (choice := next((choice for choice in known if choice.name == name), None)) is not None:
        return choice
    provider, colon, model = name.partition(":")
    if provider in PROVIDERS and model and not (provider == "local" and local.is_path(model)) and "env:" not in model:
        project = settings()
        is_same = project.agent is not None and project.agent.partition(":")[0] == provider
        return StartableAgent(name=name, target=name, kind="model", options=project.agent_options if is_same else {})
    if colon:
        raise BadInput(
            "'{name}' cannot be started from the browser. Choose an agent of the folder that the server was given, or a model: {providers}.",
            name=name,
            providers=", ".join(f"{known_provider}:MODEL" for known_provider in PROVIDERS),
        )
    raise NotFound(unknown("agent", name, [choice.name for choice in known], paths=False).sentence)


def digest_code(folder: Path | None) -> str:
    """Return what changes when a file of the agent does: names, sizes and times of the sources in its folder."""
    if folder is None:
        return ""
    seen = []
    for path in islice(_sources(folder), MOST_FILES):
        with suppress(OSError):
            about = path.stat()
            seen.append(f"{path}\0{about.st_mtime_ns}\0{about.st_size}")
    return digest_bytes("\n".join(sorted(seen)).encode("utf-8", "surrogateescape"))


def _sources(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__", "node_modules"))]
        yield from (Path(root, file) for file in files if file.endswith(SOURCES))
