"""Read logs of other evaluation programs as runs: one file for each format, known by its content."""

from collections.abc import Sequence
from pathlib import Path

from proctor import registry
from proctor.core.errors import BadInput
from proctor_adapters.imports._foreign import ForeignRun, LogReading
from proctor_adapters.imports._source import ImportSource

__all__ = ["ForeignRun", "LogReading", "read"]


def read(path: Path, format: str | None = None, how: LogReading = LogReading()) -> Sequence[ForeignRun]:  # noqa: B008 - frozen
    """Return the runs that a log holds; their trials are read when they are asked for, as often as they are.

    Args:
        format: the name of a format, where the file is not to be recognised by its content.

    Raises:
        BadInput: the file cannot be read, is of no known format, or does not hold what its format promises.
    """
    source = ImportSource(path)
    if format is not None:
        return registry.IMPORTS.find(format).read(source, how)
    for _, part in registry.IMPORTS.each():
        if part.knows(source):
            return part.read(source, how)
    raise BadInput(
        "{path} is no log that is known by its content. Name its format with --format: {known}.",
        path=path,
        known=", ".join(registry.IMPORTS.names()),
    )
