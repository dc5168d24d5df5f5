"""Measure how wrong an output is, in addition to the official verdict, which this never changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.sample import JsonObject
from proctor_benchmarks.bfcl.calls import Call, clipped, first
from proctor_benchmarks.bfcl.checker import (
    BREAKS,
    Answer,
    CheckerResult,
    CheckerRules,
    Document,
    call_fault,
    document_of,
    value_fault,
)
from proctor_benchmarks.bfcl.explain import nearest
from proctor_benchmarks.bfcl.fault import BfclFault

MOST_CALLS = 64  # as many of the calls made are compared with those expected

_RIGHT: dict[str, object] = {"parameter_accuracy": 1.0, "precision": 1.0, "recall": 1.0, "f1": 1.0}
_NOTHING: dict[str, object] = {"parameter_accuracy": 0.0, "precision": 0.0, "recall": 0.0, "f1": 0.0}
_CLASS = {
    "ast_decoder": "unparsable",
    "irrelevance_error": "call_not_wanted",
    "relevance_error": "no_call",
    "type_error": "wrong_type",
    "value_error": "wrong_param_value",
    "dict_checker": "wrong_param_value",
    "list_dict_checker": "wrong_param_value",
    "crash": "crash",
}
_CLASS_OF_CALL = {
    "wrong_func_name": "wrong_function",
    "missing_required": "missing_param",
    "missing_optional": "missing_param",
    "unexpected_param": "unknown_param",
}


def details(
    functions: Sequence[Document],
    answers: Sequence[Answer] | None,
    category: str,
    result: CheckerResult,
    rules: CheckerRules,
) -> dict[str, Any]:
    """Return what a report can count or show, flat.

    `error_type` (official), `error_class` (ours), `function` and `parameter` say where the first fault is.
    `precision`, `recall` and `f1` count calls, each made call matched with at most one expected call, so that as many as possible match;
    `parameter_accuracy` is the share of the expected parameters that were given as allowed, or left out where that is
    allowed. They are there where calls are expected.
    """
    details: dict[str, object] = {}
    if result.fault is not None:
        fault = _innermost(result.fault)
        details = {"error_type": result.error_type, "error_class": error_class(result.fault)}
        if fault.function:
            details["function"] = fault.function
        if fault.parameter is not None:
            details["parameter"] = clipped(fault.parameter)
    if "relevance" in category:
        return details
    if result.valid:
        return details | _RIGHT
    if not result.calls:
        return details | _NOTHING
    return details | _figures(functions, result.calls, answers or (), rules)


def error_class(fault: BfclFault) -> str:
    """Return the kind of a fault in words that are the same for all languages and categories.

    >>> error_class(BfclFault(error_type="type_error:nested"))
    'wrong_type'
    """
    kind, _, what = fault.error_type.partition(":")
    if kind in _CLASS:
        return _CLASS[kind]
    if what == "wrong_count":
        return "missing_call" if len(fault.got) < len(fault.allowed) else "extra_call"
    if what == "missing_required" and fault.got:
        return "wrong_param_name"
    closest = nearest(fault.near, fault.allowed) if what == "cannot_find_match" else None
    return error_class(closest.fault) if closest else _CLASS_OF_CALL.get(what, what)


def matching(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Return the largest one-to-one matching: column to row. `fits[row][column]` says what may be matched.

    >>> matching([[True, True], [True, False]])
    {0: 1, 1: 0}
    """
    row_of: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in row_of or place(row_of[column], tried):
                    row_of[column] = row
                    return True
        return False

    for row in range(len(fits)):
        place(row, set())
    return dict(sorted(row_of.items()))


def fits(
    functions: Sequence[Document], calls: Sequence[Call], answers: Sequence[Answer], rules: CheckerRules
) -> list[list[bool]]:
    """For each answer, which calls pass the official check against it."""
    documents = [document_of(functions, answer) for answer in answers]
    return [
        [_fits(document, call, answer, rules) for call in calls]
        for document, answer in zip(documents, answers, strict=True)
    ]


def _fits(document: Document | None, call: Call, answer: Answer, rules: CheckerRules) -> bool:
    try:
        return call_fault(document, call, answer, rules) is None
    except BREAKS:
        return False


def _figures(
    functions: Sequence[Document], calls: Sequence[Call], answers: Sequence[Answer], rules: CheckerRules
) -> dict[str, float]:
    compared = calls[:MOST_CALLS]
    only = len(compared) == len(answers) == 1  # and it is known not to fit
    matched = {} if only else matching(fits(functions, compared, answers, rules))
    hits = len(matched)
    precision, recall = hits / len(calls), hits / len(answers) if answers else 0.0
    return {
        "parameter_accuracy": _parameter_accuracy(functions, compared, answers, rules, matched),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if hits else 0.0,
    }


def _parameter_accuracy(
    functions: Sequence[Document],
    calls: Sequence[Call],
    answers: Sequence[Answer],
    rules: CheckerRules,
    matched: Mapping[int, int],
) -> float:
    """Expected calls without a match are compared with the best of the calls left."""
    free = [call for index, call in enumerate(calls) if index not in matched]
    right = total = 0
    for row, answer in enumerate(answers):
        expected = len(first(answer)[1])
        total += expected
        if row in matched.values():
            right += expected
            continue
        counts = [_right_parameters(document_of(functions, answer), call, answer, rules) for call in free]
        if counts and (best := max(counts)) > 0:
            right += best
            del free[counts.index(best)]
    return right / total if total else float(bool(matched))


def _right_parameters(document: Document | None, call: Call, answer: Answer, rules: CheckerRules) -> int:
    name, allowed = first(answer)
    given = call.get(name.replace(".", "_") if rules.underscores else name)
    if given is None or document is None:
        return 0
    schemas = document["parameters"]["properties"]
    return sum(_is_right(parameter, given, schemas, allowed, rules) for parameter in allowed)


def _is_right(
    parameter: str,
    given: Mapping[str | None, object],
    schemas: Mapping[str, object],
    allowed: JsonObject,
    rules: CheckerRules,
) -> bool:
    try:
        if parameter not in given:
            return "" in allowed[parameter]
        return value_fault(parameter, given[parameter], schemas, allowed, rules.language) is None
    except BREAKS:
        return False


def _innermost(fault: BfclFault) -> BfclFault:
    closest = nearest(fault.near, fault.allowed)
    return closest.fault if closest else fault
