"""The official package: where it is, and worker processes that run it."""

import asyncio
import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.sample import Tool
from proctor.isolation import Workers, find_packages
from proctor_adapters.datasets import fetch

PACKAGE = fetch.Package(
    name="agentdojo",
    version="0.1.35",
    file="agentdojo-0.1.35-py3-none-any.whl",
    sha256="364bea4219716b716bf639f504d195943f7f6a5535d312ca41d7098704a2affd",
    prefix="agentdojo/",
    command="proctor data pull agentdojo",
)
LICENCE = "MIT"
NEEDS = ("pydantic", "yaml", "deepdiff", "docstring_parser", "email_validator")


class OfficialSuite(msgspec.Struct, frozen=True):
    """A suite in one version of the benchmark."""

    user_tasks: Mapping[str, str]
    injection_tasks: Mapping[str, str]
    vectors: Mapping[str, str]
    tools: tuple[Tool, ...]


class OfficialListing(msgspec.Struct, frozen=True):
    """A version of the benchmark; `attacks` says of each whether it only wants the agent to stop."""

    system: str
    attacks: Mapping[str, bool]
    models: tuple[str, ...]
    suites: Mapping[str, OfficialSuite]


def locate(source: str | Path | None = None, *, progress: fetch.Progress | None = None) -> Path:
    """Return the folder that holds the package's folder `agentdojo`.

    Args:
        source: an unpacked wheel, a clone or its `src`, the pinned wheel, or None for `PROCTOR_AGENTDOJO_DATA`, else the
            cache, else a download into it.

    Raises:
        BadInput: nothing of the kind is there. Nothing is downloaded when a source was given.
    """
    source = source or os.environ.get("PROCTOR_AGENTDOJO_DATA") or None
    if source is None:
        return fetch.pull(PACKAGE, progress=progress)
    path = Path(source).expanduser()
    if path.is_file() and path.suffix == ".whl":
        return fetch.pull(PACKAGE, source=path)
    for below in (path, path / "src", path.parent):
        if (below / "agentdojo" / "task_suite").is_dir():
            return below.absolute()
    raise BadInput(
        "{path} holds no package agentdojo. Leave it out to use the pinned one ({version}).",
        path=path,
        version=PACKAGE.version,
    )


def make_workers(folder: Path, size: int | None = None) -> Workers:
    """Return worker processes that run the package in a folder.

    Raises:
        MissingExtra: what the package imports is not installed.
    """
    if not all(map(is_installed, NEEDS)):
        raise MissingExtra("agentdojo", "AgentDojo")
    # The official calendar lists people in the order of a set of texts, which must not change from process to process.
    return Workers(
        Path(__file__).with_name("worker_program.py"),
        paths=(folder, *find_packages(*NEEDS)),
        size=size,
        variables={"PYTHONHASHSEED": "0"},
    )


@cache
def listing(folder: Path, version: str) -> OfficialListing:
    """Return what a version of the benchmark holds.

    Raises:
        BadInput: there is no such version.
    """
    official_listing = msgspec.convert(ask(folder, "listing", version=version), OfficialListing)
    if not official_listing.suites:
        raise BadInput("AgentDojo {package} has no version '{version}'.", package=PACKAGE.version, version=version)
    return official_listing


def ask(folder: Path, function: str, **arguments: object) -> Any:
    """Run a function of the worker program for code that cannot await it."""
    workers, loop = _waiting(folder)
    return asyncio.run_coroutine_threadsafe(workers.run(function, **arguments), loop).result()


@cache
def _waiting(folder: Path) -> tuple[Workers, asyncio.AbstractEventLoop]:
    """Return a worker and its event loop in a thread of its own, as another loop may be running in this one; it ends with the program."""
    loop = asyncio.new_event_loop()
    workers = make_workers(folder, size=1)
    threading.Thread(target=loop.run_forever, name="proctor-agentdojo", daemon=True).start()
    asyncio.run_coroutine_threadsafe(workers.__aenter__(), loop).result()
    return workers, loop
