"""Keep runs and their trials: one module for each kind of database."""

import os
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.registry import STORES
from proctor.runtime.folders import data_folder


def open_store(url: str | None = None) -> Store:
    """Open the store at a path or address; None is `PROCTOR_STORE`, or a file in the user's data folder.

    `:memory:` is a store that goes away when it is closed.

    Raises:
        BadInput: it is no store, cannot be opened, or is of a kind that is not there.
    """
    url = url or os.environ.get("PROCTOR_STORE") or str(default_path())
    scheme, separator, rest = url.partition("://")
    scheme = {"postgres": "postgresql"}.get(scheme, scheme)  # libpq understands both
    if not separator or scheme == "sqlite":
        return STORES.find("sqlite").open(rest if separator else url)
    STORES.check_installed(scheme)
    if not STORES.knows(scheme):
        raise BadInput(
            "Stores at {scheme}:// addresses are not built in. Give the path of a file instead; it is made if it does not exist. Known: {known}.",
            scheme=scheme,
            known=", ".join(f"{name}://" for name in STORES.names()),
        )
    return STORES.find(scheme).open(url)


def default_path() -> Path:
    """Return where runs are stored by default: one file in the user's data folder."""
    return data_folder() / "proctor.db"
