"""Find the command that installs something into the running environment, from where this copy of Proctor came."""

import json
import shlex
import sys
from functools import cache
from pathlib import Path

NAME = "proctor"


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
    clone = Path(__file__).resolve().parents[3]
    if (clone / "pyproject.toml").is_file() and (clone / "src" / NAME).is_dir():
        return f"-e {_of_folder(clone, extra, here)}"
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import

    try:
        origin = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
        url = str(origin.get("url", ""))
    except (PackageNotFoundError, ValueError, AttributeError):
        origin, url = {}, ""
    if url.startswith("file://") and "dir_info" in origin:
        from urllib.parse import unquote, urlsplit

        return _of_folder(Path(unquote(urlsplit(url).path)), extra, here)
    if url:
        kind = origin.get("vcs_info", {}).get("vcs")
        return f"'{NAME}[{extra}] @ {f'{kind}+' if kind else ''}{url}'"
    return f"'{NAME}[{extra}]'"


def _of_folder(folder: Path, extra: str, here: Path) -> str:
    return f"'{_seen_from(here, folder)}[{extra}]'"


def _seen_from(here: Path, path: Path) -> str:
    """Return a path relative to a folder that contains it, else the whole path."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
