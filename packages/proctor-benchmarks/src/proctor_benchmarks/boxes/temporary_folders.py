"""Make folders that end with their block, and remove those of processes that were killed before that."""

import glob
import os
import shutil
import socket
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from proctor.runtime.alive import is_alive

_PREFIX = f"proctor-box-{socket.gethostname()}-"


def temporary_folder() -> TemporaryDirectory[str]:
    """Return a new folder, named by the process that it belongs to."""
    _remove_left()
    return TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)


@cache
def _remove_left() -> None:
    """Remove the folders of processes of this machine that are dead; once for a process of ours."""
    for folder in Path(gettempdir()).glob(f"{glob.escape(_PREFIX)}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
