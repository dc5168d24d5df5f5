"""Say in a few words, and in a few lines, how calls differ from those expected."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.sample import ToolCall
from proctor.core.sentence import Sentence, say
from proctor.scorers.trajectory._arguments import ABSENT, Fault
from proctor.scorers.trajectory._compare import Comparison
from proctor.scorers.trajectory._expected import ExpectedCall
from proctor.scorers.trajectory._pairing import Entry

VALUE_CHARACTERS = 60
CALL_CHARACTERS = 160
LINES = 60
TOLD = 4
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


def diff(found: Comparison) -> list[str]:
    """One line for each call, in the order they were made.

    = search(q="A")
    ~ book(day=3)   day: expected 4, got 3
    - pay(amount=5)
    + ping()
    """
    lines = [f"{SIGNS[entry.kind]} {_line(entry, found)}" for entry in found.entries[:LINES]]
    left = len(found.entries) - LINES
    return [*lines, f"… +{left}"] if left > 0 else lines


def told(found: Comparison) -> Sentence:
    """The same in one sentence: how many, and the first few differences."""
    full = sum(entry.kind == "matched" for entry in found.entries)
    head = say(
        "{full} of {expected} expected calls, {made} made", full=full, expected=len(found.calls), made=len(found.made)
    )
    different = [_told(entry, found) for entry in found.entries if entry.kind not in ("matched", "forbidden")]
    every = [*found.broken, *found.unmet, *different]
    parts = every[:TOLD]
    hidden = len(every) - len(parts)
    if hidden > 0:
        parts.append(say("{count} more", count=hidden))
    if not found.best:
        parts.append(say("the order is too wide to be sure that no better assignment exists"))
    return say("{head}: {parts}", head=head, parts=listed(parts)) if parts else head


def listed(parts: Sequence[Sentence]) -> Sentence:
    """Sentences one after the other."""
    first, *rest = parts
    return say("{first}; {rest}", first=first, rest=listed(rest)) if rest else first


def errors(found: Comparison) -> Mapping[str, int]:
    """How often each of nine classes of error occurs: what happened to calls, or to arguments of calls nearly right."""
    count: Counter[str] = Counter()
    for entry in found.entries:
        if entry.kind in CLASSES:
            count[CLASSES[entry.kind]] += 1
        elif entry.kind != "matched":
            count.update(fault.kind for fault in entry.faults)
    return count


def call_text(name: str, arguments: Mapping[str, Any] | None) -> str:
    """A call as code, with long values cut.

    >>> call_text("book", {"day": 4, "who": "Ann"})
    'book(day=4, who="Ann")'
    """
    inside = ", ".join(f"{key}={value_text(value)}" for key, value in (arguments or {}).items())
    text = f"{name}({inside})"
    return text if len(text) <= CALL_CHARACTERS else text[:CALL_CHARACTERS] + "…)"


def value_text(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    if value is ABSENT:
        return "-"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= VALUE_CHARACTERS else text[:VALUE_CHARACTERS] + "…"


def _line(entry: Entry, found: Comparison) -> str:
    made = _made(found.made[entry.made]) if entry.made is not None else ""
    expected = _expected(found.calls[entry.expected]) if entry.expected is not None else ""
    match entry.kind:
        case "missing":
            return expected
        case "wrong function":
            return f"{made}   {expected}"
        case "partly" | "wrong arguments":
            return f"{made}   {'; '.join(map(_fault, entry.faults))}"
    return made


def _fault(fault: Fault) -> str:
    match fault.kind:
        case "missing_param":
            return f"{fault.argument}: {value_text(fault.expected)} → -"
        case "wrong_param_name":
            return f"{fault.argument}: - → {value_text(fault.made)}"
        case "format_error":
            return value_text(fault.made)
    return f"{fault.argument}: {value_text(fault.expected)} → {value_text(fault.made)}"


def _told(entry: Entry, found: Comparison) -> Sentence:
    made = _made(found.made[entry.made]) if entry.made is not None else ""
    expected = _expected(found.calls[entry.expected]) if entry.expected is not None else ""
    match entry.kind:
        case "missing":
            return say("missing {call}", call=expected)
        case "extra":
            return say("extra {call}", call=made)
        case "repeated":
            return say("repeated {call}", call=made)
        case "out of order":
            return say("out of order {call}", call=made)
        case "wrong function":
            return say("{made} instead of {expected}", made=made, expected=expected)
    faults = [_told_fault(fault) for fault in entry.faults]
    return say("in {call}: {faults}", call=made, faults=listed(faults))


def _told_fault(fault: Fault) -> Sentence:
    match fault.kind:
        case "missing_param":
            return say(
                "'{argument}' is missing, expected {expected}",
                argument=fault.argument,
                expected=value_text(fault.expected),
            )
        case "wrong_param_name":
            return say("'{argument}' is not expected", argument=fault.argument)
        case "format_error":
            return say("the arguments are no JSON object")
    return say(
        "'{argument}' is {made}, expected {expected}",
        argument=fault.argument,
        made=value_text(fault.made),
        expected=value_text(fault.expected),
    )


def _made(call: ToolCall) -> str:
    return call_text(call.name, call.arguments) if call.raw is None else call_text(call.name, {"": call.raw})


def _expected(call: ExpectedCall) -> str:
    return " | ".join(call_text(one.name, one.arguments) for one in (call, *call.either))
