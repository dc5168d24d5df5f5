"""Find installed packages for a worker, which has only the standard library otherwise."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from proctor.core.errors import BadInput


def find_packages(*names: str) -> Sequence[Path]:
    """Return the folders from which this interpreter imports the packages, each once.

    All that is installed in such a folder can be imported in the worker, so that what the packages need is there.

    Raises:
        BadInput: one of them is not installed.
    """
    folders = dict.fromkeys(folder for name in names for folder in _folders(name))
    return tuple(folders)


def _folders(name: str) -> Sequence[Path]:
    spec = find_spec(name)
    if spec is None:
        raise BadInput("The package '{name}' is not installed.", name=name)
    if spec.submodule_search_locations is not None:
        return [Path(location).parent for location in spec.submodule_search_locations]
    assert spec.origin is not None
    return [Path(spec.origin).parent]
