"""Pass texts that hold NUL, which PostgreSQL's cannot: as `\\0`, with every backslash doubled."""

from psycopg.abc import Buffer
from psycopg.types.string import StrBinaryDumper, StrDumper, TextBinaryLoader, TextLoader


def escape(text: str) -> str:
    r"""Return a text without NUL.

    >>> escape("a\0b\\c")
    'a\\0b\\\\c'
    """
    if "\0" not in text and "\\" not in text:
        return text
    return text.replace("\\", "\\\\").replace("\0", "\\0")


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return "\\".join(part.replace("\\0", "\0") for part in text.split("\\\\"))


class Escaped(StrDumper):
    def dump(self, obj: str) -> "Buffer | None":
        return super().dump(escape(obj))


class EscapedBinary(StrBinaryDumper):
    def dump(self, obj: str) -> "Buffer | None":
        return super().dump(escape(obj))


class Unescaped(TextLoader):
    def load(self, data: "Buffer") -> str | bytes:
        text = super().load(data)
        return unescape(text) if isinstance(text, str) else text


class UnescapedBinary(TextBinaryLoader):
    def load(self, data: "Buffer") -> str | bytes:
        text = super().load(data)
        return unescape(text) if isinstance(text, str) else text
