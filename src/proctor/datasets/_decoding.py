"""Which encoding a text file has: a mark at its start, UTF-16 without one, UTF-8, or GB18030 (which holds GBK)."""

import codecs
from pathlib import Path

from proctor.core.errors import BadInput

CHUNK = 1 << 20
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def encoding_of(path: Path) -> str:
    """The encoding that the whole file can be read with.

    Raises:
        BadInput: it is none of them; says at which byte UTF-8 stops.
    """
    with path.open("rb") as file:
        start = file.read(1024)
    for mark, name in MARKS:
        if start.startswith(mark):
            fault = _fault(path, name)
            if fault is None:
                return name
            raise BadInput(
                "{path} begins as {encoding}, but byte {byte} does not belong there.",
                path=path,
                encoding=name,
                byte=fault,
            )
    if start.count(0) > len(start) // 4:  # plain letters in UTF-16 have a zero in every second byte
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    fault = _fault(path, "utf-8")
    if fault is None:
        return "utf-8"
    if _fault(path, "gb18030") is None:
        return "gb18030"
    raise BadInput(
        "{path} is neither UTF-8 (byte {byte} does not belong there), UTF-16 nor GB18030. Save it as UTF-8.",
        path=path,
        byte=fault,
    )


def _fault(path: Path, encoding: str) -> int | None:
    """The byte at which a file cannot be read so; None when it can."""
    decoder = codecs.getincrementaldecoder(encoding)()
    place = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return place - held + error.start
            place += len(chunk)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return place
    return None
