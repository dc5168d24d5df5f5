"""Find the line of a value in a JSON text, for messages that name it."""

import json
import re

from proctor.core.sentence import Sentence

Path = tuple[str | int, ...]
_BLANK = re.compile(r"[ \t\r\n]*")
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


class Invalid(Exception):
    """A value in a file is wrong; `read` adds file and line."""

    def __init__(self, path: Path, problem: Sentence) -> None:
        super().__init__(str(problem))
        self.path = path
        self.problem = problem


def line_of(text: str, path: Path) -> int:
    """Return the line where a value begins, or where the last existing part of its path does.

    Keys may be in camelCase in the text.

    >>> line_of('{"a": [1,\\n {"bC": 2}]}', ("a", 1, "b_c"))
    2
    """
    return text.count("\n", 0, _place(text, path)) + 1


def format_path(path: Path) -> str:
    """Format a path the way users write it.

    >>> format_path(("eval_cases", 0, "conversation"))
    '$.eval_cases[0].conversation'
    """
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _place(text: str, path: Path) -> int:
    decoder = json.JSONDecoder()
    position = _behind_blanks(text, 0)
    for step in path:
        member = _member(text, position, step, decoder)
        if member is None:
            break
        position = member
    return position


def _member(text: str, place: int, step: str | int, decoder: json.JSONDecoder) -> int | None:
    """Return where the value of a key, or the element of a list, begins."""
    opening = {str: "{", int: "["}[type(step)]
    if text[place : place + 1] != opening:
        return None
    place = _behind_blanks(text, place + 1)
    count = 0
    while text[place : place + 1] not in ("}", "]", ""):
        key: object = count
        if opening == "{":
            key, place = decoder.raw_decode(text, place)
            place = _behind_blanks(text, _behind_blanks(text, place) + 1)
        if step in (key, _snake(key)):
            return place
        _, place = decoder.raw_decode(text, place)
        place = _behind_blanks(text, place)
        if text[place : place + 1] == ",":
            place = _behind_blanks(text, place + 1)
        count += 1
    return None


def _behind_blanks(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _snake(key: object) -> object:
    return _CAPITAL.sub(lambda found: "_" + found[1].lower(), key) if isinstance(key, str) else key
