"""The decoded form of an output, and what it means to have none."""

from collections.abc import Mapping
from typing import Any

from proctor.core.sentence import Sentence, clip, say

Arguments = dict[str | None, object]
Call = dict[str, Arguments]
"""One call: `{function name: {parameter: value}}`. What the official decoder could not name has the key None."""


class Undecodable(Exception):
    """The output is not in the official form; `reason` says why, `malformed` that it could at least be read."""

    def __init__(self, reason: Sentence, *, malformed: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.malformed = malformed


def checked(decoded: object) -> list[Call]:
    """Return the decoded output, if it is a list of one-key objects that hold arguments; no call at all is fine.

    Raises:
        Undecodable: it is anything else.

    Source: bfcl-eval 2026.3.23, `bfcl_eval/utils.py`, `is_function_calling_format_output`.

    >>> checked([{"f": {"x": 1}}])
    [{'f': {'x': 1}}]
    """
    if type(decoded) is not list:
        raise Undecodable(say("No function call was found in the output."), malformed=True)
    for item in decoded:
        if type(item) is not dict or len(item) != 1:
            raise Undecodable(say("The output holds something that is no call: {got}.", got=show(item)), malformed=True)
        for name, arguments in item.items():
            if type(arguments) is not dict:
                raise Undecodable(
                    say(
                        "The arguments of {function} are {got}, expected an object.",
                        function=clipped(name),
                        got=show(arguments),
                    ),
                    malformed=True,
                )
    return decoded


def first(call: Mapping[Any, object]) -> tuple[Any, Any]:
    """Return the one entry of a call or an answer: name and arguments; IndexError when there is none, as upstream raises.

    >>> first({"f": {"x": 1}})
    ('f', {'x': 1})
    """
    for entry in call.items():
        return entry
    raise IndexError("list index out of range")


def show(value: object, limit: int = 200) -> str:
    """Return a value as Python writes it, cut to a length that people read; never raises.

    >>> show("cm"), show("a" * 300, 10)
    ("'cm'", "'aaaaaaaaa…")
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of too many digits; nested too deeply
        text = f"<{type(value).__name__}>"
    return clipped(text, limit)


def clipped(value: object, limit: int = 80) -> str:
    """Return a value as text, cut to a length that people read.

    >>> clipped("unit"), clipped("abcdef", 3)
    ('unit', 'abc…')
    """
    return clip(str(value), limit)
