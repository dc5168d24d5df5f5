"""Read the attachments of samples and answers: bytes in the record, or a file in the cache folder, never an address."""

from pathlib import Path

import msgspec

from proctor.core.media_type import shown_type
from proctor.core.sample import File
from proctor.runtime.folders import cache_folder

MOST_BYTES = 50_000_000
BEGIN = 12  # bytes that tell what a picture or sound is


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """An attachment that can be sent: `shown` is its type if a browser may show it; any other is only to be downloaded."""

    name: str
    size: int
    shown: str = ""


def describe_attachment(file: File) -> Attachment | None:
    """Return what is known of a file; None where it is an address, or lies where the server may not read."""
    name = file.name or (file.path or "").rpartition("/")[2] or "attachment"
    if file.data is not None:
        return Attachment(name=name, size=len(file.data), shown=shown_type(file.data[:BEGIN]))
    path = _in_the_cache(file.path)
    if path is None:
        return None
    with path.open("rb") as opened:
        return Attachment(name=name, size=path.stat().st_size, shown=shown_type(opened.read(BEGIN)))


def read_attachment(file: File) -> bytes | None:
    """Return the bytes of a file; None as above."""
    if file.data is not None:
        return file.data
    path = _in_the_cache(file.path)
    return None if path is None else path.read_bytes()


def _in_the_cache(name: str | None) -> Path | None:
    """Return a file in the cache folder, where benchmarks keep their data; None for any other."""
    try:
        path = Path(name or "").resolve(strict=True)
        allowed = bool(name) and path.is_relative_to(cache_folder().resolve()) and path.is_file()
        return path if allowed and path.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError, RuntimeError):  # not there, no name of a file, or links in a circle
        return None
