"""Find what installed packages offer Proctor: the entry points of their groups `proctor.*`.

Read from the files that the specification of entry points names, as `importlib.metadata` takes 40 to 90 ms for the same, which every
command would pay. Packages inside of zip files are not found.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

OURS = "proctor."


class EntryPoint(NamedTuple):
    """One line of a package's `entry_points.txt`; `owner` is the package with its version."""

    group: str
    name: str
    value: str
    owner: str

    def load(self) -> Any:
        """Import what is named: a module, or with a colon an object in it."""
        module, _, attribute = self.value.partition("[")[0].partition(":")
        found: Any = import_module(module.strip())
        for part in filter(None, attribute.strip().split(".")):
            found = getattr(found, part)
        return found


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, in the order of `sys.path`."""
    seen: set[str] = set()
    found: list[EntryPoint] = []
    for folder in sys.path:
        packages = _packages(folder or os.curdir)
        for package in sorted(packages.keys() - seen):  # a package that comes first hides one of its name
            found += [one for one in packages[package] if one.group == group]
        seen |= packages.keys()
    return found


def _packages(folder: str) -> Mapping[str, Sequence[EntryPoint]]:
    try:
        return _read_folder(folder, Path(folder).stat().st_mtime_ns)
    except OSError:  # a zip file, or a folder that is not there
        return {}


@cache
def _read_folder(folder: str, _changed: int) -> dict[str, list[EntryPoint]]:
    """Return the entry points by package; called with the folder's time, so that a package installed meanwhile is seen."""
    found = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix in (".dist-info", ".egg-info"):
            name, _, version = path.stem.partition("-")
            found[name.lower()] = [*_read(path / "entry_points.txt", f"{name.replace('_', '-')} {version}")]
    return found


def _read(file: Path, owner: str) -> Iterator[EntryPoint]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    group = ""
    for line in map(str.strip, text.splitlines() if OURS in text else ()):
        name, equals, value = line.partition("=")
        if line.startswith("["):
            group = line.strip("[] ")
        elif equals and group.startswith(OURS) and not line.startswith(("#", ";")):
            yield EntryPoint(group, name.strip(), value.strip(), owner)
