"""Read a JSON file, or one of JSON lines, and say which one cannot be read and why."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.validation import in_words

T = TypeVar("T")


def read_json(path: Path) -> Any:
    """Return the value in a JSON file, in UTF-8 with or without a mark, UTF-16 or UTF-32.

    Raises:
        BadInput: it cannot be read, or is no JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None


def read_json_lines(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    """Yield the lines of a file, gzipped if its name ends so, as a type, each with its number; empty lines are left out.

    Read as Python does: NaN and whole numbers of any size are numbers.

    Raises:
        BadInput: a file or line that cannot be read; names the line.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for number, text in enumerate(lines, start=1):
                if text.strip():
                    yield number, _line(path, number, text, kind)
    except (OSError, EOFError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from error


def _line(path: Path, number: int, text: bytes, kind: type[T]) -> T:
    try:
        return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise BadInput("{path}, line {line}: {error}.", path=path, line=number, error=in_words(error)) from None
