"""From what a person calls a store to the part that opens it."""

import os
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.folders import data_folder
from proctor.registry import find

PARTS = {"postgresql": "postgres"}  # where the scheme of the address is not the name of the part


def located(url: str | None) -> tuple[Any, str]:
    """The part, and the path or address for it.

    Raises:
        BadInput: there is no part for such an address.
    """
    url = url or os.environ.get("PROCTOR_STORE") or str(default_path())
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "sqlite":
        return find("stores", "sqlite"), rest if separator else url
    try:
        return find("stores", PARTS.get(scheme, scheme)), url
    except BadInput:
        raise BadInput(
            "Stores at {scheme}:// addresses are not built in. Give the path of a file instead; it is made if it does not exist.",
            scheme=scheme,
        ) from None


def default_path() -> Path:
    """Where runs are kept when nothing is said: one file in the user's data folder."""
    return data_folder() / "proctor.db"
