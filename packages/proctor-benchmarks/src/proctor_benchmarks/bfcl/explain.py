"""Say what is wrong with an output in one sentence: the function, the parameter, what was expected, what came, the rule."""

import re
from collections.abc import Sequence
from typing import Any

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl.calls import clipped, first, show
from proctor_benchmarks.bfcl.fault import BfclFault, Near

_MOST_LISTED = 8
_FIELD = re.compile(r"\{(\w+)\}")

# by what is after the colon of the error type, and by the rule where that says more
_SENTENCES = {
    "wrong_count": "Calls made: {made} ({got}); expected: {count} ({expected}).",
    "wrong_func_name": "{got} was called, expected {expected} (names compare letter for letter).",
    "missing_required:renamed": "{function}: the required parameter '{parameter}' is missing, while {got} is given, which it does not have; allowed: {allowed}.",
    "missing_required": "{function}: the required parameter '{parameter}' is missing; allowed: {allowed}.",
    "missing_optional": "{function}: the parameter '{parameter}' is missing, and the answer needs it; allowed: {allowed}.",
    "unexpected_param:nameless": "{function}: {got} is given without the name of a parameter.",
    "unexpected_param:not_in_answer": "{function}: the parameter '{parameter}' is {got}, and the answer allows no value for it.",
    "unexpected_param": "{function}: there is no parameter '{parameter}' (given as {got}). Known: {known}.",
    "simple": "{function}: parameter '{parameter}' is {got} ({kind}); expected type: {declared}; allowed: {allowed}.",
    "nested": "{function}: parameter '{parameter}' is {got}; expected type: {declared}, where an integer in a list is no float; allowed: {allowed}.",
    "java": "{function}: parameter '{parameter}' is {got} ({kind}); values of Java and JavaScript come as text; allowed: {allowed}.",
    "string": "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (strings compare without case, blanks and , . / - _ * ^).",
    "list/tuple": "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (the order counts; strings in it compare without case, blanks and , . / - _ * ^).",
    "dict_key:unknown_key": "{function}: parameter '{parameter}' has the key '{key}'; allowed keys: {allowed}.",
    "dict_key": "{function}: parameter '{parameter}' lacks the key '{key}'; allowed there: {allowed}.",
    "dict_value": "{function}: parameter '{parameter}' has {got} under the key '{key}'; allowed: {allowed} (strings compare without case, blanks and , . / - _ * ^, anything inside lists letter for letter).",
    "list_dict_count": "{function}: parameter '{parameter}' holds {made} objects, expected {count}.",
    "others:variable": "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (the answer is a variable: compared letter for letter).",
    "others": "{function}: parameter '{parameter}' is {got}; allowed: {allowed}.",
    "unclear": "{function}: parameter '{parameter}' is {got}; the answer allows no such value.",
}


def explain(fault: BfclFault) -> Sentence:
    """Return the sentence for a fault.

    >>> from proctor_benchmarks.bfcl.fault import BfclFault
    >>> str(explain(BfclFault(error_type="value_error:string", function="area", parameter="unit", got="cm", allowed=["m", ""])))
    "area: parameter 'unit' is 'cm'; allowed: 'm' (strings compare without case, blanks and , . / - _ * ^)."
    """
    kind, _, what = fault.error_type.partition(":")
    match kind:
        case "ast_decoder":
            return fault.got if isinstance(fault.got, Sentence) else say("The output cannot be read.")
        case "irrelevance_error":
            return say("No call is expected, as no function fits; {got} was called.", got=_names(fault.got))
        case "relevance_error":
            return say("A call is expected, and none was made. {reason}", reason=fault.got)
        case "crash":
            return say(
                "The official code breaks off here ({kind}: {error}); counted as wrong.", kind=what, error=fault.got
            )
    if what == "cannot_find_match":
        return _no_match(fault)
    key = _key(fault, what)
    return say(_SENTENCES[key], **{name: _value(name, key, fault) for name in _FIELD.findall(_SENTENCES[key])})


def nearest(near: Sequence[Near], answer: object) -> Near | None:
    """Return the made call that is nearest to an expected one: of the same function, with the most allowed values."""
    return max(near, key=lambda one: _likeness(one, answer), default=None)


def _likeness(one: Near, answer: Any) -> tuple[bool, int, int]:
    if one.fault.error_type.endswith("wrong_func_name"):
        return False, 0, -one.place
    (_, given), (_, allowed) = first(one.call), first(answer)
    fits = sum(1 for parameter, value in given.items() if value in allowed.get(parameter, ()))
    return True, fits, -one.place


def _no_match(fault: BfclFault) -> Sentence:
    expected = show(fault.allowed)
    closest = nearest(fault.near, fault.allowed)
    if closest is None:
        return say("No call matches the expected {expected}.", expected=expected)
    return say(
        "No call matches the expected {expected}. Nearest is call {number}: {why}",
        expected=expected,
        number=closest.place + 1,
        why=explain(closest.fault),
    )


def _key(fault: BfclFault, what: str) -> str:
    if what == "js":
        what = "java"
    rule: str = fault.rule
    if what == "missing_required" and fault.got:
        rule = "renamed"
    elif what == "unexpected_param" and fault.parameter is None:
        rule = "nameless"
    return next((key for key in (f"{what}:{rule}", what) if key in _SENTENCES), "unclear")


def _value(name: str, key: str, fault: BfclFault) -> object:
    match name, key:
        case "got", "wrong_count":
            return _names(fault.got)
        case "got", "missing_required:renamed":
            return _join_values(fault.got)
        case "got", _:
            return show(fault.got)
        case "made", "wrong_count":
            return len(fault.got)
        case "made", _:
            return fault.got
        case "count", "wrong_count":
            return len(fault.allowed)
        case "count", _:
            return _counts(fault.allowed)
        case "expected", "wrong_count":
            return _names(fault.allowed)
        case "expected", _:
            return show(fault.function)
        case ("known", _) | ("allowed", "dict_key:unknown_key"):
            return _join_values(fault.allowed)
        case "allowed", _:
            return _allowed(fault.allowed)
        case "kind", _:
            return type(fault.got).__name__
        case (("parameter" | "key"), _):
            return clipped(fault.parameter if name == "parameter" else fault.key)
        case "declared", _:
            return fault.declared
    return fault.function


def _allowed(values: object) -> str:
    """Return the allowed values without the "" that means leaving out, unless there is nothing else."""
    if not isinstance(values, list | tuple):
        return show(values)
    return _join_values([value for value in values if value != ""] or values)


def _counts(allowed: Sequence[object]) -> str:
    counts = {len(value) for value in allowed if isinstance(value, list)}
    return " / ".join(map(str, sorted(counts))) or "0"


def _join_values(values: Any) -> str:
    shown = [show(value) for value in list(values)[:_MOST_LISTED]]
    return ", ".join(shown) + (", …" if len(values) > _MOST_LISTED else "")


def _names(calls: Any) -> str:
    names = [clipped(next(iter(call), "") if isinstance(call, dict) else call) for call in calls[:_MOST_LISTED]]
    return ", ".join(names) + (", …" if len(calls) > _MOST_LISTED else "") or "-"
