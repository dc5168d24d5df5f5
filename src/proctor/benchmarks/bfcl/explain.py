"""Say what is wrong with an output in one sentence: the function, the parameter, what was expected, what came, the rule."""

from collections.abc import Sequence
from typing import Any

from proctor.benchmarks.bfcl.calls import clipped, first, show
from proctor.benchmarks.bfcl.fault import Fault, Near
from proctor.core.sentence import Sentence, say

_SHOWN = 8


def explain(fault: Fault) -> Sentence:
    """The sentence for a fault.

    >>> from proctor.benchmarks.bfcl.fault import Fault
    >>> str(explain(Fault(error_type="value_error:string", function="area", parameter="unit", got="cm", allowed=["m", ""])))
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
        case "type_error":
            return _type_sentence(fault, what)
        case "value_error" | "dict_checker" | "list_dict_checker":
            return _value_sentence(fault, what)
    return _call_sentence(fault, what)


def nearest(near: Sequence[Near], answer: object) -> Near | None:
    """The made call that comes nearest to an expected one: of the same function, and with the most values allowed."""
    return max(near, key=lambda one: _likeness(one, answer), default=None)


def _likeness(one: Near, answer: Any) -> tuple[bool, int, int]:
    if one.fault.error_type.endswith("wrong_func_name"):
        return False, 0, -one.place
    (_, given), (_, allowed) = first(one.call), first(answer)
    fits = sum(1 for parameter, value in given.items() if value in allowed.get(parameter, ()))
    return True, fits, -one.place


def _call_sentence(fault: Fault, what: str) -> Sentence:
    place = {"function": fault.function, "parameter": clipped(fault.parameter)}
    match what:
        case "wrong_count":
            return say(
                "Calls made: {made} ({got}); expected: {count} ({expected}).",
                made=len(fault.got),
                got=_names(fault.got),
                count=len(fault.allowed),
                expected=_names(fault.allowed),
            )
        case "wrong_func_name":
            return say(
                "{got} was called, expected {expected} (names compare letter for letter).",
                got=show(fault.got),
                expected=show(fault.function),
            )
        case "missing_required" if fault.got:
            return say(
                "{function}: the required parameter '{parameter}' is missing, while {got} is given, which it does not have; allowed: {allowed}.",
                **place,
                got=_listed(fault.got),
                allowed=_allowed(fault.allowed),
            )
        case "missing_required":
            return say(
                "{function}: the required parameter '{parameter}' is missing; allowed: {allowed}.",
                **place,
                allowed=_allowed(fault.allowed),
            )
        case "missing_optional":
            return say(
                "{function}: the parameter '{parameter}' is missing, and the answer needs it; allowed: {allowed}.",
                **place,
                allowed=_allowed(fault.allowed),
            )
        case "unexpected_param" if fault.parameter is None:
            return say("{function}: {got} is given without the name of a parameter.", **place, got=show(fault.got))
        case "unexpected_param" if fault.rule == "not_in_answer":
            return say(
                "{function}: the parameter '{parameter}' is {got}, and the answer allows no value for it.",
                **place,
                got=show(fault.got),
            )
        case "unexpected_param":
            return say(
                "{function}: there is no parameter '{parameter}' (given as {got}). Known: {known}.",
                **place,
                got=show(fault.got),
                known=_listed(fault.allowed),
            )
    return _no_match(fault)


def _no_match(fault: Fault) -> Sentence:
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


def _type_sentence(fault: Fault, what: str) -> Sentence:
    values = {
        "function": fault.function,
        "parameter": clipped(fault.parameter),
        "got": show(fault.got),
        "kind": type(fault.got).__name__,
        "declared": fault.declared,
        "allowed": _allowed(fault.allowed),
    }
    match what:
        case "simple":
            return say(
                "{function}: parameter '{parameter}' is {got} ({kind}); expected type: {declared}; allowed: {allowed}.",
                **values,
            )
        case "nested":
            return say(
                "{function}: parameter '{parameter}' is {got}; expected type: {declared}, where an integer in a list is no float; allowed: {allowed}.",
                **values,
            )
    return say(
        "{function}: parameter '{parameter}' is {got} ({kind}); values of Java and JavaScript come as text; allowed: {allowed}.",
        **values,
    )


def _value_sentence(fault: Fault, what: str) -> Sentence:
    values = {
        "function": fault.function,
        "parameter": clipped(fault.parameter),
        "got": show(fault.got),
        "key": clipped(fault.key),
        "allowed": _allowed(fault.allowed),
    }
    match what, fault.rule:
        case "string", _:
            return say(
                "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (strings compare without case, blanks and , . / - _ * ^).",
                **values,
            )
        case "list/tuple", _:
            return say(
                "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (the order counts; strings in it compare without case, blanks and , . / - _ * ^).",
                **values,
            )
        case "dict_key", "unknown_key":
            return say(
                "{function}: parameter '{parameter}' has the key '{key}'; allowed keys: {allowed}.",
                **values | {"allowed": _listed(fault.allowed)},
            )
        case "dict_key", _:
            return say("{function}: parameter '{parameter}' lacks the key '{key}'; allowed there: {allowed}.", **values)
        case "dict_value", _:
            return say(
                "{function}: parameter '{parameter}' has {got} under the key '{key}'; allowed: {allowed} (strings compare without case, blanks and , . / - _ * ^, anything inside lists letter for letter).",
                **values,
            )
        case "list_dict_count", _:
            return say(
                "{function}: parameter '{parameter}' holds {made} objects, expected {count}.",
                **values | {"made": fault.got, "count": _counts(fault.allowed)},
            )
        case "others", "variable":
            return say(
                "{function}: parameter '{parameter}' is {got}; allowed: {allowed} (the answer is a variable: compared letter for letter).",
                **values,
            )
        case "others", _:
            return say("{function}: parameter '{parameter}' is {got}; allowed: {allowed}.", **values)
    return say("{function}: parameter '{parameter}' is {got}; the answer allows no such value.", **values)


def _allowed(values: Any) -> str:
    """Allowed values without the "" that stands for leaving out, unless there is nothing else."""
    if not isinstance(values, list | tuple):
        return show(values)
    return _listed([value for value in values if value != ""] or values)


def _counts(allowed: Sequence[object]) -> str:
    counts = {len(one) for one in allowed if isinstance(one, list)}
    return " / ".join(map(str, sorted(counts))) or "0"


def _listed(values: Any) -> str:
    shown = [show(value) for value in list(values)[:_SHOWN]]
    return ", ".join(shown) + (", …" if len(values) > _SHOWN else "")


def _names(calls: Any) -> str:
    names = [clipped(next(iter(call), "") if isinstance(call, dict) else call) for call in calls[:_SHOWN]]
    return ", ".join(names) + (", …" if len(calls) > _SHOWN else "") or "-"
