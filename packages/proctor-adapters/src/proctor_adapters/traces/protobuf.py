"""Read OTLP protobuf files: one message, or several, each after its length as a varint or in four bytes.

The last is how the file exporter of the OpenTelemetry collector writes them (`format: proto`). A message is a
`TracesData` or an `ExportTraceServiceRequest`, which are the same on the wire: fields 1 with `ResourceSpans`.
"""

from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

from proctor.core.errors import BadInput, needs

SUFFIXES = (".pb", ".binpb")
MOST_OF_A_MESSAGE = 64_000_000
_FIELD_1 = b"\x0a"
_VARINT_BYTES = 5


def is_named_so(path: Path) -> bool:
    """True if the name of a file says that it is protobuf, perhaps compressed."""
    return path.name.removesuffix(".gz").endswith(SUFFIXES)


def messages(path: Path, file: BufferedIOBase, most_bytes: int) -> Iterator[dict[str, object]]:
    """Yield the messages of a file in the form of JSON; of a single one, its resources one by one.

    Raises:
        BadInput: it is no OTLP, is cut off, or is too large; `MissingExtra`.
    """
    with needs("otel", path.name):
        from google.protobuf.json_format import MessageToDict
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    for number, data in enumerate(_records(path, _Bytes(path, file, most_bytes)), 1):
        try:
            yield MessageToDict(TracesData.FromString(data))
        except (DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
            raise BadInput(
                "{path}: message {number} is no OTLP trace: {error}.",
                path=path,
                number=number,
                error=type(error).__name__,
            ) from None


class _Bytes:
    """Reads a file by the byte, up to a limit."""

    def __init__(self, path: Path, file: BufferedIOBase, most: int) -> None:
        self._path, self._file, self._left, self._most = path, file, most, most

    def read(self, count: int, *, may_end: bool = False) -> bytes:
        """Return this number of bytes; where it may end, none at the end of the file."""
        self._left -= count
        if count > MOST_OF_A_MESSAGE or self._left < 0:
            limit = MOST_OF_A_MESSAGE if count > MOST_OF_A_MESSAGE else self._most
            raise BadInput("{path} is larger than {limit} MB; split it.", path=self._path, limit=limit // 1_000_000)
        data = self._file.read(count)
        if len(data) < count and (data or not may_end):
            raise BadInput("{path} is cut off, or no OTLP protobuf.", path=self._path)
        return data

    def varint(self, first: bytes) -> int:
        """Return a length of which the first byte is read already."""
        value, byte = first[0] & 0x7F, first[0]
        for index in range(1, _VARINT_BYTES):
            if byte < 0x80:
                return value
            byte = self.read(1)[0]
            value |= (byte & 0x7F) << (7 * index)
        return value


def _records(path: Path, file: _Bytes) -> Iterator[bytes]:
    """Yield serialized messages; each field of a single one is such a message by itself."""
    first = file.read(1, may_end=True)
    is_single, has_four = first == _FIELD_1, first == b"\0"
    while first:
        if is_single:
            if first != _FIELD_1:
                raise BadInput("{path} is cut off, or no OTLP protobuf.", path=path)
            start = file.read(1)
            body = file.read(file.varint(start))
            yield _FIELD_1 + _varint(len(body)) + body
        else:
            length = int.from_bytes(first + file.read(3)) if has_four else file.varint(first)
            yield file.read(length)
        first = file.read(1, may_end=True)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])
