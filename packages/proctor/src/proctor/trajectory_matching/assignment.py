"""One-to-one assignments between expected and made calls: as many matches as possible, or the greatest similarity.

Counting matches needs no more than a bipartite matching (Hopcroft and Karp 1973). Similarities need the assignment
problem, solved by scipy where it is installed, else by shortest augmenting paths (Jonker and Volgenant 1987).
"""

from collections import deque
from collections.abc import Mapping, Sequence
from importlib import import_module

from proctor.core.installing import is_installed

LARGEST_WITHOUT_SCIPY = 200
SMALL = 50  # below it, loading scipy would take longer than doing without
EPSILON = 1e-12


def most(edges: Sequence[Sequence[int]], made: int, start: Mapping[int, int] | None = None) -> dict[int, int]:
    """Return a matching of expected calls to made ones with as many pairs as there can be: {expected: made}.

    `edges` holds the made calls that fit each expected one. What `start` matches stays matched, if to another.

    >>> most([[0, 1], [0]], 2)
    {1: 0, 0: 1}
    """
    to = [-1] * len(edges)
    owner = [-1] * made
    for expected, index in (start or {}).items():
        to[expected], owner[index] = index, expected
    while layers := _layers(edges, to, owner):
        for root in [expected for expected, index in enumerate(to) if index < 0]:
            _augment(root, edges, to, owner, layers)
    return {owner[index]: index for index in range(made) if owner[index] >= 0}


def best(weights: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return the assignment of rows to columns with the greatest sum; pairs of weight 0 are left out.

    >>> best([[0.5, 0.9], [0.9, 0.1]])
    {0: 1, 1: 0}
    """
    rows, columns = len(weights), len(weights[0]) if len(weights) else 0
    if not rows or not columns:
        return {}
    if max(rows, columns) > SMALL and is_installed("scipy"):
        pairs = _by_scipy(weights)
    elif rows <= columns:
        pairs = _by_paths(weights)
    else:
        turned = [[row[column] for row in weights] for column in range(columns)]
        pairs = [(row, column) for column, row in _by_paths(turned)]
    return {row: column for row, column in sorted(pairs) if weights[row][column] > EPSILON}


def _layers(edges: Sequence[Sequence[int]], to: Sequence[int], owner: Sequence[int]) -> list[int] | None:
    """Return the distance of each expected call from a free one; None when no path ends at a free made call."""
    layers = [0 if index < 0 else -1 for index in to]
    queue = deque(expected for expected, index in enumerate(to) if index < 0)
    reaches = False
    while queue:
        expected = queue.popleft()
        for index in edges[expected]:
            following = owner[index]
            if following < 0:
                reaches = True
            elif layers[following] < 0:
                layers[following] = layers[expected] + 1
                queue.append(following)
    return layers if reaches else None


def _augment(root: int, edges: Sequence[Sequence[int]], to: list[int], owner: list[int], layers: list[int]) -> None:
    """Walk down the layers from a free expected call to a free made one, and turn the path over."""
    path: list[tuple[int, int]] = []
    walks = [(root, iter(edges[root]))]
    while walks:
        expected, rest = walks[-1]
        for index in rest:
            following = owner[index]
            if following < 0:
                for matched, other in (*path, (expected, index)):
                    to[matched], owner[other] = other, matched
                return
            if layers[following] == layers[expected] + 1:
                path.append((expected, index))
                walks.append((following, iter(edges[following])))
                break
        else:
            layers[expected] = -2  # leads nowhere in this phase
            walks.pop()
            if path:
                path.pop()


def _by_scipy(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    optimize = import_module("scipy.optimize")
    rows, columns = optimize.linear_sum_assignment(weights, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _by_paths(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Rows one after the other, each along the cheapest augmenting path; there are at least as many columns."""
    count, width = len(weights), len(weights[0])
    costs = [[-weight for weight in row] for row in weights]
    row_price, price = [0.0] * count, [0.0] * width
    owner = [-1] * width
    for start in range(count):
        distance, previous = [float("inf")] * width, [-1] * width
        left = list(range(width))
        row, column, reached = start, -1, 0.0
        while True:
            cost, base = costs[row], reached - row_price[row]
            nearest = float("inf")
            for other in left:
                way = base + cost[other] - price[other]
                if way < distance[other]:
                    distance[other], previous[other] = way, column
                if distance[other] < nearest:
                    nearest, chosen = distance[other], other
            column, reached = chosen, nearest
            left.remove(column)
            if owner[column] < 0:
                break
            row = owner[column]
        _settle(start, reached, distance, set(left), row_price, price, owner)
        while previous[column] >= 0:
            owner[column] = owner[previous[column]]
            column = previous[column]
        owner[column] = start
    return [(row, column) for column, row in enumerate(owner) if row >= 0]


def _settle(
    start: int,
    reached: float,
    distance: list[float],
    left: set[int],
    row_price: list[float],
    price: list[float],
    owner: list[int],
) -> None:
    """Move the prices so that all cheapest ways so far cost nothing more."""
    row_price[start] += reached
    for column, way in enumerate(distance):
        if column not in left and owner[column] >= 0:
            row_price[owner[column]] += reached - way
            price[column] -= reached - way
