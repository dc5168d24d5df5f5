"""Split the difference between the means of two sets of samples into parts that sum to it.

Write a for what a sample earned in the first set and b in the second, weights w and v that sum to 1 in their set, C for the
samples of both, W and V for their shares of the weights, m and n for their weighted means. Then

    mean(b) - mean(a) =   Σ_C ½ (w/W + v/V) (b - a)       what changed of the same samples
                        + Σ_C (v/V - w/W) ½ (a + b)       that they count otherwise now, as their slices have other shares
                        + Σ_second only v (b - n)         samples that only the second set has
                        - Σ_first only w (a - m)          samples that only the first set has

The first two are Kitagawa's. A sample of one set only is compared with the samples of both in its slice, and that slice with
their whole: b - n = (b - n_slice) + (n_slice - n). The second part belongs to the shares of slices, unless the sample was to be
in both sets and is missing for a reason. A slice is booked only what it has beyond its due: the share that it has among the
samples of both, times the weight of all samples of that one set. Over the slices this due sums to 0.

All of it is sums over slices, so that intervals come from a jackknife that leaves out a group of clusters at a time.

Source: Kitagawa 1955, "Components of a Difference Between Two Rates"; Shao and Tu 1995 for the grouped jackknife.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import Literal

import msgspec

from proctor.stats.distributions import t_quantile
from proctor.stats.rate import Interval, checked_level

Side = Literal["both", "first", "second"]
Kind = Literal["same", "missing", "samples", "shares"]
Cell = tuple[Side, str, str]  # which set has the sample, why the other has it not, its slice
GROUPS = 60
_ROUNDING = 1e-9


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of either set: its weight in each, 0 where that set has it not, and what it earned.

    Attributes:
        why: the reason why a sample that was to be in both sets is missing in one; '' where it was not to be.
    """

    cluster: str
    slice: str = ""
    why: str = ""
    first_weight: float = 0.0
    second_weight: float = 0.0
    first: float = 0.0
    second: float = 0.0

    @property
    def cell(self) -> Cell:
        """Return where its sums belong."""
        if self.first_weight > 0 and self.second_weight > 0:
            return "both", "", self.slice
        return "first" if self.first_weight > 0 else "second", self.why, self.slice


class Key(msgspec.Struct, frozen=True):
    """Which part it is: `same` samples, `missing` ones by why, `samples` of one set only, `shares` of a slice."""

    kind: Kind
    name: str = ""
    side: Side = "both"


def kind_of(key: Key) -> str:
    """Return the kind of a part."""
    return key.kind


class DifferencePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the difference with its interval; None where the clusters show no spread."""

    key: Key
    value: float
    interval: Interval | None


Sums = tuple[float, float, float, float, float, float]  # of w, wa, wb, v, va, vb
_NONE: Sums = (0.0,) * 6


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The whole difference, its parts, and the sums of those parts that belong together; either sum to the whole."""

    whole: DifferencePart
    parts: tuple[DifferencePart, ...]
    sums: Mapping[str, DifferencePart]


def decompose(members: Sequence[Member], group: Callable[[Key], str] = kind_of, *, level: float = 0.95) -> Split:
    """Split the difference; there has to be a sample that both sets have.

    Args:
        group: names the sum that a part belongs to.

    >>> old = Member(cluster="x", first_weight=1, second_weight=1, first=1, second=0)
    >>> new = Member(cluster="y", second_weight=1, second=1)
    >>> split = decompose([old, new])
    >>> split.whole.value, [(part.key.kind, part.value) for part in split.parts]
    (-0.5, [('same', -1.0), ('samples', 0.5)])
    """
    groups = [*_sums_by_group(members)]
    cells = _add(groups)
    parts = _parts(cells)
    left_out = [_parts(_less(cells, one)) for one in groups] if len(groups) > 1 else []
    quantile = t_quantile(0.5 + checked_level(level) / 2, len(groups) - 1) if left_out else 0.0

    def piece(*keys: Key) -> DifferencePart:
        value = math.fsum(parts[key] for key in keys)
        without = [math.fsum(values.get(key, 0.0) for key in keys) for values in left_out]
        if not without:
            return DifferencePart(key=keys[0], value=value, interval=None)
        centre = math.fsum(without) / len(without)
        square = math.fsum((each - centre) ** 2 for each in without) * (len(without) - 1) / len(without)
        half = quantile * math.sqrt(square)
        if half <= _ROUNDING:  # all alike, which shows no spread
            return DifferencePart(key=keys[0], value=value, interval=None)
        return DifferencePart(key=keys[0], value=value, interval=Interval(low=value - half, high=value + half))

    together: dict[str, list[Key]] = {}
    for key in parts:
        together.setdefault(group(key), []).append(key)
    return Split(
        whole=piece(*parts),
        parts=tuple(map(piece, parts)),
        sums={name: piece(*keys) for name, keys in together.items()},
    )


def _sums_by_group(members: Iterable[Member]) -> Iterator[dict[Cell, Sums]]:
    """Yield the sums of each group of clusters; up to `GROUPS` clusters are a group each, more are dealt at random."""
    cells_by_cluster: dict[str, dict[Cell, Sums]] = {}
    for member in members:
        w, v, a, b = member.first_weight, member.second_weight, member.first, member.second
        if w > 0 or v > 0:
            cells = cells_by_cluster.setdefault(member.cluster, {})
            cells[member.cell] = _plus(cells.get(member.cell, _NONE), (w, w * a, w * b, v, v * a, v * b))
    clusters = [*cells_by_cluster.values()]
    random.Random(0).shuffle(clusters)  # noqa: S311 - the same interval each time
    return (_add(clusters[at::GROUPS]) for at in range(min(GROUPS, len(clusters))))


def _add(parts: Iterable[Mapping[Cell, Sums]]) -> dict[Cell, Sums]:
    found: dict[Cell, list[Sums]] = {}
    for part in parts:
        for cell, sums in part.items():
            found.setdefault(cell, []).append(sums)
    return {cell: _fsum(each) for cell, each in found.items()}


def _fsum(each: Sequence[Sums]) -> Sums:
    w, wa, wb, v, va, vb = (math.fsum(column) for column in zip(*each, strict=True))
    return w, wa, wb, v, va, vb


def _plus(one: Sums, other: Sums) -> Sums:
    w, wa, wb, v, va, vb = map(add, one, other)
    return w, wa, wb, v, va, vb


def _less(whole: Mapping[Cell, Sums], group: Mapping[Cell, Sums]) -> dict[Cell, Sums]:
    """Return the sums without a group; a cell that only the group had is gone, whatever rounding left of it."""
    found = {}
    for cell, sums in whole.items():
        w, wa, wb, v, va, vb = (x - y for x, y in zip(sums, group.get(cell, _NONE), strict=True))
        if max(w / (sums[0] or 1.0), v / (sums[3] or 1.0)) > 1e-9:
            found[cell] = w, wa, wb, v, va, vb
    return found


def _parts(cells: Mapping[Cell, Sums]) -> dict[Key, float]:
    """Return the parts of the difference, as the sums of its cells make them."""
    both = {slice_: sums for (side, _, slice_), sums in cells.items() if side == "both"}
    if not both:  # a group that held all that the sets share
        return {}
    w, wa, wb, v, va, vb = _fsum([*both.values()])
    parts: dict[Key, float] = {Key("same"): ((wb - wa) / w + (vb - va) / v) / 2}
    middle = (wa / w + vb / v) / 2
    for slice_, (w_, wa_, wb_, v_, va_, vb_) in both.items():
        shift = (va_ + vb_) / (2 * v) - (wa_ + wb_) / (2 * w) - (v_ / v - w_ / w) * middle
        _book(parts, Key("shares", slice_), shift)
    for side, at, sign in (("first", 0, -1.0), ("second", 3, 1.0)):
        earned = 1 if side == "first" else 2  # a is the second of three sums, b the third
        total = math.fsum(sums[at] for (other, _, _), sums in cells.items() if other in (side, "both"))
        mean = wa / w if side == "first" else vb / v
        alone = math.fsum(sums[at] for (other, why, _), sums in cells.items() if other == side and not why) / total
        for slice_, sums in both.items():
            due = (sums[at + earned] - sums[at] * mean) / (w if side == "first" else v)
            _book(parts, Key("shares", slice_), -sign * alone * due)
        for (other, why, slice_), sums in cells.items():
            if other != side:
                continue
            weight, points = sums[at] / total, sums[at + earned] / total
            if why:
                _book(parts, Key("missing", why, side), sign * (points - weight * mean))
                continue
            common = both.get(slice_)
            own = common[at + earned] / common[at] if common is not None else points / weight
            _book(parts, Key("samples", "", side), sign * (points - weight * own))
            _book(parts, Key("shares", slice_), sign * weight * (own - mean))
    return {key: value for key, value in parts.items() if key.kind != "shares" or abs(value) > 1e-12}


def _book(parts: dict[Key, float], key: Key, value: float) -> None:
    parts[key] = parts.get(key, 0.0) + value
