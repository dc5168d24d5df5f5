"""Say in a few words, and in a few lines, how calls differ from those expected."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from proctor.core.sample import ToolCall
from proctor.core.sentence import Sentence, clip, listed, say
from proctor.trajectory_matching.arguments import ABSENT, ArgumentFault
from proctor.trajectory_matching.compare import CallComparison
from proctor.trajectory_matching.expectation import ExpectedCall
from proctor.trajectory_matching.pairing import CallPair

_json = json.JSONEncoder(ensure_ascii=False, default=str)
VALUE_CHARACTERS = 60
CALL_CHARACTERS = 160
LINES = 60
MOST_DIFFERENCES = 4
SIGNS = {
    "matched": "=", "partly": "~", "out of order": "↕", "wrong arguments": "~", "wrong function": "≠", "missing": "-",
    "extra": "+", "repeated": "+", "forbidden": "!",
}  # fmt: skip
CLASSES = {
    "missing": "missing_call",
    "extra": "extra_call",
    "wrong function": "wrong_function",
    "out of order": "wrong_order",
    "repeated": "unnecessary_call",
    "forbidden": "unnecessary_call",
}


class ShownEntry(msgspec.Struct, frozen=True):
    """An entry with its calls as code; None if it has none."""

    entry: CallPair
    expected: str | None
    made: str | None


def shown(found: CallComparison) -> list[ShownEntry | int]:
    """Return the entries in the order the calls were made; a number is how many are left out."""
    return [one if isinstance(one, int) else _shown(one, found) for one in _chosen(found.entries)]


def diff(rows: Sequence[ShownEntry | int]) -> list[str]:
    """Return one line for each call.

    = search(q="A")
    ~ book(day=3)   day: expected 4, got 3
    - pay(amount=5)
    + ping()
    """
    return [f"… +{row}" if isinstance(row, int) else f"{SIGNS[row.entry.kind]} {_line(row)}" for row in rows]


def sides(rows: Sequence[ShownEntry | int], turn: int | None = None) -> list[dict[str, object]]:
    """Return the rows as data, each expected call next to the one made in its place, for pages with their own layout.

    {"kind": "wrong arguments", "expected": "book(day=4)", "made": "book(day=3)", "faults": [["day", "4", "3"]]}
    """
    entries = [{"kind": "more", "count": one} if isinstance(one, int) else _side(one) for one in rows]
    return [{"turn": turn, **row} for row in entries] if turn is not None else entries


def summarize(found: CallComparison) -> Sentence:
    """Return the comparison in one sentence: the counts, and the first few differences."""
    full = sum(entry.kind == "matched" for entry in found.entries)
    head = say(
        "{full} of {expected} expected calls, {made} made", full=full, expected=len(found.calls), made=len(found.made)
    )
    different = [_difference(entry, found) for entry in found.entries if entry.kind not in ("matched", "forbidden")]
    every = [*found.broken, *found.unmet, *different]
    parts = every[:MOST_DIFFERENCES]
    hidden = len(every) - len(parts)
    if hidden > 0:
        parts.append(say("{count} more", count=hidden))
    if not found.best:
        parts.append(say("the order is too wide to be sure that no better assignment exists"))
    return say("{head}: {parts}", head=head, parts=listed(parts)) if parts else head


def errors(found: CallComparison) -> Mapping[str, int]:
    """Return how often each of nine classes of error occurs: what happened to calls, or to arguments of calls nearly right."""
    count: Counter[str] = Counter()
    for entry in found.entries:
        if entry.kind in CLASSES:
            count[CLASSES[entry.kind]] += 1
        elif entry.kind != "matched":
            count.update(fault.kind for fault in entry.faults)
    return count


def call_text(name: str, arguments: Mapping[str, object] | None) -> str:
    """Return a call as code, with long values cut.

    >>> call_text("book", {"day": 4, "who": "Ann"})
    'book(day=4, who="Ann")'
    """
    inside = ", ".join(f"{key}={value_text(value)}" for key, value in (arguments or {}).items())
    text = f"{name}({inside})"
    return text if len(text) <= CALL_CHARACTERS else text[:CALL_CHARACTERS] + "…)"


def value_text(value: object) -> str:
    """Return a value as JSON, cut where it is long."""
    if value is ABSENT:
        return "-"
    try:
        text = _json.encode(value)
    except (ValueError, RecursionError, TypeError):
        text = f"<{type(value).__name__}>"
    return clip(text, VALUE_CHARACTERS)


def _chosen(entries: Sequence[CallPair]) -> Sequence[CallPair | int]:
    """Return all entries, or as many as are shown, those that differ before those that match; a number is how many were left out there."""
    if len(entries) <= LINES:
        return entries
    matched = [index for index, entry in enumerate(entries) if entry.kind == "matched"]
    different = [index for index, entry in enumerate(entries) if entry.kind != "matched"][:LINES]
    chosen: list[CallPair | int] = []
    start = 0
    for index in sorted((*different, *matched[: LINES - len(different)])):
        if index > start:
            chosen.append(index - start)
        chosen.append(entries[index])
        start = index + 1
    return [*chosen, len(entries) - start] if start < len(entries) else chosen


def _shown(entry: CallPair, found: CallComparison) -> ShownEntry:
    call = found.made[entry.made] if entry.made is not None else None
    expected = found.calls[entry.expected] if entry.expected is not None else None
    return ShownEntry(
        entry, _expected(expected) if expected is not None else None, _made(call) if call is not None else None
    )


def _side(one: ShownEntry) -> dict[str, object]:
    row: dict[str, object] = {"kind": one.entry.kind}
    if one.expected is not None:
        row["expected"] = one.expected
    if one.made is not None:
        row["made"] = one.made
    if one.entry.faults and one.entry.kind != "wrong function":
        row["faults"] = [
            [fault.argument, _value(fault.expected), "" if fault.made is ABSENT else value_text(fault.made)]
            for fault in one.entry.faults
        ]
    return row


def _value(value: object) -> str:
    return "" if value is ABSENT else _wanted(value)


def _wanted(value: object) -> str:
    """Return an expected value, or those of a matcher `one_of`, any of which would do."""
    if isinstance(value, Mapping) and [*value] == ["one_of"]:
        return " | ".join(map(value_text, value["one_of"]))
    return value_text(value)


def _line(one: ShownEntry) -> str:
    match one.entry.kind:
        case "missing":
            return one.expected or ""
        case "wrong function":
            return f"{one.made}   {one.expected}"
        case "partly" | "wrong arguments":
            return f"{one.made}   {'; '.join(map(_fault, one.entry.faults))}"
    return one.made or ""


def _fault(fault: ArgumentFault) -> str:
    match fault.kind:
        case "missing_param":
            return f"{fault.argument}: {_wanted(fault.expected)} → -"
        case "wrong_param_name":
            return f"{fault.argument}: - → {value_text(fault.made)}"
        case "format_error":
            return value_text(fault.made)
    return f"{fault.argument}: {_wanted(fault.expected)} → {value_text(fault.made)}"


def _difference(entry: CallPair, found: CallComparison) -> Sentence:
    call = _made(found.made[entry.made]) if entry.made is not None else ""
    expected = _expected(found.calls[entry.expected]) if entry.expected is not None else ""
    match entry.kind:
        case "missing":
            return say("missing {call}", call=expected)
        case "extra":
            return say("extra {call}", call=call)
        case "repeated":
            return say("repeated {call}", call=call)
        case "out of order":
            return say("out of order {call}", call=call)
        case "wrong function":
            return say("{made} instead of {expected}", made=call, expected=expected)
    faults = [_explain_fault(fault) for fault in entry.faults]
    return say("in {call}: {faults}", call=call, faults=listed(faults))


def _explain_fault(fault: ArgumentFault) -> Sentence:
    match fault.kind:
        case "missing_param":
            return say(
                "'{argument}' is missing, expected {expected}",
                argument=fault.argument,
                expected=_wanted(fault.expected),
            )
        case "wrong_param_name":
            return say("'{argument}' is not expected", argument=fault.argument)
        case "format_error":
            return say("the arguments are no JSON object")
    return say(
        "'{argument}' is {made}, expected {expected}",
        argument=fault.argument,
        made=value_text(fault.made),
        expected=_wanted(fault.expected),
    )


def _made(call: ToolCall) -> str:
    return call_text(call.name, call.arguments) if call.raw is None else call_text(call.name, {"": call.raw})


def _expected(call: ExpectedCall) -> str:
    return " | ".join(call_text(option.name, option.arguments) for option in (call, *call.either))
