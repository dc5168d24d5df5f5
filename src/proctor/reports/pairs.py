"""Put the calls a sample expects beside the calls the agent made, parameter by parameter."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import ToolCall

SHOWN_CALLS = 40
SHOWN_CHARACTERS = 1_000


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter on both sides; None where a side does not give it. `marked` is where the scorer found the error."""

    parameter: str
    expected: str | None = None
    made: str | None = None
    marked: bool = False


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call and the call made in its place, by the names of their functions; None where one is missing.

    Where a scorer compared the calls, they are told whole, `kind` is what it found, and `rows` are the arguments that are
    wrong; `turn` counts from 1, and is 0 where there is only one.
    """

    expected: str | None = None
    made: str | None = None
    rows: tuple[Row, ...] = ()
    marked: bool = False
    kind: str = ""
    turn: int = 0


class Shown(msgspec.Struct, frozen=True):
    """A call with each argument as the texts it may be: one for a call that was made, several where several are allowed."""

    name: str
    arguments: Mapping[str, tuple[str, ...]]


def calls_in(value: Any, *, allowed: bool = False) -> tuple[Shown, ...] | None:
    """The calls that a reference, a target or decoded output stands for; None when it is something else.

    Knows tool calls, `[{"name": ..., "arguments": {...}}]` (or `args`), and `[{function: {parameter: value}}]`.
    With `allowed`, the values of the last form are lists of what is allowed, as BFCL writes its answers.

    >>> calls_in([{"f": {"x": [1, ""]}}], allowed=True)
    (Shown(name='f', arguments={'x': ('1', '""')}),)
    >>> calls_in("Paris") is None
    True
    """
    if not isinstance(value, list | tuple) or not value:
        return None
    calls = [_call(item, allowed=allowed) for item in value[:SHOWN_CALLS]]
    return tuple(call for call in calls if call is not None) if all(calls) else None


def pairs(
    expected: Sequence[Shown], made: Sequence[Shown], *, function: str | None = None, parameter: str | None = None
) -> tuple[Pair, ...]:
    """Each expected call beside a made one, the most similar ones first, then the calls that are left over.

    This is for the eye only: the verdict is the scorer's. `function` and `parameter` are where it found the error.
    """
    alike = sorted(
        ((at, to) for at in range(len(expected)) for to in range(len(made))),
        key=lambda places: _likeness(expected[places[0]], made[places[1]]),
        reverse=True,
    )
    to_by_at: dict[int, int] = {}
    for at, to in alike:
        if at not in to_by_at and to not in to_by_at.values():
            to_by_at[at] = to
    beside = [(call, made[to_by_at[at]] if at in to_by_at else None) for at, call in enumerate(expected)]
    left = [(None, call) for to, call in enumerate(made) if to not in to_by_at.values()]
    return tuple(_pair(wanted, call, function, parameter) for wanted, call in (*beside, *left))


def found_pairs(sides: Any) -> tuple[Pair, ...]:
    """The pairs that a scorer of trajectories found, out of `details["sides"]`; none where these are something else.

    >>> found_pairs([{"kind": "missing", "expected": "pay()"}])[0].expected
    'pay()'
    """
    try:
        found = msgspec.convert(sides, list[_Side])
    except msgspec.ValidationError:
        return ()
    return tuple(
        Pair(
            expected=one.expected,
            made=f"… +{one.count:,}" if one.kind == "more" else one.made,
            rows=tuple(
                Row(parameter=name, expected=wanted, made=made, marked=True) for name, wanted, made in one.faults
            ),
            marked=one.kind not in ("matched", "more"),
            kind=one.kind,
            turn=one.turn,
        )
        for one in found
    )


class _Side(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    expected: str | None = None
    made: str | None = None
    faults: list[tuple[str, str, str]] = []
    turn: int = 0
    count: int = 0


def call_text(call: Shown) -> str:
    """A call in one line.

    >>> call_text(Shown("f", {"x": ("1", "2"), "y": ("true",)}))
    'f(x=1 | 2, y=true)'
    """
    return f"{call.name}({', '.join(f'{name}={_either(texts)}' for name, texts in call.arguments.items())})"


def value_text(value: Any) -> str:
    """A value as JSON text, cut to a length; never raises."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def _call(item: Any, *, allowed: bool) -> Shown | None:
    if isinstance(item, ToolCall):
        return _shown(item.name, item.arguments if item.raw is None else {"": item.raw})
    if not isinstance(item, Mapping):
        return None
    if isinstance(name := item.get("name"), str):
        return _shown(name, next((item[key] for key in ("arguments", "args", "parameters") if key in item), {}))
    if len(item) == 1:
        return _shown(*next(iter(item.items())), allowed=allowed)
    return None


def _shown(name: Any, arguments: Any, *, allowed: bool = False) -> Shown | None:
    if not isinstance(arguments, Mapping):
        return None
    many = allowed and all(isinstance(value, list) and value for value in arguments.values())
    return Shown(
        str(name),
        {
            _key(key): tuple(map(value_text, value)) if many else (value_text(value),)
            for key, value in arguments.items()
        },
    )


def _likeness(wanted: Shown, call: Shown) -> tuple[bool, int]:
    texts_by_name = call.arguments
    same = sum(texts_by_name[name][0] in texts for name, texts in wanted.arguments.items() if name in texts_by_name)
    return wanted.name == call.name, same


def _pair(wanted: Shown | None, made: Shown | None, function: str | None, parameter: str | None) -> Pair:
    names = [call.name for call in (wanted, made) if call is not None]
    here = function is None or function in names
    expected_by_name = wanted.arguments if wanted else {}
    made_by_name = made.arguments if made else {}
    rows = tuple(
        Row(
            parameter=name,
            expected=_either(expected_by_name[name]) if name in expected_by_name else None,
            made=made_by_name[name][0] if name in made_by_name else None,
            marked=here and name == parameter,
        )
        for name in dict.fromkeys((*expected_by_name, *made_by_name))
    )
    return Pair(
        expected=wanted.name if wanted else None,
        made=made.name if made else None,
        rows=rows,
        marked=wanted is None or made is None or wanted.name != made.name,
    )


def _key(key: Any) -> str:
    return "" if key is None else str(key)


def _either(texts: Sequence[str]) -> str:
    return " | ".join(texts)
