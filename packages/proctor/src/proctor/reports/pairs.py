"""Match the calls a sample expects with the calls the agent made, parameter by parameter."""

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proctor.core.sample import ToolCall
from proctor.core.sentence import clip
from proctor.trajectory_matching.assignment import best

SHOWN_CALLS = 40
SHOWN_CHARACTERS = 1_000
EITHER = " | "


class ParameterRow(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter on both sides; None if a side does not give it. `marked` if the scorer found the error there."""

    parameter: str
    expected: str | None = None
    made: str | None = None
    marked: bool = False


class CallRows(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call and the call made in its place, by the names of their functions; None where one is missing.

    Where a scorer compared the calls, they are whole, `kind` is what it found, and `rows` are the arguments that are
    wrong; `turn` counts from 1, and is 0 where there is only one. The kind "free" is a call of which nothing was expected,
    not even that it is left out.
    """

    expected: str | None = None
    made: str | None = None
    rows: tuple[ParameterRow, ...] = ()
    marked: bool = False
    kind: str = ""
    turn: int = 0

    @property
    def expects_none(self) -> bool:
        """True if no call was expected where this one was made."""
        return self.expected is None and self.kind not in ("more", "free")


class ShownCall(msgspec.Struct, frozen=True):
    """A call with each argument as the texts it may be: one for a call that was made, several where several are allowed."""

    name: str
    arguments: Mapping[str, tuple[str, ...]]


def calls_in(value: object, *, allowed: bool = False) -> tuple[ShownCall, ...] | None:
    """Return the calls in a reference, a target or decoded output; None if it is something else.

    Knows tool calls, `[{"name": ..., "arguments": {...}}]` (or `args`), and `[{function: {parameter: value}}]`.
    With `allowed`, the values of the last form are lists of what is allowed, as BFCL writes its answers.

    >>> calls_in([{"f": {"x": [1, ""]}}], allowed=True)
    (ShownCall(name='f', arguments={'x': ('1', '""')}),)
    >>> calls_in("Paris") is None
    True
    """
    if not isinstance(value, list | tuple) or not value:
        return None
    calls = [_call(item, allowed=allowed) for item in value[:SHOWN_CALLS]]
    return tuple(call for call in calls if call is not None) if all(calls) else None


def pairs(
    expected: Sequence[ShownCall],
    made: Sequence[ShownCall],
    *,
    function: str | None = None,
    parameter: str | None = None,
    free: bool = False,
) -> tuple[CallRows, ...]:
    """Match expected calls with made ones so that most is alike, then append the calls that are left over.

    This is for the eye only: the verdict is the scorer's. `function` and `parameter` are where it found the error; of
    several calls of the function, those are marked whose parameter differs. With `free`, nothing was expected of calls.
    """
    alike = [[_likeness(wanted, call) for call in made] for wanted in expected]
    to_by_at = best(alike)
    rest = [to for to in range(len(made)) if to not in to_by_at.values()]
    for at in range(len(expected)):  # what has nothing in common still stands in one row
        if at not in to_by_at and rest:
            to_by_at[at] = rest.pop(0)
    rows = [
        *(_pair(wanted, made[to_by_at[at]] if at in to_by_at else None) for at, wanted in enumerate(expected)),
        *(_pair(None, made[to]) for to in rest),
    ]
    if free:
        return tuple(msgspec.structs.replace(pair, kind="free", marked=False) for pair in rows)
    return tuple(_mark_parameter(rows, function, parameter))


def pairs_of_sides(sides: object) -> tuple[CallRows, ...]:
    """Return the pairs in `details["sides"]` of a scorer of trajectories; none if it has another form.

    >>> pairs_of_sides([{"kind": "missing", "expected": "pay()"}])[0].expected
    'pay()'
    """
    try:
        found = msgspec.convert(sides, list[_Side])
    except msgspec.ValidationError:
        return ()
    return tuple(
        CallRows(
            expected=side.expected,
            made=f"… +{side.count:,}" if side.kind == "more" else side.made,
            rows=tuple(
                ParameterRow(parameter=name, expected=wanted, made=actual, marked=True)
                for name, wanted, actual in side.faults
            ),
            marked=side.kind not in ("matched", "more", "free"),
            kind=side.kind,
            turn=side.turn,
        )
        for side in found
    )


class _Side(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    expected: str | None = None
    made: str | None = None
    faults: list[tuple[str, str, str]] = []
    turn: int = 0
    count: int = 0


def call_text(call: ShownCall) -> str:
    """Write a call in one line.

    >>> call_text(ShownCall("f", {"x": ("1", "2"), "y": ("true",)}))
    'f(x=1 | 2, y=true)'
    """
    return f"{call.name}({', '.join(f'{name}={_either(texts)}' for name, texts in call.arguments.items())})"


def value_text(value: object) -> str:
    """Return a value as JSON text, cut to a length; never raises."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        text = f"<{type(value).__name__}>"
    return clip(text, SHOWN_CHARACTERS)


def _call(item: object, *, allowed: bool) -> ShownCall | None:
    if isinstance(item, ToolCall):
        return _shown_call(item.name, item.arguments if item.raw is None else {"": item.raw})
    if not isinstance(item, Mapping):
        return None
    if isinstance(name := item.get("name"), str):
        return _shown_call(name, next((item[key] for key in ("arguments", "args", "parameters") if key in item), {}))
    if len(item) == 1:
        return _shown_call(*next(iter(item.items())), allowed=allowed)
    return None


def _shown_call(name: object, arguments: object, *, allowed: bool = False) -> ShownCall | None:
    if not isinstance(arguments, Mapping):
        return None
    many = allowed and all(isinstance(value, list) and value for value in arguments.values())
    return ShownCall(
        str(name),
        {
            _key(key): tuple(map(value_text, value)) if many else (value_text(value),)
            for key, value in arguments.items()
        },
    )


def _likeness(wanted: ShownCall, call: ShownCall) -> float:
    """Say how alike two calls are: the name counts most, then the parameters with the same value."""
    names = {*wanted.arguments, *call.arguments}
    same = sum(call.arguments[name][0] in wanted.arguments[name] for name in wanted.arguments if name in call.arguments)
    return 2 * (wanted.name == call.name) + (same / len(names) if names else 0)


def _pair(wanted: ShownCall | None, made: ShownCall | None) -> CallRows:
    expected_by_name = wanted.arguments if wanted else {}
    made_by_name = made.arguments if made else {}
    rows = tuple(
        ParameterRow(
            parameter=name,
            expected=_either(expected_by_name[name]) if name in expected_by_name else None,
            made=made_by_name[name][0] if name in made_by_name else None,
        )
        for name in dict.fromkeys((*expected_by_name, *made_by_name))
    )
    return CallRows(
        expected=wanted.name if wanted else None,
        made=made.name if made else None,
        rows=rows,
        marked=wanted is None or made is None or wanted.name != made.name,
    )


def _mark_parameter(found: Sequence[CallRows], function: str | None, parameter: str | None) -> Iterator[CallRows]:
    """Mark the parameter that a scorer named in the pairs where it differs, or in all if it differs nowhere."""
    if parameter is None:
        yield from found
        return
    named = [function is None or function in (pair.expected, pair.made) for pair in found]
    wrong = {
        at
        for at, pair in enumerate(found)
        if named[at] and any(row.parameter == parameter and _differs(row) for row in pair.rows)
    }
    for at, pair in enumerate(found):
        if at in wrong or (named[at] and not wrong):
            rows = [msgspec.structs.replace(row, marked=row.parameter == parameter) for row in pair.rows]
            yield msgspec.structs.replace(pair, rows=tuple(rows))
        else:
            yield pair


def _differs(row: ParameterRow) -> bool:
    return row.made is None or row.expected is None or row.made not in row.expected.split(EITHER)


def _key(key: object) -> str:
    return "" if key is None else str(key)


def _either(texts: Sequence[str]) -> str:
    return EITHER.join(texts)
