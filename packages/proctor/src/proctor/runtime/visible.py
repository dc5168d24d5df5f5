"""Make every character of a hostile text visible, so that it cannot steer a terminal or turn a line around."""

import json
import re

from proctor.core.sentence import clip

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, without tab and line feed
    "\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb"  # bidi, invisible
    "\ud800-\udfff"  # half a character, which cannot be written as UTF-8
    "\U000e0000-\U000e007f"  # tags: invisible ASCII
    "]"
)
_FOLDERS = re.compile(
    r"(?<![\w./\\:~-])(?:file://)?(?:(?:/|~[\w.-]*/)(?:[^\s/:\"'|]+/)+|~[\w.-]*/|[A-Za-z]:[\\/](?:[^\s\\/:\"'|]+[\\/])*)"
    r"|(?<=[:])(?:/(?:[^\s/:\"'|]+/)+|~/(?:[^\s/:\"'|]+/)*)"
)


def visible(text: str) -> str:
    """Return the text with control, bidi and invisible characters replaced by visible ones; line feeds and tabs stay.

    >>> visible("a\\x1b[31mb\\u202ec\\x00"), visible("a\\r\\nb")
    ('a␛[31mb⟨U+202E⟩c␀', 'a\\nb')
    """
    return _HIDDEN.sub(_sign, text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """Return the JSON with control, bidi and invisible characters escaped, so that it cannot control a terminal.

    >>> visible_json('["\\x9b\\u202e"]')
    '["\\\\u009b\\\\u202e"]'
    """
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def one_line(text: str, characters: int = 200) -> str:
    """Return the visible text in one line, cut to a length.

    >>> one_line("a\\n  b", 80), one_line("abcdef", 3)
    ('a b', 'abc…')
    """
    flat = " ".join(visible(text[: 4 * characters + 100]).split())
    return clip(flat, characters)


def names_only(text: str) -> str:
    """Return the text with absolute paths cut to the name of the file: a page that is sent around names no folders.

    >>> names_only("/srv/ann/agent.py:answer"), names_only("process:python ~/bots/bot.py --fast")
    ('agent.py:answer', 'process:python bot.py --fast')
    >>> names_only("http://localhost:8000/v1"), names_only("bfcl/simple_python"), names_only("C:\\\\data\\\\ann\\\\a.csv")
    ('http://localhost:8000/v1', 'bfcl/simple_python', 'a.csv')
    """
    return _FOLDERS.sub("", text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
