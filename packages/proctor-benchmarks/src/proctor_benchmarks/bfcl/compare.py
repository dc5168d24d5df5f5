"""Compare one value with the allowed ones: types, strings, lists, dicts and lists of dicts.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/ast_eval/ast_checker.py`. Where allowed values are no lists, as in
some official answers, they are gone through letter by letter, as upstream does; so exceptions are those of upstream.
"""

from collections.abc import Sequence
from typing import Any, Literal

from proctor_benchmarks.bfcl.fault import BfclFault

Match = Literal["exact", "variable", "type_error:simple", "type_error:nested"]

_DROPPED = str.maketrans("", "", " ,./-_*^")


def fault_of(value: Any, allowed: Sequence[object], expected: type, element: type | None) -> BfclFault | None:
    """Return what is wrong with a value of a parameter, or None.

    Args:
        value: the value, converted from the language's text.
        allowed: the allowed values; "" means that the parameter may be left out.
        expected, element: the Python type of the parameter, and of its elements if it has any.

    >>> fault_of("April 1, 2024", ["april 1 2024"], str, None)
    >>> fault_of(5.0, [5], int, None).error_type
    'type_error:simple'
    """
    match = type_match(value, allowed, expected, element)
    if match in ("type_error:simple", "type_error:nested"):
        return BfclFault(error_type=match)
    if match == "exact":
        if expected is str:
            return _string_fault(value, allowed)
        if expected is dict:
            return _dict_fault(value, allowed)
        if expected is list:
            return _dicts_fault(value, allowed) if element is dict else _list_fault(value, allowed)
    if value in allowed:
        return None
    write(value)
    return BfclFault(error_type="value_error:others", rule="variable" if match == "variable" else "")


def type_match(value: Any, allowed: Sequence[object], expected: type, element: type | None) -> Match:
    """Say whether a value has the declared type, that of the first allowed value (a variable), or neither.

    Types are compared exactly: True is no integer. Elements are checked one level deep, and not at all when an
    allowed value is no list, such as the "" of an optional parameter.
    """
    kind, first = type(value), None
    for entry in allowed:
        if entry != "":
            first = type(entry)
            break
    if kind is not expected:
        if first is kind:
            return "variable"
        write(value)
        return "type_error:simple"
    match: Match = "exact" if first is None or first is expected else "variable"
    if element is None:
        return match
    for entry in allowed:
        if type(entry) is not list or _elements_match(value, entry, element):
            return match
    write(value)
    return "type_error:nested" if first is kind else "type_error:simple"


def standard(text: str) -> str:
    """Normalise a string for comparison: lower case, one kind of quotes, without whitespace and , . / - _ * ^.

    >>> standard("It's 1,234.5")
    'it"s12345'
    """
    return text.translate(_DROPPED).lower().replace("'", '"')


def write(value: object) -> None:
    """Raise ValueError on an integer of more digits than Python writes: upstream writes faulty values into messages."""
    repr(value)


def _elements_match(values: Sequence[object], allowed: Sequence[object], element: type) -> bool:
    return all(type_match(value, allowed, element, None) != "type_error:simple" for value in values)


def _string_fault(value: str, allowed: Sequence[object]) -> BfclFault | None:
    given = standard(value)
    for entry in allowed:
        if type(entry) is str and standard(entry) == given:
            return None
    return BfclFault(error_type="value_error:string")


def _list_fault(value: Sequence[object], allowed: Sequence[object]) -> BfclFault | None:
    wanted = [_standard_items(entry) for entry in allowed]  # all of them first: one that is no sequence breaks off
    if _standard_items(value) in wanted:
        return None
    write(value)
    return BfclFault(error_type="value_error:list/tuple")


def _dict_fault(value: dict[object, object], allowed: Sequence[object]) -> BfclFault | None:
    """Return the fault against the last of the allowed dicts, or None when one matches."""
    fault: BfclFault | None = BfclFault(error_type="dict_checker:unclear")
    for entry in allowed:
        if entry == "":
            continue
        fault = _keys_fault(value, entry)
        if fault is None:
            return None
    return fault


def _keys_fault(value: dict[object, object], wanted: Any) -> BfclFault | None:
    fault = None
    for key, given in value.items():
        if key not in wanted:
            fault = BfclFault(error_type="value_error:dict_key", rule="unknown_key", key=key, allowed=wanted)
            break
        if (standard(given) if type(given) is str else given) not in _standard_items(wanted[key]):
            write(given)
            fault = BfclFault(error_type="value_error:dict_value", key=key, allowed=wanted[key], got=given)
            break
    for key, options in wanted.items():  # also after a fault above, whose type it replaces
        if key not in value and "" not in options:
            return BfclFault(error_type="value_error:dict_key", rule="missing_key", key=key, allowed=options)
    return fault


def _dicts_fault(values: Sequence[Any], allowed: Sequence[Any]) -> BfclFault | None:
    fault: BfclFault | None = BfclFault(error_type="list_dict_checker:unclear")
    for wanted in allowed:
        if len(values) != len(wanted):  # the "" of an optional parameter counts as an empty list
            fault = BfclFault(error_type="value_error:list_dict_count", got=len(values), allowed=allowed)
            continue
        for index, value in enumerate(values):
            fault = _dict_fault(value, [wanted[index]])
            if fault is not None:
                break
        else:
            return None
    return fault


def _standard_items(values: Any) -> list[object]:
    return [
        standard(value) if type(value) is str else value for value in (values[index] for index in range(len(values)))
    ]
