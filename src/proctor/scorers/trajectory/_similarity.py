"""How near every expected call is to every made one: a table for each set of tools that may stand for each other."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from proctor.core.errors import MissingExtra
from proctor.core.sample import ToolCall
from proctor.scorers.trajectory._arguments import Rules, arguments_of, canonical, closeness
from proctor.scorers.trajectory._expected import ExpectedCall

LARGE = 20_000  # pairs, from which on counting with numpy is quicker, where it is installed


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Expected and made calls by their places, and the similarity of each pair: `table[row][column]`."""

    expected: Sequence[int]
    made: Sequence[int]
    table: Sequence[Sequence[float]]


def blocks(
    calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: Rules, *, largest: int | None = None
) -> Iterator[Block]:
    """The blocks; calls of different blocks have nothing in common, so each block can be matched alone.

    Raises:
        MissingExtra: a block is larger than `largest` on a side, and scipy is not installed.
    """
    root = _roots(calls)
    rows: dict[str, list[int]] = {}
    columns: dict[str, list[int]] = {}
    for place, call in enumerate(calls):
        rows.setdefault(root[call.name], []).append(place)
    for place, one in enumerate(made):
        columns.setdefault(root.get(one.name, one.name), []).append(place)
    for name, expected in rows.items():
        if name in columns:
            wanted, given = [calls[place] for place in expected], [made[place] for place in columns[name]]
            if largest is not None and max(len(wanted), len(given)) > largest and find_spec("scipy") is None:
                raise MissingExtra("matching", f"Matching more than {largest} calls of {name} by similarity")
            yield Block(expected=expected, made=columns[name], table=similarities(wanted, given, rules))


def similarities(calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: Rules) -> Sequence[Sequence[float]]:
    """The table of one block."""
    plain = not rules.defaults and not rules.ignore and all(rules.plain(call) for call in calls)
    one_tool = len({call.name for call in calls} | {one.name for one in made}) == 1
    if len(calls) * len(made) >= LARGE and plain and one_tool and find_spec("numpy") is not None:
        return _counted(calls, made)
    return [[closeness(call, one, rules).similarity for one in made] for call in calls]


def _roots(calls: Sequence[ExpectedCall]) -> Mapping[str, str]:
    """One name for all tools that may stand for each other."""
    root: dict[str, str] = {}
    for call in calls:
        names = {call.name, *(one.name for one in call.either)}
        joined = {root.get(name, name) for name in names}
        chosen = min(joined)
        root |= dict.fromkeys((*names, *(name for name, one in root.items() if one in joined)), chosen)
    return root


def _counted(calls: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> Sequence[Sequence[float]]:
    """The share of equal arguments among all of either call, for all pairs at once."""
    numpy = import_module("numpy")
    wanted = [call.arguments or {} for call in calls]
    read = [arguments_of(one) for one in made]
    given = [one if one is not None else {} for one in read]
    right = numpy.zeros((len(calls), len(made)), dtype=numpy.int32)
    both = numpy.zeros_like(right)
    for key in {key for one in (*wanted, *given) for key in one}:
        codes: dict[Any, int] = {}
        rows, columns = (
            numpy.array([codes.setdefault(canonical(one[key]), len(codes)) if key in one else -1 for one in side])
            for side in (wanted, given)
        )
        there = (rows >= 0)[:, None] & (columns >= 0)[None, :]
        both += there
        right += there & (rows[:, None] == columns[None, :])
    sizes = [numpy.array([len(one) for one in side]) for side in (wanted, given)]
    counted = sizes[0][:, None] + sizes[1][None, :] - both
    table: Any = numpy.where(counted > 0, right / numpy.maximum(counted, 1), 1.0)
    table[:, [place for place, one in enumerate(read) if one is None]] = 0.0
    rows_of_table: Sequence[Sequence[float]] = table
    return rows_of_table
