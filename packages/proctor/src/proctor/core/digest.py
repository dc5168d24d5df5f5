"""Compute short fingerprints of data, which show that two runs used the same."""

import hashlib
from pathlib import Path

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def digest(value: object) -> str:
    """Return a 32-digit hexadecimal fingerprint of any of our types or of JSON data; the order of keys is irrelevant.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return digest_bytes(_encoder.encode(value))


def digest_bytes(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
