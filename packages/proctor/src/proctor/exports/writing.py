"""Define what the formats share: their options, and text output to a file that is replaced as a whole, or to an open one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from proctor.runtime.files import draft_of

Options = Mapping[str, Any]


@contextmanager
def writing(target: Path | TextIO, *, newline: str | None = None) -> Iterator[TextIO]:
    """Yield a text file to write to: the one given, or a new one that takes its place once everything is written.

    Raises:
        BadInput: the file cannot be written.
    """
    if not isinstance(target, Path):
        yield target
        return
    with (
        draft_of(target) as draft,
        draft.open("w", encoding="utf-8", errors="backslashreplace", newline=newline) as file,
    ):
        yield file
