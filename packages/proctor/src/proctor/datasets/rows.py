"""Read the rows of a data file, or of a folder of them."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.datasets._folder import files_in
from proctor.datasets.formats import READERS, FileReading, is_empty, kind_of

T = TypeVar("T")
AS_FOUND = FileReading()


class DataRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row: its number among the rows that are not empty (from 1), the line it was read from, and its cells by column."""

    number: int
    where: Sentence
    cells: Mapping[str, Any]

    def cell(self, column: str) -> Any:
        """Return what a column holds; `data.question` is looked for in the object of the column `data`."""
        if column in self.cells:
            return self.cells[column]
        value: object = self.cells
        for key in column.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return None
            value = value[key]
        return value


def rows(path: Path, reading: FileReading = AS_FOUND) -> Iterator[DataRow]:
    """Yield the rows of a file, or of a folder of files, that are not empty; lazily where the format allows it.

    Raises:
        BadInput: a file cannot be read, or a row is malformed; names file and row.
    """
    number = 0
    for file in files_in(path, reading):
        try:
            for where, cells in READERS[kind_of(file)](file, reading):
                if any(not is_empty(value) for value in cells.values()):
                    number += 1
                    yield DataRow(number=number, where=where, cells=cells)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput("{path} cannot be unpacked: {error}.", path=file.name, error=error) from None
