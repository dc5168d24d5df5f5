"""Tell the media type of a file by its first bytes: what a tool or a log declares may be wrong, or a trap."""

import re

OCTETS = "application/octet-stream"
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # SVG can hold scripts
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_SIGNED = PICTURES | {"application/pdf"}
_NAME = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")


def type_by_bytes(data: bytes) -> str:
    """Return the media type that the first 12 bytes show; "" where they show none.

    >>> type_by_bytes(b"GIF89a"), type_by_bytes(b"<svg>")
    ('image/gif', '')
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), "")


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
