"""Read what a turn expects of an agent from a reference in plain JSON.

A reference is a list of calls, or an object:

    {"calls": [{"name": "search", "arguments": {"q": "x"}}, [{"name": "f"}, {"name": "g"}], {"name": "book"}],
     "response": "Booked.", "order": "in_order", "before": [["search", "book"]], "forbidden": ["pay"], "most_calls": 5}

A list among the calls is a group in any order. A call may say how an argument is matched (`match`), that it may be left
out (`optional`), what does as well (`either`), and a `label` to be named by in `before`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample, Text, ToolCall
from proctor.core.trajectory import Trajectory
from proctor.core.validation import in_words

Order = Literal["any_order", "in_order", "exact"]
Policy = Literal["equal", "subset", "superset", "ignore"]


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An expected call; `arguments` is None in ADK files that have none."""

    name: str
    arguments: Mapping[str, object] | None = None
    match: Mapping[str, object] = {}
    policy: Policy | None = None
    label: str = ""
    optional: bool = False
    either: tuple["ExpectedCall", ...] = ()
    id: str | None = None


class ExpectedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that one turn expects. `calls` is None if the reference does not mention calls, () if it expects none.

    groups: for each call the number of its group; in order, a group comes after all those before it.
    before: pairs of labels or tool names; every expected call of the first comes before every one of the second.
    needs: a tool, and one of which at least one call must come before it.
    forbidden: tools, or calls with arguments. most_calls: how many in all, or of each tool.
    minimum: how many calls do; the number of expected ones when None.
    """

    calls: tuple[ExpectedCall, ...] | None = None
    groups: tuple[int, ...] = ()
    response: str | None = None
    order: Order | None = None
    before: tuple[tuple[str, str], ...] = ()
    needs: Mapping[str, str] = {}
    forbidden: tuple[ExpectedCall, ...] = ()
    most_calls: int | None = None
    most_calls_of: Mapping[str, int] = {}
    minimum: int | None = None
    alternatives: tuple["ExpectedCalls", ...] = ()


class ExpectedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as it was expected and as it went; `place` counts from 0."""

    place: int
    expected: ExpectedCalls
    made: tuple[ToolCall, ...]
    answer: str
    tools: Mapping[str, Mapping[str, object]]


def turns(sample: Sample, trajectory: Trajectory) -> list[ExpectedTurn]:
    """Return each turn with its reference; the whole conversation as one if only the sample has a reference.

    Raises:
        BadInput: a reference that cannot be understood; names the turn.
    """
    defaults = {tool.name: _defaults(tool.parameters) for turn in sample.turns for tool in turn.tools}
    if any(turn.reference is not None for turn in sample.turns):
        return [
            ExpectedTurn(
                place=index,
                expected=expected_of(turn.reference, f"turn {index + 1}"),
                made=trajectory.calls(index),
                answer=answer(trajectory, index),
                tools=defaults,
            )
            for index, turn in enumerate(sample.turns)
        ]
    if sample.target is None:
        return []
    calls = trajectory.calls()
    return [
        ExpectedTurn(
            place=0, expected=expected_of(sample.target, "target"), made=calls, answer=trajectory.answer, tools=defaults
        )
    ]


def expected_of(reference: object, where: str = "reference") -> ExpectedCalls:
    """Return the expectation of a reference; a text is the expected answer, and None expects nothing.

    Raises:
        BadInput: it cannot be understood.

    >>> expected_of([{"name": "f", "args": {"x": 1}}]).calls[0].arguments
    {'x': 1}
    """
    match reference:
        case ExpectedCalls():
            return reference
        case None:
            return ExpectedCalls()
        case str():
            return ExpectedCalls(response=reference)
        case Mapping():
            if "name" in reference:
                return _object({"calls": [reference]}, where)
            return _object(reference, where)
        case list() | tuple():
            return _object({"calls": reference}, where) if all(map(_is_call, reference)) else ExpectedCalls()
    return ExpectedCalls(response=str(reference))


def answer(trajectory: Trajectory, place: int) -> str:
    """Return the text of the last message of a turn that has one, its parts as ADK joins them."""
    for step in reversed(trajectory.steps):
        if step.turn == place and step.message.role == "assistant":
            texts = [part.text for part in step.message.parts if isinstance(part, Text) and part.text]
            if texts:
                return "\n".join(texts)
    return ""


def _is_call(one: object) -> bool:
    if isinstance(one, list | tuple):
        return all(map(_is_call, one))
    return isinstance(one, ToolCall) or (isinstance(one, Mapping) and "name" in one)


def _object(reference: Mapping[str, Any], where: str) -> ExpectedCalls:
    known = {*ExpectedCalls.__struct_fields__} - {"groups"}
    for key in reference:
        if key not in known:
            raise BadInput(
                "{where}: the key '{key}' is not known. Known: {known}.",
                where=where,
                key=key,
                known=", ".join(sorted(known)),
            )
    given = reference.get("calls")
    calls, groups = _grouped(given, where) if given is not None else (None, ())
    nested = isinstance(given, list | tuple) and any(isinstance(value, list | tuple) for value in given)
    values = {
        **reference,
        "calls": calls,
        "groups": groups,
        "order": reference.get("order") or ("in_order" if nested else None),
        "forbidden": [
            _call({"name": value} if isinstance(value, str) else value, where)
            for value in reference.get("forbidden") or ()
        ],
        "alternatives": [expected_of(alternative, where) for alternative in reference.get("alternatives") or ()],
    }
    try:
        return msgspec.convert(values, ExpectedCalls, from_attributes=True)
    except msgspec.ValidationError as error:
        raise BadInput("{what}: {error}.", what=where, error=in_words(error)) from None


def _grouped(given: object, where: str) -> tuple[list[ExpectedCall], list[int]]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise BadInput("{what}: {error}.", what=where, error="calls: expected a list")
    calls, groups = [], []
    for number, value in enumerate(given):
        for call in value if isinstance(value, list | tuple) else (value,):
            calls.append(_call(call, where))
            groups.append(number)
    return calls, groups


def _call(given: object, where: str) -> ExpectedCall:
    if isinstance(given, ExpectedCall):
        return given
    if isinstance(given, ToolCall):
        return ExpectedCall(name=given.name, arguments=given.arguments)
    if isinstance(given, Mapping):
        given = {("arguments" if key == "args" else key): value for key, value in given.items()}
        given["either"] = [_call(entry, where) for entry in given.get("either") or ()]
    try:
        call = msgspec.convert(given, ExpectedCall, from_attributes=True)
    except msgspec.ValidationError as error:
        raise BadInput("{what}: {error}.", what=where, error=in_words(error)) from None
    if not call.name:
        raise BadInput("{what}: {error}.", what=where, error="a call without a name")
    return call


def _defaults(parameters: Mapping[str, object]) -> Mapping[str, object]:
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {
        name: schema["default"]
        for name, schema in properties.items()
        if isinstance(schema, Mapping) and "default" in schema
    }
