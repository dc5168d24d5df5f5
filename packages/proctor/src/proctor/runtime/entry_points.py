"""Find what installed packages offer Proctor: the entry points of their groups `proctor.*`.

Read from the files that the specification of entry points names, as `importlib.metadata` takes 40 to 90 ms for the same, which every
command would pay. Packages inside of zip files are not found.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.packages import extra_with

OURS = "proctor."


class EntryPoint(NamedTuple):
    """One line of a package's `entry_points.txt`; `owner` is the package with its version."""

    group: str
    name: str
    value: str
    owner: str

    def is_called(self, name: str) -> bool:
        """True if that is its name, in which "-" and "_" are the same."""
        return self.name.replace("_", "-") == name.replace("_", "-")

    def load(self) -> Any:
        """Import a module, or with a colon an object in it; what that prints goes to standard error, as standard output is for results.

        Raises:
            BadInput: it cannot be imported; names the package.
            MissingExtra: it says itself what it needs.
        """
        module, _, attribute = self.value.partition("[")[0].partition(":")
        try:
            with redirect_stdout(sys.stderr):
                value: Any = import_module(module.strip())
                for part in filter(None, attribute.strip().split(".")):
                    value = getattr(value, part)
        except MissingExtra:
            raise
        except (Exception, SystemExit) as error:
            raise BadInput(
                "The entry point '{name}' of {group}, by {owner}, raises when it is imported: {kind}: {error}. Update or uninstall that package.",
                name=self.name,
                group=self.group,
                owner=self.owner,
                kind=type(error).__name__,
                error=error,
            ) from error
        return value


def find_entry_point(group: str, name: str, *, needed_for: str | None = None) -> EntryPoint | None:
    """Return the entry point of a group by its name, in which "-" and "_" are the same; None if no package is known to have it.

    Args:
        needed_for: what is not there without it, as the error calls it; the name if it is not given.

    Raises:
        BadInput: several packages have one of this name.
        MissingExtra: it is in a package of Proctor that is not installed.
    """
    points = [point for point in entry_points(group) if point.is_called(name)]
    if len({point.value for point in points}) > 1:
        raise BadInput(
            "Several packages name '{name}' in {group}: {owners}. Uninstall all but one of them.",
            name=name,
            group=group,
            owners=", ".join(point.owner for point in points),
        )
    if not points and (extra := extra_with(group, name)) is not None:
        raise MissingExtra(extra, needed_for or name)
    return points[0] if points else None


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, in the order of `sys.path`."""
    folders = ((folder or os.curdir, _time_of(folder or os.curdir)) for folder in sys.path)
    return [*_by_group(tuple(folder for folder in folders if _read_folder(*folder))).get(group, ())]


def _time_of(folder: str) -> int:
    """Return when a folder changed; 0 if it is not there."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - every command asks it of each folder several times
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _by_group(folders: tuple[tuple[str, int], ...]) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of folders by group; a package that comes first hides one of its name."""
    seen: set[str] = set()
    points = defaultdict[str, list[EntryPoint]](list)
    for packages in (_read_folder(*folder) for folder in folders):
        for package in sorted(packages.keys() - seen):
            for point in packages[package]:
                points[point.group].append(point)
        seen |= packages.keys()
    return points


@cache
def _read_folder(folder: str, _changed: int) -> dict[str, list[EntryPoint]]:
    """Return the entry points by package; called with the folder's time, so that a package installed meanwhile is seen."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - most of some hundred names are none of these
    except OSError:  # a zip file, or a folder that is not there
        return {}
    points = {}
    for path in (Path(folder, name) for name in names if name.endswith((".dist-info", ".egg-info"))):
        name, _, version = path.stem.partition("-")
        points[name.lower()] = [*_read(path / "entry_points.txt", f"{name.replace('_', '-')} {version}")]
    return points


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
