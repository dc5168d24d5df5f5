"""The official package: where its pages are, and which tasks there are. Nothing of its Python is imported."""

import os
import re
from functools import cache
from pathlib import Path

from proctor.core.errors import BadInput
from proctor_adapters.datasets import fetch

PACKAGE = fetch.Package(
    name="miniwob",
    version="1.1.0",
    file="miniwob-1.1.0-py3-none-any.whl",
    sha256="297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9",
    prefix="miniwob/",
    command="proctor data pull miniwob",
)
LICENCE = "MIT"
FLIGHT = "flight."  # how the names of the three tasks begin that need a server
_SUBDOMAIN = re.compile(r'^    subdomain = "([\w.-]+)"$', re.MULTILINE)


def locate(source: str | Path | None = None, *, progress: fetch.Progress | None = None) -> Path:
    """Return the folder `miniwob` of the package, which holds `html` and `envs`.

    Args:
        source: an unpacked wheel, a clone, the pinned wheel, or None for `PROCTOR_MINIWOB_DATA`, else the cache, else a
            download into it.

    Raises:
        BadInput: nothing of the kind is there. Nothing is downloaded when a source was given.
    """
    source = source or os.environ.get("PROCTOR_MINIWOB_DATA") or None
    if source is None:
        return fetch.pull(PACKAGE, progress=progress) / "miniwob"
    path = Path(source).expanduser()
    if path.is_file() and path.suffix == ".whl":
        return fetch.pull(PACKAGE, source=path) / "miniwob"
    for folder in (path, path / "miniwob"):
        if (folder / "html" / "core" / "core.js").is_file() and (folder / "envs").is_dir():
            return folder.resolve()
    raise BadInput(
        "{path} holds no package miniwob. Leave it out to use the pinned one ({version}).",
        path=path,
        version=PACKAGE.version,
    )


@cache
def names(folder: Path) -> tuple[str, ...]:
    """Return the tasks that the package registers, in its order; five of its pages are none of them.

    Raises:
        BadInput: it names none, or one without a page.
    """
    sources = [folder / "envs" / file for file in ("miniwob_envs.py", "flightwob_envs.py")]
    listed = [name for file in sources if file.is_file() for name in _SUBDOMAIN.findall(file.read_text("utf-8"))]
    missing = [name for name in listed if not page(folder, name).is_file()]
    if missing or not listed:
        raise BadInput("{path} has no page for the task '{name}'.", path=folder, name=next(iter(missing), "*"))
    return tuple(listed)


def page(folder: Path, name: str) -> Path:
    if name.startswith(FLIGHT):
        return folder / "html" / name.replace(".", "/") / "wrapper.html"
    return folder / "html" / "miniwob" / f"{name}.html"
