"""Pair expected calls with made calls, and classify the calls left over."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import ToolCall
from proctor.trajectory_matching import assignment, call_order
from proctor.trajectory_matching.arguments import (
    ArgumentFault,
    ArgumentRules,
    arguments_of,
    canonical,
    closeness,
    key_of,
)
from proctor.trajectory_matching.expectation import ExpectedCall, ExpectedCalls, Order
from proctor.trajectory_matching.similarity import blocks

EXPLAINED = 25  # unmatched calls of one tool on each side, up to which the nearest misses are looked for

Kind = Literal[
    "matched",
    "partly",
    "out of order",
    "wrong arguments",
    "wrong function",
    "missing",
    "extra",
    "repeated",
    "forbidden",
]


class How(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a comparison, unless the expectation has its own.

    partial: calls that are nearly right count by their share of right arguments. pure: tools (with `*`) whose repeated
    equal calls are redundant. The rest as in `Expected`.
    """

    rules: ArgumentRules = ArgumentRules()
    order: Order = "any_order"
    partial: bool = False
    pure: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    needs: Mapping[str, str] = {}
    forbidden: tuple[ExpectedCall, ...] = ()
    most_calls: int | None = None
    most_calls_of: Mapping[str, int] = {}


class CallPair(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a comparison: an expected call, a made one (by their places), or both."""

    kind: Kind
    expected: int | None = None
    made: int | None = None
    similarity: float = 0.0
    faults: tuple[ArgumentFault, ...] = ()


class Pairing:
    """The best pairs of expected and made calls, and the calls left over."""

    def __init__(self, expected: ExpectedCalls, made: tuple[ToolCall, ...], how: How) -> None:
        self.calls, self.made, self.how = expected.calls or (), made, how
        self.best = True
        order = expected.order or how.order
        before = _before(expected, how, order)
        self.total = before is not None and _is_total(before)
        self.weights: Sequence[Mapping[int, float]] | None = None
        if how.partial or before is not None or not self._plain():
            self.weights = self._weights()
        if before is None or self.weights is None:
            self.pairs = self._unordered()
        elif self.total:
            sequence = sorted(range(len(before)), key=lambda one: before[one].bit_count())
            self.pairs = call_order.in_sequence(self._search(), len(made), sequence)
        else:
            ordered = call_order.in_partial_order(self._search(), len(made), before, self._unordered())
            self.pairs, self.best = dict(ordered.pairs), ordered.best
        self.similarity = {index: self.weights[index][to] if self.weights else 1.0 for index, to in self.pairs.items()}

    def entries(self, repeated: Mapping[int, int]) -> list[CallPair]:
        """Return every pair and every call left over, in the order of the made calls; missing ones are placed where they were expected."""
        entries = [
            self._entry("matched" if self.similarity[index] >= 1 else "partly", index, to)
            for index, to in self.pairs.items()
        ]
        left = [index for index in range(len(self.calls)) if index not in self.pairs]
        taken = set(self.pairs.values())
        spare = [index for index in range(len(self.made)) if index not in taken]
        steps: Sequence[tuple[Kind, Callable[[list[int], list[int]], Mapping[int, int]]]] = (
            ("out of order", self._fitting),
            ("wrong arguments", self._nearest),
            ("wrong function", self._misnamed),
        )
        for kind, pairs in steps:
            chosen = pairs(left, spare) if left and spare else {}
            entries += [self._entry(kind, index, to) for index, to in chosen.items()]
            left = [index for index in left if index not in chosen]
            spare = [index for index in spare if index not in chosen.values()]
        entries += [CallPair(kind="missing", expected=index) for index in left if not self.calls[index].optional]
        entries += [CallPair(kind="repeated" if index in repeated else "extra", made=index) for index in spare]
        return _in_order(entries)

    def _plain(self) -> bool:
        return not any(call.optional for call in self.calls) and all(self.how.rules.plain(call) for call in self.calls)

    def _weights(self) -> list[dict[int, float]]:
        """For each expected call the made ones that count, with what they count."""
        least = assignment.EPSILON if self.how.partial else 1.0
        weights: list[dict[int, float]] = [{} for _ in self.calls]
        if self._plain() and not self.how.partial:
            places = self._places(range(len(self.made)))
            return [dict.fromkeys(places.get(self._key(call), ()), 1.0) for call in self.calls]
        largest = assignment.LARGEST_WITHOUT_SCIPY if self.how.partial and not self.total else None
        self.blocks = list(blocks(self.calls, self.made, self.how.rules, largest=largest))
        for block in self.blocks:
            for expected, row in zip(block.expected, block.table, strict=True):
                weights[expected] = {
                    index: float(value) for index, value in zip(block.made, row, strict=True) if value >= least
                }
        return weights

    def _search(self) -> Sequence[Mapping[int, float]]:
        """Return the weights with optional calls worth less than any that has to be made."""
        weights = self.weights or ()
        if self.how.partial or not any(call.optional for call in self.calls):
            return weights
        little = 1 / (len(self.calls) + 1)
        return [
            dict.fromkeys(row, little) if call.optional else row for call, row in zip(self.calls, weights, strict=True)
        ]

    def _unordered(self) -> dict[int, int]:
        if self.weights is None:
            return self._equal(range(len(self.calls)), range(len(self.made)))
        if self.how.partial:
            return {
                block.expected[row]: block.made[column]
                for block in self.blocks
                for row, column in assignment.best(block.table).items()
            }
        edges = [list(row) for row in self.weights]
        first = [[] if call.optional else row for call, row in zip(self.calls, edges, strict=True)]
        return assignment.most(edges, len(self.made), assignment.most(first, len(self.made)))

    def _equal(self, left: Sequence[int], spare: Sequence[int]) -> dict[int, int]:
        """Pairs of equal calls, the first with the first."""
        places = {key: iter(indexes) for key, indexes in self._places(spare).items()}
        pairs = {}
        for index in left:
            to = next(places.get(self._key(self.calls[index]), iter(())), None)
            if to is not None:
                pairs[index] = to
        return pairs

    def _key(self, call: ExpectedCall) -> Hashable:
        return key_of(call.name, call.arguments or {}, self.how.rules)

    def _places(self, spare: Sequence[int]) -> dict[Hashable, list[int]]:
        places: dict[Hashable, list[int]] = {}
        for index in spare:
            arguments = arguments_of(self.made[index])
            if arguments is not None:
                places.setdefault(key_of(self.made[index].name, arguments, self.how.rules), []).append(index)
        return places

    def _fitting(self, left: Sequence[int], spare: Sequence[int]) -> dict[int, int]:
        """Pairs that match, and were only kept apart by the order."""
        if self.weights is None:
            return {}
        allowed = set(spare)
        edges = [
            [index for index, value in self.weights[expected].items() if value >= 1 and index in allowed]
            for expected in left
        ]
        return {left[row]: index for row, index in assignment.most(edges, len(self.made)).items()}

    def _nearest(self, left: Sequence[int], spare: Sequence[int]) -> dict[int, int]:
        """Calls of the right tool with wrong arguments, each with the one it comes nearest to."""
        calls, given = [self.calls[index] for index in left], [self.made[index] for index in spare]
        pairs: dict[int, int] = {}
        for block in _small(calls, given, self.how.rules):
            table = [[value + 0.01 for value in row] for row in block[2]]  # the right tool alone is nearer than nothing
            pairs |= {left[block[0][row]]: spare[block[1][column]] for row, column in assignment.best(table).items()}
        return pairs

    def _misnamed(self, left: Sequence[int], spare: Sequence[int]) -> dict[int, int]:
        """Calls of another tool with the arguments that were expected."""
        places: dict[Hashable, list[int]] = {}
        for index in spare:
            if arguments := arguments_of(self.made[index]):
                places.setdefault(canonical(arguments), []).append(index)
        pairs = {}
        for index in left:
            arguments = self.calls[index].arguments
            if arguments and (fitting := places.get(canonical(arguments))):
                pairs[index] = fitting.pop(0)
        return pairs

    def _entry(self, kind: Kind, expected: int, made: int) -> CallPair:
        if kind in ("matched", "out of order"):
            return CallPair(kind=kind, expected=expected, made=made, similarity=1.0)
        near = closeness(self.calls[expected], self.made[made], self.how.rules)
        return CallPair(kind=kind, expected=expected, made=made, similarity=near.similarity, faults=near.faults)


def _small(
    calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: ArgumentRules
) -> list[tuple[Sequence[int], Sequence[int], Sequence[Sequence[float]]]]:
    """Return the blocks, with no more than the first calls of a large one."""
    kept, count = [], Counter[str]()
    for index, call in enumerate(calls):
        count[call.name] += 1
        if count[call.name] <= EXPLAINED:
            kept.append(index)
    kept_made, count = [], Counter[str]()
    for index, tool_call in enumerate(made):
        count[tool_call.name] += 1
        if count[tool_call.name] <= EXPLAINED:
            kept_made.append(index)
    similarity_blocks = blocks([calls[index] for index in kept], [made[index] for index in kept_made], rules)
    return [
        ([kept[row] for row in block.expected], [kept_made[column] for column in block.made], block.table)
        for block in similarity_blocks
    ]


def _before(expected: ExpectedCalls, how: How, order: Order) -> list[int] | None:
    """For each expected call all that come before it, as bits; None where there is no order at all."""
    calls = expected.calls or ()
    edges: list[tuple[int, int]] = []
    for first, then in (*how.before, *expected.before):
        firsts, thens = (_named(calls, name) for name in (first, then))
        if (first, then) in expected.before and not (firsts and thens):
            raise BadInput(
                "The rule of order '{first}' before '{then}' names no expected call.", first=first, then=then
            )
        edges += [(index, other) for index in firsts for other in thens if index != other]
    if order == "any_order" and not edges:
        return None
    if order != "any_order":
        groups = expected.groups or range(len(calls))
        if not edges:
            return _by_groups(groups)
        edges += [
            (index, other)
            for index in range(len(calls))
            for other in range(len(calls))
            if groups[index] < groups[other]
        ]
    before = call_order.closed(len(calls), edges)
    if before is None:
        raise BadInput("The rules of order go in a circle.")
    return before


def _by_groups(groups: Sequence[int]) -> list[int]:
    before, so_far, here = [], 0, 0
    for index, group in enumerate(groups):
        if index and group != groups[index - 1]:
            so_far |= here
            here = 0
        before.append(so_far)
        here |= 1 << index
    return before


def _is_total(before: Sequence[int]) -> bool:
    return sorted(mask.bit_count() for mask in before) == list(range(len(before)))


def _named(calls: Sequence[ExpectedCall], name: str) -> list[int]:
    return [index for index, call in enumerate(calls) if name == call.label] or [
        index for index, call in enumerate(calls) if name == call.name
    ]


def _in_order(entries: Sequence[CallPair]) -> list[CallPair]:
    """By the calls made; what is missing comes behind what was expected before it."""
    place_of = {
        entry.expected: entry.made for entry in entries if entry.expected is not None and entry.made is not None
    }
    last, behind = -1, dict[int, float]()
    for expected in sorted(entry.expected for entry in entries if entry.expected is not None):
        position = place_of.get(expected)
        last = position if position is not None else last
        behind[expected] = last + 0.5
    return sorted(entries, key=lambda entry: entry.made if entry.made is not None else behind[entry.expected or 0])
