"""Find the other program, and what its worker is started with."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.isolation import WorkerLimits, WorkerProgram, find_packages
from proctor.isolation.limits import MEGABYTE
from proctor_adapters.bridge.options import GuestHow

PYTHON = "PROCTOR_GUEST_PYTHON"
ASK_SECONDS = 60.0
LIMITS = WorkerLimits(
    seconds=600.0,
    start_seconds=300.0,
    memory_bytes=4_096 * MEGABYTE,
    output_bytes=256 * MEGABYTE,
    file_bytes=256 * MEGABYTE,
    processes=1_000,
)
CACHES = {"HF_HOME": "~/.cache/huggingface", "XDG_CACHE_HOME": "~/.cache", "XDG_DATA_HOME": "~/.local/share"}
QUIET = {"INSPECT_DISPLAY": "none", "NO_COLOR": "1"}
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
_SAY = "import importlib.util, json, sys; print(json.dumps([importlib.util.find_spec(sys.argv[1]) is not None, sys.path[1:]]))"


def program_of(file: Path, package: str, extra: str, how: GuestHow, name: str) -> WorkerProgram:
    """Return the program of a worker that can import a package: from our environment, or from that of another interpreter.

    Data that the package fetched earlier are where it keeps them; in a confined worker they can be read only.

    Raises:
        MissingExtra: the package is not installed here, and no other interpreter is named.
        BadInput: the interpreter does not run, or does not have the package.
    """
    python = how.python or os.environ.get(PYTHON)
    if python is None and not is_installed(package):
        raise MissingExtra(extra, name)
    paths = find_packages(package) if python is None else _paths_of(python, package)
    return WorkerProgram(
        path=file,
        paths=paths,
        python=None if python is None else Path(python).expanduser().absolute(),
        variables={**QUIET, **(_read_only() if how.confined else caches())},
        limits=LIMITS,
        confined=how.confined,
    )


def _read_only() -> Mapping[str, str]:
    """Return the variables of a worker that has folders of its own in place of those, in which theirs are linked."""
    return {**OFFLINE, **{f"PROCTOR_READS_{name}": folder for name, folder in caches().items()}}


def caches() -> Mapping[str, str]:
    """Return the folders below which other programs keep what they fetch, by the variable that names them."""
    return {name: os.environ.get(name) or str(Path(usual).expanduser()) for name, usual in CACHES.items()}


@cache
def _paths_of(python: str, package: str) -> Sequence[Path]:
    command = [str(Path(python).expanduser()), "-c", _SAY, package]
    try:
        done = subprocess.run(command, capture_output=True, timeout=ASK_SECONDS, check=True)  # noqa: S603 - the user's interpreter
        has_package, paths = msgspec.json.decode(done.stdout, type=tuple[bool, list[str]])
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise BadInput("{python} is no Python that runs here: {error}", python=python, error=error) from None
    if not has_package:
        raise BadInput("{python} does not have the package {package}.", python=python, package=package)
    return [Path(path) for path in paths if path]
