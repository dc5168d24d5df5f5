"""How near every expected call is to every made one: a table for each set of tools that may stand for each other."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

import msgspec

from proctor.core.errors import MissingExtra
from proctor.core.sample import ToolCall
from proctor.trajectory_matching import similarity_matrix
from proctor.trajectory_matching.arguments import Rules, closeness
from proctor.trajectory_matching.expectation import ExpectedCall

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
    if len(calls) * len(made) >= LARGE and find_spec("numpy") is not None:
        return similarity_matrix.similarities(calls, made, rules)
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
