"""Compute coefficients of agreement over units with multiplicities: `{unit: times}`.

A unit holds the ratings of one item; of two raters, in their order.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal

Rating = float | str
Unit = tuple[Rating, ...]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["linear", "quadratic"]

SAME = 1e-12


def kappa(times: Mapping[Unit, int], weights: Weights | None) -> float | None:
    """Return 1 - the distance between the two raters, over the distance expected by chance."""
    count = sum(times.values())
    expected = _expected_distance(times, weights)
    if len(_values(times)) < 2 or expected <= 0:
        return None
    observed = math.fsum(often * _distance(a, b, weights) for (a, b), often in times.items()) / count
    return 1 - observed / expected


def kappa_chance(times: Mapping[Unit, int], weights: Weights | None) -> float:
    """Return the share that would agree by chance; with weights, of the greatest distance."""
    ratings = _values(times)
    greatest = _distance(min(ratings, key=float), max(ratings, key=float), weights) if weights and ratings else 1.0
    return 1 - _expected_distance(times, weights) / (greatest or 1.0)


def _distance(a: Rating, b: Rating, weights: Weights | None) -> float:
    if weights is None or isinstance(a, str) or isinstance(b, str):
        return float(a != b)
    return abs(a - b) if weights == "linear" else (a - b) ** 2


def _expected_distance(times: Mapping[Unit, int], weights: Weights | None) -> float:
    """Return the mean distance of one rater's ratings from the other's, each paired with each."""
    first, second = _column(times, 0), _column(times, 1)
    count = first.total()
    if not count:
        return 0.0
    if weights is None:
        return 1 - sum(often * second[rating] for rating, often in first.items()) / count**2
    if weights == "quadratic":
        return math.fsum(_mean(counter, 2) for counter in (first, second)) - 2 * _mean(first, 1) * _mean(second, 1)
    distance, below_first, below_second = 0.0, 0, 0
    for low, high in pairwise(sorted({*first, *second}, key=float)):
        below_first, below_second = below_first + first[low], below_second + second[low]
        crossing = below_first * (count - below_second) + below_second * (count - below_first)
        distance += (float(high) - float(low)) * crossing
    return distance / count**2


def _column(times: Mapping[Unit, int], place: int) -> Counter[Rating]:
    counts: Counter[Rating] = Counter()
    for unit, often in times.items():
        counts[unit[place]] += often
    return counts


def _mean(counts: Counter[Rating], power: int) -> float:
    return math.fsum(often * float(rating) ** power for rating, often in counts.items()) / counts.total()


def alpha(times: Mapping[Unit, int], scale: Scale) -> float | None:
    """Return 1 - the distance within units, over the distance of any two ratings; None where all ratings are equal."""
    counts = _values(times)
    total = counts.total()
    match scale:
        case "nominal":
            apart = {unit: float(len(unit) ** 2 - sum(n * n for n in Counter(unit).values())) for unit in times}
            expected: float = total**2 - sum(often * often for often in counts.values())
        case "ratio":
            apart = {unit: 2 * math.fsum(_ratio(a, b) for a, b in combinations(unit, 2)) for unit in times}
            pairs = combinations(counts.items(), 2)
            expected = 2 * math.fsum(n * m * _ratio(a, b) for (a, n), (b, m) in pairs)
        case _:
            scaled = _ranks(counts) if scale == "ordinal" else _centred(counts)
            apart = {unit: _squared_distances([(scaled[rating], 1) for rating in unit]) for unit in times}
            expected = _squared_distances([(scaled[rating], often) for rating, often in counts.items()])
    if len(counts) < 2 or expected <= 0:
        return None
    observed = math.fsum(often * apart[unit] / (len(unit) - 1) for unit, often in times.items())
    return 1 - (total - 1) * observed / expected


def _values(times: Mapping[Unit, int]) -> Counter[Rating]:
    counts: Counter[Rating] = Counter()
    for unit, often in times.items():
        for rating in unit:
            counts[rating] += often
    return counts


def _ranks(counts: Counter[Rating]) -> dict[Rating, float]:
    """Return the middle rank of each rating; the ordinal distance of two ratings is the difference of these."""
    ranks: dict[Rating, float] = {}
    below = 0
    for rating in sorted(counts, key=float):
        ranks[rating] = below + counts[rating] / 2
        below += counts[rating]
    return ranks


def _centred(counts: Counter[Rating]) -> dict[Rating, float]:
    mean = _mean(counts, 1) if counts else 0.0
    return {rating: float(rating) - mean for rating in counts}


def _squared_distances(weighted: Sequence[tuple[float, int]]) -> float:
    """Return the sum of (a - b)² over all ordered pairs."""
    count = sum(often for _, often in weighted)
    total = math.fsum(often * value for value, often in weighted)
    return 2 * (count * math.fsum(often * value * value for value, often in weighted) - total * total)


def _ratio(a: Rating, b: Rating) -> float:
    total = float(a) + float(b)
    return ((float(a) - float(b)) / total) ** 2 if total else 0.0


def equal_by_chance(times: Mapping[Unit, int]) -> float:
    """Return the chance that two of all ratings are equal, drawn without replacement."""
    counts = _values(times)
    total = counts.total()
    return sum(often * (often - 1) for often in counts.values()) / (total * (total - 1))


def equal_pairs(unit: Unit) -> float:
    return sum(n * (n - 1) for n in Counter(unit).values()) / (len(unit) * (len(unit) - 1))
