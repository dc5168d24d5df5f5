"""Note the files below this folder that code opens, in a process of its own: the hook stays until the process ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CODE = (".py", ".pyc", ".so", ".pth")
_noted: list[str] | None = None


@contextmanager
def noting_files() -> Iterator[list[str]]:
    """Yield a list that holds, after the block, the paths that were opened in it, relative to this folder."""
    global _noted  # noqa: PLW0603 - an audit hook takes no argument
    paths: list[str] = []
    _noted = paths
    try:
        yield paths
    finally:
        _noted = None
        folder = Path.cwd().resolve()
        below = {
            str(path.relative_to(folder))
            for path in (folder.joinpath(path).resolve() for path in paths)
            if path.is_relative_to(folder)
        }
        paths[:] = sorted(path for path in below if not path.endswith(CODE) and path != ".")


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _noted is not None and isinstance(arguments[0], str | os.PathLike):
        _noted.append(os.fspath(arguments[0]))


sys.addaudithook(_note)
