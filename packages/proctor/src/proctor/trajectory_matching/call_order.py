"""Assignments that respect an order of the expected calls: the greatest weight of pairs that do not cross it.

A total order is a weighted longest common subsequence. Groups one after the other, where pairs only count or do not,
are solved by the places that part the made calls, with a matching between each two. Any other order is solved over its
down-sets: what is matched, with all that has to come before it. Their number grows with the width of the order (how
many calls stand in no order to each other), so the search is bounded: orders up to width 3, of up to 30 expected calls
against 60 made, always stay below `MOST_STEPS`; beyond it the result says that it may not be the best.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

MOST_STEPS = 2_500_000
Weights = Sequence[Mapping[int, float]]  # for each expected call: made call -> weight above 0
_Trail: TypeAlias = "tuple[int, int, _Trail] | None"  # a pair, and those that were made before it


class Ordered(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs {expected: made}, and whether they are certainly the best there are."""

    pairs: Mapping[int, int]
    best: bool = True


def in_sequence(weights: Weights, made: int, sequence: Sequence[int] | None = None) -> dict[int, int]:
    """Return the best pairs when expected calls come in their order, or in the one given.

    >>> in_sequence([{1: 1.0}, {0: 1.0}], 2)
    {1: 0}
    """
    order = range(len(weights)) if sequence is None else sequence
    table = [[0.0] * (made + 1)]
    for expected in order:
        above, fits, best = table[-1], weights[expected], 0.0
        row = [0.0] * (made + 1)
        for position in range(made):
            best = max(best, above[position + 1])
            if (weight := fits.get(position)) is not None:
                best = max(best, above[position] + weight)
            row[position + 1] = best
        table.append(row)
    pairs: dict[int, int] = {}
    position = made
    for step in range(len(table) - 1, 0, -1):
        while position and table[step][position] == table[step][position - 1]:
            position -= 1
        if position and table[step][position] > table[step - 1][position]:
            position -= 1
            pairs[list(order)[step - 1]] = position
    return pairs


def in_partial_order(weights: Weights, made: int, before: Sequence[int], unordered: Mapping[int, int]) -> Ordered:
    """Return the best pairs when some expected calls come before others.

    Args:
        before: for each expected call, those that come before it, as bits; complete, without cycles.
        unordered: the best pairs without any order, which no result can exceed.
    """
    most = _sum(weights, unordered)
    if _respects(unordered, before):
        return Ordered(pairs=unordered)
    guesses = [in_sequence(weights, made, order) for order in _sequences(before, unordered)]
    guess = max(guesses, key=lambda pairs: _sum(weights, pairs))
    if _sum(weights, guess) >= most - 1e-9:
        return Ordered(pairs=guess)
    pairs = _by_levels(weights, made, before) or _over_down_sets(weights, made, before)
    return Ordered(pairs=guess, best=False) if pairs is None else Ordered(pairs=pairs)


def closed(count: int, edges: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return all that comes before each of `count` things, as bits, from pairs (first, then); None when they go in a circle."""
    behind: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for first, then in set(edges):
        behind[first].append(then)
        waits[then] += 1
    before = [0] * count
    free = [index for index in range(count) if not waits[index]]
    for index in free:  # grows while it is walked
        for then in behind[index]:
            before[then] |= before[index] | 1 << index
            waits[then] -= 1
            if not waits[then]:
                free.append(then)
    return before if len(free) == count else None


def _sum(weights: Weights, pairs: Mapping[int, int]) -> float:
    return sum(weights[expected][position] for expected, position in pairs.items())


def _respects(pairs: Mapping[int, int], before: Sequence[int]) -> bool:
    return not any(before[then] >> first & 1 and pairs[first] > pairs[then] for first in pairs for then in pairs)


def _sequences(before: Sequence[int], unordered: Mapping[int, int]) -> list[list[int]]:
    """Two total orders that agree with the partial one: as written, and as close as possible to the calls made."""
    return [_extended(before, {}), _extended(before, unordered)]


def _extended(before: Sequence[int], wish: Mapping[int, int]) -> list[int]:
    order: list[int] = []
    done, left = 0, sorted(range(len(before)), key=lambda one: (wish.get(one, -1), one))
    while left:
        one = next(index for index in left if not before[index] & ~done)
        left.remove(one)
        order.append(one)
        done |= 1 << one
    return order


def _by_levels(weights: Weights, made: int, before: Sequence[int]) -> dict[int, int] | None:
    """Groups one after the other; None where the order is another, pairs differ in weight, or there is too much."""
    levels = _levels(before)
    equal = len({weight for fits in weights for weight in fits.values()}) <= 1
    if levels is None or not equal or made * made * len(weights) > MOST_STEPS:
        return None
    most, splits = [0] * (made + 1), []
    for level in levels:
        fitting = [[expected for expected in level if position in weights[expected]] for position in range(made)]
        after, split = most[:], list(range(made + 1))
        for start in range(made):
            if start and most[start] == most[start - 1]:
                continue  # starting earlier is as good
            matching = _Growing(fitting)
            for position in range(start, made):
                matching.add(position)
                if most[start] + matching.size > after[position + 1]:
                    after[position + 1], split[position + 1] = most[start] + matching.size, start
        most = after
        splits.append(split)
    pairs: dict[int, int] = {}
    end = made
    for level, split in zip(reversed(levels), reversed(splits), strict=True):
        start = split[end]
        matching = _Growing(
            [[expected for expected in level if position in weights[expected]] for position in range(end)]
        )
        for position in range(start, end):
            matching.add(position)
        pairs |= matching.pairs
        end = start
    return pairs


def _levels(before: Sequence[int]) -> list[list[int]] | None:
    """Return the groups of an order in which each comes after all those before it; None where it has another form."""
    groups: dict[int, list[int]] = {}
    for index, mask in enumerate(before):
        groups.setdefault(mask, []).append(index)
    so_far, levels = 0, []
    for mask in sorted(groups, key=int.bit_count):
        if mask != so_far:
            return None
        so_far |= sum(1 << index for index in groups[mask])
        levels.append(groups[mask])
    return levels


class _Growing:
    """A matching with as many pairs as possible, to which made calls are added one by one."""

    def __init__(self, fitting: Sequence[Sequence[int]]) -> None:
        self.pairs: dict[int, int] = {}
        self.size = 0
        self._fitting = fitting

    def add(self, place: int) -> None:
        """Match one more made call, if there is a way to."""
        self.size += self._augment(place, set())

    def _augment(self, place: int, seen: set[int]) -> bool:
        for expected in self._fitting[place]:
            if expected not in seen:
                seen.add(expected)
                if expected not in self.pairs or self._augment(self.pairs[expected], seen):
                    self.pairs[expected] = place
                    return True
        return False


def _over_down_sets(weights: Weights, made: int, before: Sequence[int]) -> dict[int, int] | None:
    """Take the made calls in order; a state is the set that no later call may be matched with. None: too many steps."""
    fitting: list[list[tuple[int, float, int]]] = [[] for _ in range(made)]
    twins = _twins(weights, before)
    for expected, fits in enumerate(weights):
        for position, weight in fits.items():
            fitting[position].append((expected, weight, twins[expected]))
    states: dict[int, tuple[float, _Trail]] = {0: (0.0, None)}
    steps = 0
    for position, candidates in enumerate(fitting):
        if not candidates:
            continue
        steps += len(states) * len(candidates)
        if steps > MOST_STEPS:
            return None
        for state, (value, trail) in list(states.items()):
            for expected, weight, twin in candidates:
                if state >> expected & 1 or (twin >= 0 and not state >> twin & 1):
                    continue
                after = state | 1 << expected | before[expected]
                if value + weight > states.get(after, (-1.0,))[0]:
                    states[after] = (value + weight, (expected, position, trail))
    pairs: dict[int, int] = {}
    trail = max(states.values(), key=lambda found: found[0])[1]
    while trail is not None:
        expected, position, trail = trail
        pairs[expected] = position
    return pairs


def _twins(weights: Weights, before: Sequence[int]) -> list[int]:
    """For each expected call an earlier one that cannot be told from it, which then is matched first; -1 without one."""
    behind = [
        sum(1 << then for then in range(len(before)) if before[then] >> index & 1) for index in range(len(before))
    ]
    last: dict[object, int] = {}
    twins = []
    for index, fits in enumerate(weights):
        kind = (before[index], behind[index], frozenset(fits.items()))
        twins.append(last.get(kind, -1))
        last[kind] = index
    return twins
