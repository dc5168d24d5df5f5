"""Find the command that installs something into the running environment, from where this copy of Proctor came."""

import json
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any

NAME = "proctor"


def is_installed(package: str) -> bool:
    """True if a package can be imported; a folder of that name on the path, without `__init__.py`, is none."""
    from importlib.util import find_spec  # slow to import

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # half an installation, or blocked in sys.modules
        return False
    return spec is not None and spec.origin is not None


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    A clone is installed from its folder, a copy from a repository or an archive from there. The bare name is used only
    for a copy that came from a package index, as elsewhere it may be the name of another project.
    """
    return _command(extra, Path.cwd())


@cache
def _command(extra: str, here: Path) -> str:
    return f"{installer(here)} {_requirement(extra, here)}"


def installer(here: Path | None = None) -> str:
    """Return the command that installs packages into this environment: uv where that made it, else its own pip."""
    python = shlex.quote(_seen_from(here or Path.cwd(), Path(sys.executable)))
    try:
        made_by_uv = "\nuv = " in "\n" + (Path(sys.prefix) / "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # no virtual environment
        made_by_uv = False
    return f"uv pip install --python {python}" if made_by_uv else f"{python} -m pip install"


def _requirement(extra: str, here: Path) -> str:
    package, inside = _brought_by(extra)
    clone = Path(*Path(__file__).resolve().parts[:-6])
    if (clone / "packages" / NAME / "pyproject.toml").is_file():
        return f"-e '{_seen_from(here, clone / 'packages' / package)}{inside}'"
    origin = _origin()
    url = str(origin.get("url", ""))
    if url.startswith("file://") and "dir_info" in origin:
        from urllib.parse import unquote, urlsplit

        return f"'{_seen_from(here, Path(unquote(urlsplit(url).path)).with_name(package))}{inside}'"
    if url and "vcs_info" in origin:
        return f"'{package}{inside} @ {origin['vcs_info'].get('vcs')}+{url}#subdirectory=packages/{package}'"
    return f"'{NAME}[{extra}] @ {url}'" if url else f"'{NAME}[{extra}]'"


def _brought_by(extra: str) -> tuple[str, str]:
    """Return the package of ours that an extra brings, and its own extra in brackets; else the kernel, with the extra."""
    from importlib.metadata import PackageNotFoundError, requires  # slow to import

    try:
        needed = [
            requirement
            for requirement in requires(NAME) or ()
            if requirement.endswith((f'extra == "{extra}"', f"extra == '{extra}'"))
        ]
    except PackageNotFoundError:
        needed = []
    ours = [match for requirement in needed if (match := re.match(rf"({NAME}-[\w-]+)(\[.*?\])?", requirement))]
    return (ours[0][1], ours[0][2] or "") if ours else (NAME, f"[{extra}]")


def _origin() -> dict[str, Any]:
    """Return where this copy was installed from, as `direct_url.json` says; empty for a package index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        data = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _seen_from(here: Path, path: Path) -> str:
    """Return a path relative to a folder that contains it, else the whole path."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
