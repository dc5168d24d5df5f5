"""Bound the memory and the number of all processes of a box together, where this machine lets us.

Version 2 of the kernel's control groups, where our own group is delegated to us, or version 1, where root may write. A group
carries the id of the process that made it, so that those of dead processes are removed when the next box starts.
"""

import asyncio
import itertools
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "proctor-box-"
_ATTEMPTS = 50
_numbers = itertools.count()
_JOIN = 'for folder in $BOX_GROUPS; do echo $$ > "$folder/cgroup.procs" || exit 97; done; unset BOX_GROUPS; exec "$@"'


class ControlGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of a group: one in version 2, one for each resource in version 1."""

    folders: Sequence[Path]

    def command(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another one in this group."""
        joined = " ".join(map(str, self.folders))
        return ["sh", "-c", f"BOX_GROUPS='{joined}'; {_JOIN}", "sh", *command]

    def memory_kills(self) -> int:
        """Return how many processes were ended for want of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError, ValueError):
                    words = dict(line.split() for line in (folder / name).read_text("ascii").splitlines())
                    return int(words.get("oom_kill", 0))
        return 0

    async def remove(self) -> None:
        """Remove the group when the last of its processes has ended."""
        for folder in self.folders:
            for _ in range(_ATTEMPTS):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:  # the kernel still ends them
                    await asyncio.sleep(0.02)
                else:
                    break


def make_group(memory_mb: int, processes: int) -> ControlGroup | None:
    """Return a new group with these bounds; None if this machine has none for us."""
    parents = _parents()
    if not parents:
        return None
    name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    memory, most = str(memory_mb << 20), str(processes)
    settings: Mapping[str, str] = {
        "memory.max": memory, "memory.swap.max": "0", "memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory,
        "pids.max": most,
    }  # fmt: skip
    swap = ("memory.swap.max", "memory.memsw.limit_in_bytes")
    folders = [parent / name for parent in parents]
    try:
        for folder in folders:
            folder.mkdir()
            for file, value in settings.items():
                if (folder / file).exists():
                    with suppress(*([OSError] if file in swap else [])):  # swap that cannot be bounded is none
                        (folder / file).write_text(value, "ascii")
    except OSError:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        return None
    return ControlGroup(folders=folders)


@cache
def _parents() -> Sequence[Path]:
    """Return the folders in which groups can be made, after removing those of dead processes there."""
    try:
        lines = Path("/proc/self/cgroup").read_text("ascii").splitlines()
    except OSError:
        return ()
    paths = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
    unified = _ROOT / paths.get("", "/").lstrip("/")
    with suppress(OSError):
        if {"memory", "pids"} <= set((unified / "cgroup.subtree_control").read_text("ascii").split()):
            return _usable([unified])
    return _usable([_ROOT / name / paths[name].lstrip("/") for name in ("memory", "pids") if name in paths])


def _usable(folders: Sequence[Path]) -> Sequence[Path]:
    if len(folders) == 0 or not all(os.access(folder, os.W_OK) for folder in folders):
        return ()
    for left in (path for folder in folders for path in folder.glob(f"{_PREFIX}*")):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", owner).exists():
            with suppress(OSError):
                left.rmdir()
    return folders
