"""Read attachments that are in the data file itself: bytes, data URLs and base64; and addresses, which stay addresses.

What is in the file is written once into the cache, under its digest, and read again when a sample's turn comes.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import File
from proctor.runtime.files import write_whole
from proctor.runtime.folders import cache_folder

STORED = re.compile(r"inline:([0-9a-f]{64})\.([a-z0-9]{1,5})")
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
DATA_URL = re.compile(r"data:([\w.+/-]{0,100})((?:;[\w=.+-]{1,100}){0,5}),", re.IGNORECASE)
STARTS = (
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"RIFF", "webp"),
    (b"BM", "bmp"),
    (b"%PDF", "pdf"),
)
TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "bmp": "image/bmp", "pdf": "application/pdf", "bin": "application/octet-stream"}  # fmt: skip
SUFFIXES = {media_type: suffix for suffix, media_type in TYPES.items()}
SHORTEST = 64  # characters of base64 without a data URL around them


def file_of(value: object) -> File | None:
    """Return an attachment that a cell holds itself, or the address of one; None for a path.

    A cell may be bytes, `{"bytes": …}` as Hugging Face keeps images, a data URL, base64 of an image, or an address.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") if value.get("bytes") is not None else value.get("path")
    if isinstance(value, bytes | bytearray):
        return _file(bytes(value), None)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if ADDRESS.match(text):
        kind = text.partition("?")[0].rpartition(".")[2].lower().replace("jpeg", "jpg")
        return File(name=text.partition("?")[0].rpartition("/")[2], media_type=TYPES.get(kind, TYPES["png"]), url=text)
    if url := DATA_URL.match(text):
        data = _decode(text[url.end() :]) if ";base64" in url[2].lower() else None
        return None if data is None else _file(data, url[1].lower() or None)
    if len(text) >= SHORTEST and (data := _decode(text)) is not None and _suffix(data) != "bin":
        return _file(data, None)
    return None


def store(file: File) -> str:
    """Save an attachment in the cache and return its name; an address is returned unchanged.

    Raises:
        BadInput: the cache cannot be written.
    """
    if file.data is None:
        return file.url or file.name
    digest = hashlib.sha256(file.data).hexdigest()
    suffix = SUFFIXES.get(file.media_type, "bin")
    path = _folder() / f"{digest}.{suffix}"
    if not path.is_file():
        try:
            write_whole(path, file.data)
        except BadInput as error:
            raise BadInput(
                "The cache folder {folder} cannot be written: {error}. Name another one in PROCTOR_CACHE.",
                folder=path.parent,
                error=error.sentence.values["error"],
            ) from error
    return f"inline:{digest}.{suffix}"


def load(name: str) -> File | None:
    """Return the attachment that `store` named so; None for the path of a file."""
    if ADDRESS.match(name):
        return file_of(name)
    match = STORED.fullmatch(name)
    if match is None:
        return None
    path = _folder() / f"{match[1]}.{match[2]}"
    return File(name=path.name, media_type=TYPES.get(match[2], TYPES["bin"]), data=path.read_bytes())


def digest_of(name: str) -> str | None:
    """Return the digest in a name of `store`, or that of an address; None for the path of a file."""
    match = STORED.fullmatch(name)
    if match is not None:
        return match[1]
    return hashlib.sha256(name.encode()).hexdigest() if ADDRESS.match(name) else None


def _folder() -> Path:
    return cache_folder() / "attachments"


def _file(data: bytes, media_type: str | None) -> File:
    suffix = _suffix(data)
    return File(
        name=f"attachment.{suffix}", media_type=media_type if media_type in SUFFIXES else TYPES[suffix], data=data
    )


def _suffix(data: bytes) -> str:
    return next((suffix for start, suffix in STARTS if data.startswith(start)), "bin")


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
