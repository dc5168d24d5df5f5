"""Draw positions of a task, and decide in which order samples are visited: both at random, with the seed.

Every stratum is shuffled, and the strata are then laid into each other like the teeth of combs: the k-th of the N_h
samples of a stratum comes at (k + u_h) / N_h of the way, u_h being a random number of the stratum. So every part of the
order that starts at its beginning holds each stratum in proportion to its size, to within one sample. Of a run that may end
at any time, `together` then visits all samples of a cluster in a row.
"""

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import chain


def shuffle(places: Sequence[int], stratum: str, seed: int) -> "array[int]":
    """Return the positions of a stratum in an order that depends only on the seed and the name of the stratum."""
    found = array("Q", places)
    random.Random(f"{seed}/{stratum}").shuffle(found)  # noqa: S311 - a draw, not a secret
    return found


def draw(places_by_stratum: "Mapping[str, array[int]]", count: int, seed: int) -> "dict[str, array[int]]":
    """Draw positions in proportion to the strata; at least one of each stratum, where the count allows it.

    A larger draw with the same seed holds a smaller one that held all strata.

    >>> drawn = draw({"easy": array("Q", range(900)), "hard": array("Q", range(900, 1000))}, 100, 0)
    >>> {stratum: len(places) for stratum, places in drawn.items()}
    {'easy': 90, 'hard': 10}
    """
    taken = dict.fromkeys(places_by_stratum, 1 if count >= len(places_by_stratum) else 0)
    left = count - sum(taken.values())
    for stratum, number in _interleave(places_by_stratum, seed):
        if left == 0:
            break
        if number >= taken[stratum]:
            taken[stratum] = number + 1
            left -= 1
    return {stratum: places_by_stratum[stratum][:number] for stratum, number in taken.items() if number}


def visits(places_by_stratum: "Mapping[str, array[int]]", seed: int) -> "array[int]":
    """Return the order in which the samples at these positions are visited."""
    if len(places_by_stratum) == 1:
        return next(iter(places_by_stratum.values()))
    return array("Q", (places_by_stratum[stratum][number] for stratum, number in _interleave(places_by_stratum, seed)))


def together(order: Sequence[int], clusters: Mapping[int, str]) -> "array[int]":
    """Return the order with the samples of a cluster in a row, where the first of them in the task was.

    Where any of them was first would favour large clusters, which are met sooner.

    >>> list(together([4, 1, 3, 0, 2], {1: "a", 4: "a"}))
    [1, 4, 3, 0, 2]
    """
    members: dict[str, list[int]] = {}
    for position in order:
        if position in clusters:
            members.setdefault(clusters[position], []).append(position)
    first = {min(places): sorted(places) for places in members.values()}
    visited = (first.get(position, () if position in clusters else (position,)) for position in order)
    return array("Q", chain.from_iterable(visited))


def _interleave(places_by_stratum: "Mapping[str, array[int]]", seed: int) -> Iterator[tuple[str, int]]:
    """Yield the stratum that is next, and the index within it."""
    combs = (_teeth(stratum, len(places), seed) for stratum, places in places_by_stratum.items())
    return ((stratum, number) for _, stratum, number in merge(*combs))


def _teeth(stratum: str, size: int, seed: int) -> Iterator[tuple[float, str, int]]:
    begin = random.Random(f"{seed}/{stratum}/begin").random()  # noqa: S311 - as above
    return (((number + begin) / size, stratum, number) for number in range(size))
