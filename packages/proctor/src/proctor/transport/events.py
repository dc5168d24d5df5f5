"""Split a reply into server-sent events, by the rules of the HTML standard and a little beyond them.

Lines end with LF, CR LF or CR; an event with several `data` lines is those lines joined; an empty line ends an event.
Beyond the standard: a line that is whole JSON by itself is an event at once, as some servers send no empty line after it.
"""

from collections.abc import Iterator

import msgspec

END = b"[DONE]"
_FIELDS = (b"data", b"event", b"id:", b"retry:", b":")
_ENOUGH = 6  # bytes that tell a field from anything else
_MARK = b"\xef\xbb\xbf"
_any_json = msgspec.json.Decoder(msgspec.Raw)


class Splitter:
    """Yields the data of each event from the pieces of a body; the work is linear in their size."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # of a line that has not ended yet
        self._data: list[bytes] = []  # the lines of an event that has not ended yet
        self._after_return = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the events that this piece completes."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]  # the second half of CR LF
        self._after_return = piece.endswith(b"\r")
        first, *others = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._line.append(first)
        for following in others:
            yield from self._take(b"".join(self._line))
            self._line = [following]

    def end(self) -> Iterator[bytes]:
        """Yield the rest at the end of the body; the standard drops it, but it may be the answer."""
        yield from self._take(b"".join(self._line))
        yield from self._take(b"")

    def _take(self, line: bytes) -> Iterator[bytes]:
        if not line:
            lines, self._data = self._data, []
            if lines:
                yield b"\n".join(lines)
            return
        field, _, value = line.partition(b":")
        value = value.strip()
        if field != b"data" or not value:
            return
        if not self._data and (value == END or _is_json(value)):
            yield value
        else:
            self._data.append(value)


def are_events(start: bytes, content_type: str) -> bool | None:
    """True if a body that begins like this is a stream of events; None while it is too short to say.

    What is sent counts more than what the server calls it.

    >>> are_events(b"data: {}", "application/json"), are_events(b'{"choices"', "text/event-stream")
    (True, False)
    """
    start = start.removeprefix(_MARK).lstrip()
    if start[:1] in (b"{", b"[", b"<"):
        return False
    if start.startswith(_FIELDS):
        return True
    return None if len(start) < _ENOUGH else content_type == "text/event-stream"


def _is_json(value: bytes) -> bool:
    try:
        _any_json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
