"""Find the settings of a project: `proctor.toml`, or `[tool.proctor]` in `pyproject.toml`, in a folder or one above it.

Every command looks for them, if only for its language; so nothing is imported before there is something to read.
"""
# pathlib takes longer to import than this takes to look
# ruff: noqa: PTH113, PTH116, PTH118, PTH120, PTH123

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from proctor.core.errors import BadInput

_HAS_TABLE = (
    rb"""(?m)^[ \t]*(?:\[[ \t'"]*tool[ \t'"]*(?:\]|\.[ \t'"]*proctor)|['"]?tool)"""  # may have, in every spelling
)


def project_table(folder: str) -> tuple[str, Mapping[str, object]] | None:
    """Return the path of the nearest file and the settings in it; None where no folder above has any.

    Raises:
        BadInput: the file is no TOML; names it.
    """
    for here in _upwards(folder):
        own = os.path.join(here, "proctor.toml")
        if os.path.isfile(own):
            return own, _toml(own)
        shared = os.path.join(here, "pyproject.toml")
        if os.path.isfile(shared) and (table := _toml(shared, _HAS_TABLE).get("tool", {}).get("proctor")) is not None:
            return shared, table
    return None


def table_of(path: str) -> Mapping[str, object]:
    """Return the settings in a file: all of it, or of a `pyproject.toml` the table `[tool.proctor]`.

    Raises:
        BadInput: it cannot be read, or is no TOML; names it.
    """
    try:
        table = _toml(path)
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    is_shared = path.endswith("pyproject.toml")
    own: Mapping[str, object] = table.get("tool", {}).get("proctor", {}) if is_shared else table
    return own


def _upwards(folder: str) -> Iterator[str]:
    above = os.path.realpath(folder)
    here = ""
    while here != above:
        here, above = above, os.path.dirname(above)
        yield here


def _toml(path: str, needed: bytes = b"") -> Mapping[str, Any]:
    stat = os.stat(path)
    return _parse(path, needed, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _parse(path: str, needed: bytes, _changed: int, _size: int) -> Mapping[str, object]:
    """Parse a file; the cache key holds its time and size. Returns no tables where the pattern is not in it."""
    with open(path, "rb") as file:
        content = file.read()
    if not re.search(needed, content):
        return {}
    import tomllib

    try:
        return tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput("{path} is no valid TOML: {error}.", path=path, error=error) from None
