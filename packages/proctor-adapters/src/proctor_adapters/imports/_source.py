"""Read a file of others within bounds: JSON, JSON lines, CSV, each also in gzip, or a zip of JSON; too large or too deep is refused."""

import csv
import gzip
import io
import json
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from proctor.core.errors import BadInput, ProctorError, needs
from proctor.core.validation import in_words
from proctor.datasets.formats import CELL_CHARACTERS
from proctor.stores.blobs import encode

T = TypeVar("T")
Fields = dict[str, msgspec.Raw]  # of an object, each in its own JSON
MOST_DOCUMENT_BYTES = 512_000_000  # of a JSON document, which is in memory as a whole
MOST_RECORD_BYTES = 64_000_000  # of a line, or of the sample of a zip
MOST_MEMBERS = 2_000_000
MOST_RATIO = 500  # of all bytes of a zip or gzip to the size of the file: JSON of conversations is well below 100
LEAST_ALLOWED_BYTES = 1_000_000_000
PIECE = 1 << 16
LOCAL_HEADER_BYTES = 30  # before the name of a member
ZSTANDARD = 93  # the method of a zip member that newer versions of Inspect write


class _Gunzipped(io.RawIOBase):
    """What a file in gzip holds, up to a limit; what its end says of the size is not believed."""

    def __init__(self, source: "ImportSource") -> None:
        self._source = source
        self._file = gzip.GzipFile(source.path)
        self._left = source.most_unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read(min(len(buffer), PIECE))
        except (OSError, EOFError, zlib.error) as error:
            raise self._source.unreadable(error) from None
        self._left -= len(piece)
        if self._left < 0:
            raise self._source.unpacks_to_too_much()
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._file.close()
        super().close()


class ImportSource:
    """A file to import; it is opened each time it is read.

    Attributes:
        name: that of the file, without the ending of gzip.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.is_dir():
                raise BadInput("{path} is a folder, not a log. Name a file in it.", path=path)
            if not path.is_file():
                raise BadInput("There is no file {path}.", path=path)
            if not path.stat().st_size:
                raise BadInput("{path} is empty.", path=path)
            with path.open("rb") as file:
                self._is_gzip = file.read(2) == b"\x1f\x8b"
        except OSError as error:
            raise self.unreadable(error) from None
        self.name = path.stem if self._is_gzip and path.suffix.lower() == ".gz" else path.name
        if self._is_gzip and self.is_zip:
            raise BadInput("{path} is a zip in gzip. Unpack it with gunzip first.", path=path)

    @property
    def stem(self) -> str:
        """Return its name without endings of formats."""
        return Path(self.name).stem

    @property
    def most_unpacked(self) -> int:
        """Return how many bytes a zip or gzip may hold."""
        return max(LEAST_ALLOWED_BYTES, MOST_RATIO * self.path.stat().st_size)

    @cached_property
    def is_zip(self) -> bool:
        with self._open() as file:
            return file.read(4) == b"PK\x03\x04"

    @cached_property
    def is_csv(self) -> bool:
        """True if the file is a table: its first byte opens no JSON value."""
        return not self.is_zip and self._suffix == ".csv"

    @cached_property
    def zipped(self) -> zipfile.ZipFile:
        """Return the open zip; it is closed with the last reference to it."""
        try:
            return zipfile.ZipFile(self.path)
        except zipfile.BadZipFile:
            raise BadInput(
                "{path} is no whole zip: its end is missing or damaged. Copy the log again.", path=self.path
            ) from None
        except (OSError, ValueError, NotImplementedError, UnicodeError) as error:
            raise self.unreadable(error) from None

    @cached_property
    def members(self) -> Mapping[str, zipfile.ZipInfo]:
        """Return the members of a zip by name; of several with one name the last."""
        found = self.zipped.infolist()
        if len(found) > MOST_MEMBERS:
            raise BadInput("{path} has more than {limit} members.", path=self.path, limit=f"{MOST_MEMBERS:,}")
        return {member.filename: member for member in found}

    @cached_property
    def head(self) -> Mapping[str, None]:
        """Return the keys of the first record, which tell a format: of the document if that is an object, else of its first entry."""
        return {} if self.is_zip or self.is_csv else dict.fromkeys(self._first())

    def _first(self) -> Mapping[str, msgspec.Raw]:
        try:
            return self.decode(self._first_line, Fields, "")
        except BadInput:
            pass
        try:
            document = bytes(self.document(msgspec.Raw))
            if document.startswith(b"["):
                entries = self.decode(document, list[msgspec.Raw], "")
                return self.decode(bytes(entries[0]), Fields, "") if entries else {}
            return self.decode(document, Fields, "")
        except BadInput:
            return {}

    @cached_property
    def is_lines(self) -> bool:
        """True if the file is JSON lines: by its name, or its first line is a whole object and not all that there is."""
        first, suffix = self._first_line, self._suffix
        if suffix in (".jsonl", ".ndjson"):
            return first.startswith(b"{")
        try:
            msgspec.json.decode(first, type=Fields)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return False
        with self._open() as file:
            file.readline(MOST_RECORD_BYTES)
            return suffix != ".json" and bool(file.read(PIECE).strip())

    @cached_property
    def is_list(self) -> bool:
        with self._open() as file:
            return file.read(PIECE).lstrip().startswith(b"[")

    def document(self, type: type[T]) -> T:
        """Decode the file as one JSON value.

        Raises:
            BadInput: it is too large, or no such value; the path in it is named.
        """
        with self._open() as file:
            data = file.read(MOST_DOCUMENT_BYTES + 1)
        if len(data) > MOST_DOCUMENT_BYTES:
            raise BadInput(
                "{path} is larger than {limit} MB, and has to be read as a whole.",
                path=self.path,
                limit=MOST_DOCUMENT_BYTES // 1_000_000,
            )
        return self.decode(data, type, "")

    def lines(self, type: type[T]) -> Iterator[T]:
        """Yield each line of JSON lines, decoded.

        Raises:
            BadInput: a line is too long, or no such value; the line is named.
        """
        return (value for _, value in self.numbered_lines(type))

    def numbered_lines(self, type: type[T]) -> Iterator[tuple[int, T]]:
        """Yield each line as `lines` does, with its number."""
        decoder = msgspec.json.Decoder(type)
        with self._open() as file:
            number = 0
            while line := file.readline(MOST_RECORD_BYTES + 1):
                number += 1
                if len(line) > MOST_RECORD_BYTES:
                    raise self.too_large(f"{number}")
                if line.strip():
                    yield number, self.decode(line, decoder, f"{number}")

    def rows(self) -> Iterator[Mapping[str, str]]:
        """Yield the rows of a CSV file by column.

        Raises:
            BadInput: it is no UTF-8, or a field is too long.
        """
        csv.field_size_limit(CELL_CHARACTERS)  # the module's own limit is 131,072 characters
        try:
            with io.TextIOWrapper(self._open(), encoding="utf-8", newline="") as file:
                yield from csv.DictReader(file)
        except (OSError, UnicodeError, csv.Error) as error:
            raise self.unreadable(error) from None

    def records(self, type: type[T], *keys: str) -> Iterator[T]:
        """Yield the entries of JSON lines, of a list, or of the list that the document has at the first of these keys.

        Without keys, a document that is an object is the only entry.

        Raises:
            BadInput: an entry is not of the type.
        """
        if self.is_lines:
            yield from self.lines(type)
            return
        decoder = msgspec.json.Decoder(type)
        for number, entry in enumerate(self._entries(keys), start=1):
            yield self.decode(bytes(entry), decoder, f"[{number - 1}]")

    def _entries(self, keys: Sequence[str]) -> Sequence[msgspec.Raw]:
        whole = bytes(self.document(msgspec.Raw))
        if whole.startswith(b"["):
            return self.decode(whole, list[msgspec.Raw], "")
        if not keys:
            return [msgspec.Raw(whole)]
        fields = self.decode(whole, Fields, "")
        for key in keys:
            if key in fields:
                return self.decode(bytes(fields[key]), list[msgspec.Raw], key)
        raise BadInput("{path}: it has none of: {keys}.", path=self.path, keys=", ".join(keys))

    @cached_property
    def _first_line(self) -> bytes:
        with self._open() as file:
            return file.readline(MOST_RECORD_BYTES)

    @property
    def _suffix(self) -> str:
        return Path(self.name).suffix.lower()

    def _open(self) -> IO[bytes]:
        try:
            file = io.BufferedReader(_Gunzipped(self)) if self._is_gzip else self.path.open("rb")
            if file.peek(3)[:3] == b"\xef\xbb\xbf":
                file.read(3)
        except OSError as error:
            raise self.unreadable(error) from None
        return file

    def decode(self, data: bytes, type: type[T] | msgspec.json.Decoder[T], where: str) -> T:
        """Decode JSON of the file; NaN is read as null, and a lone surrogate as U+FFFD.

        Raises:
            BadInput: it is no such value; names where, and the path in it.
        """
        decoder = type if isinstance(type, msgspec.json.Decoder) else msgspec.json.Decoder(type)
        try:
            try:
                return decoder.decode(data)
            except msgspec.ValidationError:
                raise
            except (msgspec.DecodeError, UnicodeError):  # NaN and lone surrogates, which Python writes as JSON
                return decoder.decode(encode(json.loads(data)))
        except (msgspec.DecodeError, json.JSONDecodeError, RecursionError, ValueError, OverflowError) as error:
            raise BadInput(
                "{path}{where}: {problem}.",
                path=self.path,
                where=f", {where}" if where else "",
                problem=in_words(error),
            ) from None

    def too_large(self, where: str) -> BadInput:
        return BadInput(
            "{path}, {where}: it is larger than {limit} MB.",
            path=self.path,
            where=where,
            limit=MOST_RECORD_BYTES // 1_000_000,
        )

    def unpacks_to_too_much(self) -> BadInput:
        return BadInput(
            "{path} unpacks to more than {ratio} times its size; no log does.", path=self.path, ratio=MOST_RATIO
        )

    def unreadable(self, error: Exception) -> BadInput:
        return BadInput("{path} cannot be read: {error}.", path=self.path, error=in_words(error))


class Unzipped:
    """Reads the members of a zip one by one; what they say of their size is not believed."""

    def __init__(self, source: ImportSource) -> None:
        self._source = source
        self._left = source.most_unpacked

    def member(self, name: str, type: type[T], *, most: int | None = None) -> T:
        """Decode a member.

        Raises:
            BadInput: it is damaged, packed in an unknown way, too large, or no such value.
        """
        return self._source.decode(self._read(name, most or MOST_RECORD_BYTES), type, name)

    def _read(self, name: str, most: int) -> bytes:
        info, pieces, size = self._source.members[name], [], 0
        try:
            for piece in self._pieces(info):
                size += len(piece)
                if size > most:
                    raise self._source.too_large(name)
                pieces.append(piece)
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - each way of packing has errors of its own
            raise self._source.unreadable(error) from None
        self._left -= size
        if self._left < 0:
            raise self._source.unpacks_to_too_much()
        return b"".join(pieces)

    def _pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type == ZSTANDARD and sys.version_info < (3, 14):
            yield from self._zstandard(info)
            return
        with self._source.zipped.open(info) as file:
            while piece := file.read(PIECE):
                yield piece

    def _zstandard(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """Yield what a member holds that `zipfile` of Python below 3.14 cannot unpack; its check sum is compared."""
        with needs("inspect", "A log that is packed with Zstandard"):
            import zstandard
        check = 0
        with self._source.path.open("rb") as file:
            file.seek(info.header_offset + LOCAL_HEADER_BYTES - 4)
            file.seek(sum(struct.unpack("<HH", file.read(4))), os.SEEK_CUR)  # the name, and what follows it
            packed = io.BytesIO(file.read(min(info.compress_size, MOST_RECORD_BYTES)))
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as unpacked:
            while piece := unpacked.read(PIECE):
                check = zlib.crc32(piece, check)
                yield piece
        if check != info.CRC:
            raise zipfile.BadZipFile(f"bad check sum of {info.filename}")
