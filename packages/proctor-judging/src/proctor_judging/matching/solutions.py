"""Read the solutions of an equation that a sentence tells as assignments: `x = 2 and x = -3`, `x₁=5, x₂=2`, `解得x=7`."""

import re
from fractions import Fraction

from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.syntax import read_tree

SEPARATOR = compile_later(
    r"\s*(?:[,，;；、]|,?\s(?:and|or|so|then|gives?|giving)\s|[和或与及]|\.\s)\s*(?:or\s|and\s|即|则|故|所以|解得|得)?"
)
ASSIGNED = compile_later(
    r"(?:.*?(?<![A-Za-z\d√π)\]}^*/+.∩∪-]))?(?P<name>[A-Za-z]|\\?(?:alpha|beta|theta|lambda))(?P<index>_?\{?\d\}?|_\{?[a-z]\}?)?\s?=\s?(?P<value>[^=]{1,80})"
)
MOST_SOLUTIONS = 12
EQUALITY = compile_later(r"\s?([=≈])\s?")
ROUNDED = Fraction(1, 200)  # by which a rounded value may differ


def read_solutions(sentence: str) -> tuple[str, ...]:
    """Return the assignments with which a sentence ends, and the same without the names; nothing if it ends otherwise.

    >>> read_solutions("The solutions are x = 2 and x = -3")
    ('x = 2, x = -3', '{2, -3}', '2, -3', '2 and -3')
    >>> read_solutions("3x = 21, so x = 7"), read_solutions("x = 1, y = 2"), read_solutions("it is 3")
    (('x = 7', '7'), ('x = 1, y = 2',), ())
    """
    names: list[str] = []
    values: list[str] = []
    for piece in reversed(SEPARATOR.split(sentence)[-MOST_SOLUTIONS:]):
        match = ASSIGNED.fullmatch(piece)
        value = match["value"].strip(" .。") if match is not None else piece.strip(" .。")
        if read_tree(value) is None or (match is None and not re.search(r"\d", value)):
            break
        names.insert(0, match["name"] if match is not None else "")
        values.insert(0, value)
        if (
            match is not None
            and len(piece[: match.start("name")].strip()) > 1
            and not piece[match.start("name") - 1].isspace()
            and piece[0].isascii()
        ):
            break
    while names and not names[0]:
        del names[0], values[0]  # a value before the first assignment
    if not names:
        return ()
    named = ", ".join(f"{name} = {value}" for name, value in zip(_filled(names), values, strict=True))
    if len(values) == 1:
        return named, values[0]
    if len(set(names) - {""}) > 1:
        return (named,)
    listed = ", ".join(values)
    return named, "{" + listed + "}", listed, f"{', '.join(values[:-1])} and {values[-1]}"


def _filled(names: list[str]) -> list[str]:
    """Return the names, where `x = 2 or -3` gives the second value no name of its own."""
    filled: list[str] = []
    for name in names:
        filled.append(name or filled[-1])
    return filled


def equal_values(chain: str) -> tuple[str, ...]:
    """Return the values at the end of a chain of equations that are one number: `1/6` and `0.1667` of `6/36 = 1/6 ≈ 0.1667`.

    >>> equal_values("6/36 = 1/6 ≈ 0.1667"), equal_values("x = 5"), equal_values("2 = 3")
    (('0.1667', '1/6', '6/36'), ('5',), ('3',))
    """
    pieces = EQUALITY.split(chain)
    values = [pieces[-1].strip(" .。")]
    last = read_number(values[0])
    for sign, piece in zip(pieces[-2::-2], pieces[-3::-2], strict=True):
        number = read_number(piece.strip())
        if last is None or number is None:
            break
        value, other = Fraction(number.value), Fraction(last.value)
        near = abs(value - other) <= ROUNDED * abs(other) if sign == "≈" else value == other
        if not near:
            break
        values.append(piece.strip())
        last = number
    return tuple(values)
