"""Writing to streams whose encoding lacks characters: on a Chinese Windows pipe (GBK), cp1252, or plain ASCII.

A character that cannot be written becomes its equivalent (− becomes -) or, where it has none, its number (\\u4e2d).
Chinese has no equivalents: who reads Chinese where it cannot be written gets it in UTF-8.
"""

import codecs
import io
import sys

EQUIVALENTS = {
    **dict.fromkeys("−–—╌─━├┤‑", "-"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    "…": "...",
    "·": "|",
    "×": "x",
    "→": ">",
    "←": "<",
    "↔": "<>",
    "✓": "v",
    "✗": "x",
    "●": "o",
    "▸": ">",
    "│": "|",
    "≥": ">=",
    "≤": "<=",
    "±": "+-",
    "√": "sqrt ",
    "：": ": ",
    "，": ", ",
    "。": ".",
    "（": " (",
    "）": ")",
    "、": ", ",
    "\xa0": " ",
}
NAME = "proctor-equivalents"


def write_any_character(language: str) -> None:
    """Make standard output and standard error take every character; calling it again does no harm."""
    codecs.register_error(NAME, _equivalent)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if language == "zh" and not can_write("中", stream.encoding):
                stream.reconfigure(encoding="utf-8")
            stream.reconfigure(errors=NAME)


def can_write(text: str, encoding: str | None) -> bool:
    """True if an encoding has every character of a text."""
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def writable_json(text: str, encoding: str | None) -> str:
    """Return the same JSON with the characters escaped that the encoding lacks; a replacement would change the text.

    >>> writable_json('["a−中"]', "ascii")
    '["a\\\\u2212\\\\u4e2d"]'
    """
    if can_write(text, encoding):
        return text
    import json  # slow to import, and seldom needed

    return "".join(one if can_write(one, encoding) else json.dumps(one)[1:-1] for one in text)


def _equivalent(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    text = ""
    for character in lacking:
        equivalent = EQUIVALENTS.get(character, "")
        text += equivalent if equivalent else character.encode("ascii", "backslashreplace").decode()
    return text, error.end
