"""Messages, files and values as plain text, for agents and endpoints that take nothing else."""

import json
from collections.abc import Sequence
from pathlib import Path

from proctor.core.sample import File, Message, Text
from proctor.runtime.files import reading

_json = json.JSONEncoder(ensure_ascii=False, default=str)


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
