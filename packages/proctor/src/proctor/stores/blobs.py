"""Encode records: as JSON, compressed with zlib where that makes a long one shorter.

What JSON cannot hold does not keep a record from being stored: a lone surrogate becomes U+FFFD, an object of another
type its text, NaN and infinity null.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.transport.redact import HIDDEN

LONG_BYTES = 1_000
_COMPRESSED = b"\x78"  # how zlib begins; JSON of a record begins with a brace


def _as_text(value: object) -> str:
    return str(value)


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_as_text)


def encode(value: object) -> bytes:
    """Encode one of our types as JSON; equal values give equal bytes.

    >>> encode({"text": "a\\ud800b"}).decode()
    '{"text":"a�b"}'
    """
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, TypeError):  # TypeError: a dict with keys that JSON does not know
        return _encoder.encode(_clean_value(value))


def encode_without(keys: Sequence[bytes], value: object) -> bytes:
    """Encode a record with a mark in place of each of these keys of the user.

    >>> encode_without([b"abc123"], {"answer": "my key is abc123"}).decode()
    '{"answer":"my key is [hidden]"}'
    """
    data = encode(value)
    for key in keys:
        if key in data:
            data = data.replace(key, HIDDEN.encode())
    return data


def pack(data: bytes) -> bytes:
    """Compress a long record, if that makes it shorter."""
    if len(data) <= LONG_BYTES:
        return data
    packed = zlib.compress(data, 1)
    return packed if len(packed) < len(data) else data


def unpack(data: bytes) -> bytes:
    return zlib.decompress(data) if data[:1] == _COMPRESSED else data


def clean(text: str) -> str:
    """Return a text without lone surrogates; a pair of surrogates becomes its character.

    >>> clean("\\ud83d\\ude00"), clean("\\ude00")
    ('😀', '�')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _clean_value(value: object) -> Any:
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(key if isinstance(key, str) else str(key)): _clean_value(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_clean_value(item) for item in value]
        case msgspec.Struct():
            tag = value.__struct_config__.tag
            fields = {name: _clean_value(getattr(value, name)) for name in value.__struct_fields__}
            return fields if tag is None else {value.__struct_config__.tag_field: tag, **fields}
        case _:
            return value
