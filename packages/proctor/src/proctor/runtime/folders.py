"""Find the folders of this user: the one for what can be fetched again, and the one for what cannot."""

import os
import sys
from pathlib import Path

NAME = "proctor"


def cache_folder() -> Path:
    """Return the cache folder: `PROCTOR_CACHE`, else the system's folder for caches."""
    if own := os.environ.get("PROCTOR_CACHE"):
        return Path(own).expanduser().absolute()
    from platformdirs import user_cache_path

    return _kept(user_cache_path(NAME, appauthor=False), earlier=_earlier("Caches", "cache"))


def data_folder() -> Path:
    """Return the folder for what cannot be fetched again, such as the store of runs."""
    from platformdirs import user_data_path

    return _kept(user_data_path(NAME, appauthor=False), earlier=_earlier("Application Support", ""))


def _kept(folder: Path, *, earlier: Path | None) -> Path:
    """Return the folder of an earlier version where only that one exists, so that nobody loses what is in it."""
    return earlier if earlier is not None and earlier.exists() and not folder.exists() else folder


def _earlier(macos: str, windows: str) -> Path | None:
    """Return the folder that versions before platformdirs used; None on Linux, where it is the same one.

    They did not read the XDG variables on macOS, and read LOCALAPPDATA on Windows instead of asking the system.
    """
    if sys.platform == "darwin":
        return Path.home() / "Library" / macos / NAME
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / NAME / windows
    return None
