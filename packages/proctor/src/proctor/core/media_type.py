"""Tell the media type of a file by its first bytes: what a tool or a log declares may be wrong, or a trap."""

import re
from functools import cache

OCTETS = "application/octet-stream"
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # SVG can hold scripts
PDF = "application/pdf"
WAV, MP3 = "audio/wav", "audio/mpeg"
SOUNDS = frozenset({WAV, MP3})
_SHOWN = PICTURES | SOUNDS
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)
_SIGNED = PICTURES | SOUNDS | {PDF}
_RIFF = {b"WEBP": "image/webp", b"WAVE": WAV}
_NAME = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")


def type_by_bytes(data: bytes) -> str:
    """Return the media type that the first 12 bytes show; "" where they show none.

    >>> type_by_bytes(b"GIF89a"), type_by_bytes(b"<svg>")
    ('image/gif', '')
    """
    if data[:4] == b"RIFF":
        return _RIFF.get(bytes(data[8:12]), "")
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), MP3 if _is_mp3(data) else "")


def shown_type(data: bytes) -> str:
    """Return the media type of a picture or sound that a browser may show, by its first bytes; "" for any other file."""
    kind = type_by_bytes(data)
    return kind if kind in _SHOWN else ""


def media_type_of(data: bytes, declared: str) -> str:
    """Return the media type of a file: what its bytes show, else the declared one unless they contradict it.

    >>> media_type_of(b"GIF89a", "image/png"), media_type_of(b"a,b", "text/csv; header=absent"), media_type_of(b"<p>", "image/png")
    ('image/gif', 'text/csv', 'application/octet-stream')
    """
    shown = type_by_bytes(data)
    if shown:
        return shown
    name = declared.partition(";")[0].strip().lower()
    return name if _NAME.fullmatch(name) and name not in _SIGNED else OCTETS


@cache
def result_media(*, pictures: bool, pdf: bool, sound: bool) -> frozenset[str]:
    """Return the media types of the files that a tool result is sent with."""
    return frozenset().union(PICTURES if pictures else (), (PDF,) if pdf else (), SOUNDS if sound else ())


def _is_mp3(data: bytes) -> bool:
    r"""True if data begins with an ID3 tag, or with the header of a frame of MPEG audio, layer III.

    >>> _is_mp3(b"ID3\x04\x00"), _is_mp3(b"\xff\xfb\x90\x64"), _is_mp3(b"ID3,name"), _is_mp3(b"\xff\xfe<\x00")
    (True, True, False, False)
    """
    if data[:3] == b"ID3":
        return data[3:4] in (b"\2", b"\3", b"\4")
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 != 0xE2:  # 11 bits of synchronisation, then layer III
        return False
    version, bitrate, rate = data[1] >> 3 & 3, data[2] >> 4, data[2] >> 2 & 3
    return version != 1 and bitrate not in (0, 15) and rate != 3
