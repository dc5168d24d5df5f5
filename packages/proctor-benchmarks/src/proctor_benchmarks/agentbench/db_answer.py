"""Compare answers of the database part with the expected ones, in both editions.

The official code passes the model's text to `eval`. Here it is evaluated by `reply_parsing/arithmetic.py`, which computes what is
made of literals, operators and harmless builtins, and runs no code.

Source: THUDM/AgentBench, `src/server/tasks/dbbench/`: `__init__.py` of v0.2 (commit 41e6807349f7) for the text edition,
`result_processor.py` of main (commit 578c5e9f706f) for the edition with functions.
"""

import ast
import re
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from keyword import iskeyword
from typing import Any

import msgspec

from proctor_judging.replies.arithmetic import evaluate

CHANGING = ("INSERT", "DELETE", "UPDATE")
TYPES = (
    "other",
    "counting",
    "comparison",
    "ranking",
    "aggregation-SUM",
    "aggregation-MIN",
    "aggregation-MAX",
    "aggregation-AVG",
    "SELECT",
    "INSERT",
    "UPDATE",
)
_MEAN_OF = ("SELECT", "INSERT", "UPDATE")
_NOTHING = ("none", "null", "undefined", "nan", "inf", "infinity", "-inf", "-infinity", "")
_LONGEST = 100_000  # characters of an answer that is evaluated
_TOLERANCE = 1e-2
_SIMPLE = msgspec.json.Decoder(list[str | int | float])
# of which no expression begins, but for keywords
_TWO_WORDS = re.compile(r"([A-Za-z_]+) +([A-Za-z_]+)(?![A-Za-z_\"'])")
_WARNED = re.compile(r"\\|\d[A-Za-z_]")  # what Python's parser may warn of


def is_right(answer: Any, type: str, target: Any) -> bool:
    """True if an answer of the text edition is right; that to a change is the digest of the table.

    >>> is_right('["b", "a", "a"]', "ranking", ["a", "b"]), is_right("[15/1]", "counting", ["15.0"]), is_right("[]", "other", ["5"])
    (True, True, False)
    """
    if type in CHANGING:
        return bool(answer == target)
    try:
        given = _value(answer, as_list=True)
    except Exception:  # noqa: BLE001 (whatever Python raises for the text, officially too)
        given = [answer]
    if len(given) == 1 and len(target) == 1:
        try:
            return float(given[0]) == float(target[0])
        except (ValueError, TypeError):
            return bool(given[0] == target[0])
    try:
        return set(given) == set(target)
    except TypeError:
        return False


def overall(rows: Sequence[tuple[Any, Any]]) -> dict[str, float]:
    """Return the accuracy of each type, and the mean of three; a type without samples has 0.

    `SELECT` are all but INSERT and UPDATE, so that DELETE is among them, as officially.
    """
    judged = [(result["type"], is_right(result["answer"], result["type"], target)) for result, target in rows if result]
    accuracies = {}
    for wanted in TYPES:
        counted = [
            right
            for type, right in judged
            if type == wanted or (wanted == "SELECT" and type not in ("INSERT", "UPDATE"))
        ]
        accuracies[f"{wanted}_accuracy"] = sum(counted) / len(counted) if counted else 0
    return {**accuracies, "overall_cat_accuracy": sum(accuracies[f"{kind}_accuracy"] for kind in _MEAN_OF) / 3}


def is_right_with_functions(answer: object, type: str, target: object) -> bool:
    """True if an answer of the edition with functions is right: both sides are cleaned, numbers may differ by 0.01.

    >>> is_right_with_functions("[('1,234',)]", "counting", ["1234.005"]), is_right_with_functions(None, "other", ["null"])
    (True, True)
    """
    try:
        given, wanted = _cleaned(answer), _cleaned(target)
        if given is None or wanted is None:
            return given is wanted and type in CHANGING
        if type in CHANGING:
            return given == wanted
        if len(given) == len(wanted) == 1:
            if all(_is_number(value) for value in (*given, *wanted)):
                return _near(given[0], wanted[0])
            return given == wanted
        if all(_is_number(value) for value in (*given, *wanted)):
            return _all_near(given, wanted)
        return set(given) == set(wanted)
    except Exception:  # noqa: BLE001 (officially a wrong answer)
        return False


def _value(text: str, *, as_list: bool = False) -> Any:
    """Return the value of an expression; most answers are a list that is JSON too, or words, which need no parser of Python.

    Raises:
        Exception: whatever Python raises for it, or `arithmetic.Refused`.
    """
    if "\\" not in text:
        with suppress(msgspec.DecodeError, UnicodeError):
            return _SIMPLE.decode(text.strip(" \t"))
    text = text.lstrip(" \t")
    if len(text) > _LONGEST or ((words := _TWO_WORDS.match(text)) and not any(map(iskeyword, words.groups()))):
        raise ValueError("no expression")
    with warnings.catch_warnings(action="ignore") if _WARNED.search(text) else nullcontext():
        node = ast.parse(text, mode="eval").body
    if as_list:
        node = ast.Call(func=ast.Name(id="list", ctx=ast.Load()), args=[node], keywords=[])
    return evaluate(node)


def _all_near(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if each number has its own one on the other side, taken in order."""
    left = list(wanted)
    for value in found:
        match = next((index for index, other in enumerate(left) if _near(value, other)), None)
        if match is None:
            return False
        del left[match]
    return not left


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _near(one: str, other: str) -> bool:
    return abs(float(one) - float(other)) <= _TOLERANCE


def _cleaned(answer: object) -> list[str] | None:
    """Return the values of one side as texts; None where the official code forgets to return any."""
    match answer:
        case None:
            return ["0"]
        case str():
            return _cleaned_text(answer)
        case list() | tuple():
            return [_normal(_unpacked(value)) for value in answer]
    return [_normal(_bare(answer))]


def _cleaned_text(answer: str) -> list[str] | None:
    text = answer.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return [_normal(_bare(text))]
    try:
        values = _value(text)
    except Exception:  # noqa: BLE001 (whatever Python raises for the text, officially too)
        row = _single_row(answer)
        return _split(text[1:-1]) if row is None else [_normal(row)]
    if not isinstance(values, list):  # such as `[1] + [2] == [3]`
        row = _single_row(answer)
        return None if row is None else [_normal(row)]
    if text == answer and all(isinstance(row, tuple) for row in values):  # a reply of the database
        return [_normal(_bare(row[0])) for row in values if len(row) == 1]
    if (row := _single_row(answer)) is not None:
        return [_normal(row)]
    return [_normal(_unpacked(value)) for value in values]


def _single_row(answer: str) -> str | None:
    """Return the value in what looks like one row of one column, such as `[(10:30,)]`."""
    inner = answer.strip("[]")
    is_row = answer.startswith("[") and answer.endswith("]") and inner.count("(") == 1
    return _bare(inner[1:-2]) if is_row and inner.startswith("(") and inner.endswith(",)") else None


def _split(text: str) -> list[str]:
    """Return what is between the commas of a text that is no Python; quotes toggle, whichever they are."""
    values, current, quoted = [], "", False
    for character in text:
        if character in "\"'":
            quoted = not quoted
        elif character == "," and not quoted:
            if current:
                values.append(_normal(_bare(current)))
            current = ""
        else:
            current += character
    return [*values, _normal(_bare(current))] if current else values


def _unpacked(value: object) -> str:
    return _bare(value[0] if isinstance(value, tuple) and len(value) == 1 else value)


def _bare(value: object) -> str:
    return str(value).strip().strip("'\"")


def _normal(value: str) -> str:
    text = value.strip()
    if text.endswith("%"):
        return text[:-1].strip()
    if not text.startswith("[") and not text.endswith("]"):
        text = text.replace(",", "")
    return "0" if text.lower() in _NOTHING else text
