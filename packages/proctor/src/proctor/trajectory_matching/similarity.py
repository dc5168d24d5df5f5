"""Compute the similarity of every expected call to every made one: a table for each set of tools that may replace each other.

A cell is the similarity that `closeness` gives for the pair. It is counted argument by argument: each value that is expected is
compared once with each different value that was given, so that 1,000 calls against 1,000 take well under a second.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from proctor.core.errors import MissingExtra
from proctor.core.installing import is_installed
from proctor.core.sample import ToolCall
from proctor.trajectory_matching.arguments import ABSENT, ArgumentRules, arguments_of, canonical, counts, right
from proctor.trajectory_matching.expectation import ExpectedCall

RIGHT = 1 << 32  # a cell adds 1 for an argument that counts, and this for one that is right too


class SimilarityBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Expected and made calls by their indices, and the similarity of each pair: `table[row][column]`."""

    expected: Sequence[int]
    made: Sequence[int]
    table: Sequence[Sequence[float]]


def blocks(
    calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: ArgumentRules, *, largest: int | None = None
) -> Iterator[SimilarityBlock]:
    """Yield the blocks; calls of different blocks have nothing in common, so each block can be matched alone.

    Raises:
        MissingExtra: a block is larger than `largest` on a side, and scipy is not installed.
    """
    root = _roots(calls)
    rows: dict[str, list[int]] = {}
    columns: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        rows.setdefault(root[call.name], []).append(index)
    for index, tool_call in enumerate(made):
        columns.setdefault(root.get(tool_call.name, tool_call.name), []).append(index)
    for name, expected in rows.items():
        if name in columns:
            wanted, given = [calls[index] for index in expected], [made[index] for index in columns[name]]
            if largest is not None and max(len(wanted), len(given)) > largest and not is_installed("scipy"):
                raise MissingExtra("matching", f"Matching more than {largest} calls of {name} by similarity")
            yield SimilarityBlock(expected=expected, made=columns[name], table=similarities(wanted, given, rules))


def similarities(calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: ArgumentRules) -> list[list[float]]:
    """Return the table of one block; an expected call with alternatives takes the best of them."""
    given = _Given(made, rules)
    rows = ([given.row(option) for option in (call, *call.either)] for call in calls)
    return [options[0] if len(options) == 1 else list(map(max, zip(*options, strict=True))) for options in rows]


class _Column:
    """The values of one argument: each different one by its code, and which made call has which."""

    def __init__(self) -> None:
        self.code: dict[Hashable, int] = {}
        self.values: list[Any] = []
        self.cells: list[tuple[int, int]] = []

    def add(self, index: int, value: Any) -> None:
        code = self.code.setdefault(canonical(value), len(self.values))
        if code == len(self.values):
            self.values.append(value)
        self.cells.append((index, code))


class _Given:
    """The arguments of the made calls by column, and what each expected value made of a column."""

    def __init__(self, made: Sequence[ToolCall], rules: ArgumentRules) -> None:
        self._rules = rules
        self._names = [call.name for call in made]
        self._sizes: list[int] = []
        self._readable: list[bool] = []
        self._columns: dict[str, _Column] = {}
        self._fits: dict[Hashable, list[int]] = {}
        self._ratio = cache(lambda cell: cell // RIGHT / (cell % RIGHT) if cell else 1.0)
        for index, call in enumerate(made):
            arguments = arguments_of(call)
            full = {**rules.defaults.get(call.name, {}), **(arguments or {})}
            self._sizes.append(len(full))
            self._readable.append(arguments is not None)
            for key, value in full.items():
                self._columns.setdefault(key, _Column()).add(index, value)

    def row(self, call: ExpectedCall) -> list[float]:
        """Return the similarity of each made call to an expected one."""
        rules, policy = self._rules, self._rules.policy_for(call)
        extra = int(counts(ABSENT, None, None, policy))  # for an argument that no rule of the call names
        wanted = {**rules.defaults.get(call.name, {}), **(call.arguments or {})}
        general = (*rules.match, *rules.ignore)
        missed = 0
        row = [extra * size for size in self._sizes]
        for key in {*wanted, *call.match, *general, *(name.removeprefix(f"{call.name}.") for name in general)}:
            expected, matcher = wanted.get(key, ABSENT), rules.matcher_for(call, key)
            miss = int((key in wanted or key in call.match) and counts(expected, ABSENT, matcher, policy))
            missed += miss
            if (column := self._columns.get(key)) is not None:
                change = [-miss - extra] * len(column.values)
                if counts(expected, None, matcher, policy):
                    change = [fit - miss - extra for fit in self._fitting(key, column, expected, matcher)]
                for index, code in column.cells:
                    row[index] += change[code]
        return [
            self._ratio(cell + missed) if readable and name == call.name else 0.0
            for cell, readable, name in zip(row, self._readable, self._names, strict=True)
        ]

    def _fitting(self, key: str, column: _Column, expected: object, matcher: object) -> list[int]:
        """Return what each value of a column adds to a cell."""
        value = None if expected is ABSENT else canonical(expected)
        asked = (key, expected is ABSENT, value, canonical(matcher))
        if asked not in self._fits:
            if matcher is None and expected is not ABSENT and not self._rules.tolerance:
                fits = [1] * len(column.values)
                if (code := column.code.get(value)) is not None:
                    fits[code] += RIGHT
            else:
                tolerance = self._rules.tolerance
                fits = [1 + RIGHT * right(expected, entry, matcher, tolerance) for entry in column.values]
            self._fits[asked] = fits
        return self._fits[asked]


def _roots(calls: Sequence[ExpectedCall]) -> Mapping[str, str]:
    """Return one name for all tools that may replace each other."""
    root: dict[str, str] = {}
    for call in calls:
        names = {call.name, *(option.name for option in call.either)}
        joined = {root.get(name, name) for name in names}
        chosen = min(joined)
        root |= dict.fromkeys((*names, *(name for name, chosen_root in root.items() if chosen_root in joined)), chosen)
    return root
