"""Keep what came out of boxes by content, in the folder for what cannot be fetched again."""

import hashlib
import os
from pathlib import Path
from typing import TypeVar

import msgspec

from proctor.runtime.folders import data_folder

T = TypeVar("T")


def blob_folder() -> Path:
    return data_folder() / "boxes"


def keep_blob(data: bytes) -> str:
    """Keep bytes and return their SHA-256, by which they are found."""
    name = hashlib.sha256(data).hexdigest()
    path = blob_folder() / name[:2] / name
    if not path.exists():
        _write(path, data)
    return name


def find_blob(name: str) -> bytes | None:
    """Return kept bytes; None if they are not there, or are others than were kept."""
    path = blob_folder() / name[:2] / name
    if not name.isalnum() or not path.is_file():
        return None
    data = path.read_bytes()
    return data if hashlib.sha256(data).hexdigest() == name else None


def keep_record(key: str, record: msgspec.Struct) -> None:
    """Keep what was found out about a thing, by a fingerprint of it."""
    _write(_record_path(key), msgspec.json.encode(record))


def find_record(key: str, kind: type[T]) -> T | None:
    """Return what was found out; None if nothing was, or it cannot be read."""
    try:
        return msgspec.json.decode(_record_path(key).read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def _record_path(key: str) -> Path:
    return blob_folder() / "records" / f"{key}.json"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(path)
