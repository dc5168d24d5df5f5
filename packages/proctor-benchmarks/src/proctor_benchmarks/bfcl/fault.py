"""What is wrong with an output: the official error type, and the place it is at."""

from typing import Any, Literal

import msgspec

Rule = Literal["", "not_declared", "not_in_answer", "variable", "unknown_key", "missing_key"]


class BfclFault(msgspec.Struct, frozen=True, kw_only=True):
    """The first fault that the official rule finds; `explain.py` makes a sentence of it.

    Attributes:
        error_type: the official word, or `crash:KeyError` where the official code breaks off.
        rule: tells cases apart that share an error type.
        key: the key inside a dict parameter.
        allowed: the allowed values, or what else was expected at the place.
        got: what came there.
        declared: the declared type of the parameter.
        near: for `cannot_find_match`, the calls that were tried for the expected one.
    """

    error_type: str
    rule: Rule = ""
    function: str = ""
    parameter: str | None = None
    key: object = None
    allowed: Any = None
    got: Any = None
    declared: str = ""
    near: tuple["Near", ...] = ()


class Near(msgspec.Struct, frozen=True):
    """A made call, by its place in the output, that is not the expected one, and why."""

    place: int
    call: dict[str, dict[str | None, object]]
    fault: BfclFault
