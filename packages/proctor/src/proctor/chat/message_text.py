"""Messages, files and values as plain text, for agents and endpoints that take nothing else."""

import json
import re
from base64 import b64encode
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from proctor.core.media_type import MP3, PDF, PICTURES, WAV, type_by_bytes
from proctor.core.sample import File, Message, Text, ToolResult
from proctor.runtime.files import reading

_json = json.JSONEncoder(ensure_ascii=False, default=str)
MOST_FILE_BYTES = 20_000_000
_LEFT_OUT = re.compile(r"\[(\d{1,9}) files? left out: ")  # anywhere: libraries put a result into JSON


def text_of(messages: Sequence[Message]) -> str:
    """Return the one message as text, or all of them with their roles; files are named.

    >>> text_of([Message.of("system", "Be brief."), Message.of("user", "Hi")])
    'system: Be brief.\\n\\nuser: Hi'
    """
    if len(messages) == 1:
        return _text(messages[0])
    return "\n\n".join(f"{message.role}: {_text(message)}" for message in messages)


def file_note(file: File) -> str:
    """Return a line that names a file to a model that cannot be given it."""
    name = file.name or (Path(file.path).name if file.path else "file")
    address = file.url or file.path
    return f"\n[Attached file: {name} ({file.media_type})" + (f", at {address}]\n" if address else "]\n")


def describe_file(file: File) -> str:
    """Return the name, type and size of a file of a tool result.

    >>> describe_file(File(name="a.png", media_type="image/png", data=b"12"))
    'a.png (image/png, 2 bytes)'
    """
    return f"{file.name or 'file'} ({file.media_type}, {len(file.data or b''):,} bytes)"


def data_url(media_type: str, data: bytes) -> str:
    """Return bytes as an address that holds them."""
    return f"data:{media_type};base64,{b64encode(data).decode()}"


def left_out(file: File, why: str) -> str:
    """Return the line of a tool result that says that a file is not there; `count_left_out` counts such lines."""
    return f"[1 file left out: {describe_file(file)}; {why}.]"


class MediaBytes(NamedTuple):
    """A file as a request holds it: its media type, and its bytes or its address."""

    media_type: str
    data: bytes
    url: str | None = None


def media_to_send(file: File, kinds: Sequence[str], addressed: Sequence[str] = ()) -> MediaBytes | None:
    """Return a file of a message as an API is sent it; None for one that it does not take, or that cannot be read.

    Its bytes decide whether it is a PDF or sound, whatever its name or declared type is.

    Args:
        kinds: the beginnings of the media types that are sent.
        addressed: those that the API also takes as an address.
    """
    if file.url is not None:
        is_taken = file.media_type.startswith(tuple(addressed)) and file.media_type.startswith(tuple(kinds))
        return MediaBytes(file.media_type, b"", file.url) if is_taken else None
    if (data := bytes_of(file)) is None:
        return None
    kind = type_by_bytes(data) or file.media_type
    if kind in (PDF, WAV, MP3) and kind != type_by_bytes(data):
        return None
    return MediaBytes(kind, data) if kind.startswith(tuple(kinds)) else None


def bytes_of(file: File) -> bytes | None:
    """Return the bytes of a file that the data set brought; None when it is not there or too large."""
    if file.data is not None:
        return file.data
    try:
        if file.path is None or (path := Path(file.path)).stat().st_size > MOST_FILE_BYTES:
            return None
        return path.read_bytes()
    except OSError:
        return None


def media_of_result(result: ToolResult, media: Collection[str] = PICTURES) -> list[tuple[File, bytes]]:
    """Return the files of a tool result that are sent to a model: bytes only, as a path is the word of the tool."""
    return [(file, file.data) for file in result.files if file.media_type in media and file.data is not None]


def result_text(result: ToolResult, media: Collection[str] = PICTURES) -> str:
    """Return the text of a tool result, with a line for each file that cannot be sent with it.

    Args:
        media: the media types of the files that are sent to who reads this.
    """
    if not result.files:
        return result.content
    files = (file for file in result.files if file.data is None or file.media_type not in media)
    missing = [left_out(file, "it cannot be shown here") for file in files]
    return "\n".join(filter(None, (result.content, *(line for line in missing if line not in result.content))))


def result_with_text(result: ToolResult, media: Collection[str]) -> ToolResult:
    """Return a result whose text says which of its files are not sent."""
    return replace(result, content=result_text(result, media)) if result.files else result


def count_left_out(messages: Sequence[Message]) -> int:
    """Count the files that results of tools say were left out."""
    results = (part for message in messages for part in message.parts if isinstance(part, ToolResult))
    return sum(int(count) for result in results for count in _LEFT_OUT.findall(result.content))


def file_bytes(file: File) -> bytes:
    """Return the content of a file that came with a sample; empty for a file that is only an address.

    Raises:
        BadInput: it cannot be read.
    """
    if file.data is not None or file.path is None:
        return file.data or b""
    with reading(file.path):
        return Path(file.path).read_bytes()


def as_json(value: object) -> str:
    """Return any value as JSON; what is no JSON in it becomes text."""
    try:
        return _json.encode(value)
    except (ValueError, TypeError, RecursionError):  # a circle, or keys that are no texts
        return str(value)


def is_chinese(text: str) -> bool:
    """True if a text is mostly Chinese, apart from formulas and single English words.

    >>> is_chinese("求 \\\\frac{1}{2} 与 x 之和"), is_chinese("The word 和 means and.")
    (True, False)
    """
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
    words = sum(word.isascii() and word.isalpha() and len(word) > 1 for word in text.split())
    return chinese > words


def _text(message: Message) -> str:
    if len(message.parts) == 1 and isinstance(message.parts[0], Text):  # the usual message
        return message.parts[0].text
    parts = (part for part in message.parts if isinstance(part, Text | File))
    return "".join(part.text if isinstance(part, Text) else file_note(part) for part in parts)
