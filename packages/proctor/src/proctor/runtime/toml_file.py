"""Read a TOML file within bounds, and say which one cannot be read and why."""

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.validation import in_words
from proctor.runtime.files import reading

T = TypeVar("T")


def read_toml(path: Path, kind: type[T], *, most_bytes: int) -> T:
    """Return the tables of a file as a type.

    Raises:
        BadInput: it cannot be read, is too large, no TOML, or not of this type.
    """
    with reading(path), path.open("rb") as file:
        tables = parse_toml(file.read(most_bytes + 1), path, most_bytes=most_bytes)
    try:
        return msgspec.convert(tables, kind)
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None


def parse_toml(data: bytes, path: str | Path, *, most_bytes: int) -> dict[str, object]:
    """Return the tables in the content of a file, in UTF-8 with or without a mark.

    Raises:
        BadInput: it is too large, or no TOML.
    """
    if len(data) > most_bytes:
        raise BadInput("{path} is larger than {limit} bytes.", path=path, limit=most_bytes)
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput("{path} is no valid TOML: {error}.", path=path, error=error) from None
