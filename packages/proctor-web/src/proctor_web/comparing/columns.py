"""What each sample earned in several runs, a column for each run: small enough to keep, quick enough to filter."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Literal, get_args

import msgspec

from proctor.core.run import Estimate
from proctor_judging.stats.agreement import cohen_kappa, share_equal
from proctor_web.workspace import Found

Group = Literal["broken", "fixed", "wrong", "right", "not_compared"]
GROUPS: tuple[Group, ...] = get_args(Group)
FLAGS: Mapping[str, int] = {group: 1 << at for at, group in enumerate(GROUPS)}


class Columns(msgspec.Struct):
    """The means of all samples by a scorer, in the order of the plan of the first run; not a number where a run has no score.

    `known` are the flags that were asked for.
    """

    scorer: str
    ids: Sequence[str]
    clusters: Sequence[str]
    tags: Sequence[Mapping[str, str]]
    values: Sequence["array[float]"]
    known: dict[int, bytes] = {}

    def flags(self, of: int) -> bytes:
        """Return the groups of all samples, by what the run at position `of` (0: any) did to them: a bit for each group."""
        if of not in self.known:
            rows = map(self.row, range(len(self.ids)))
            self.known[of] = bytes(sum(FLAGS[group] for group in groups_of(row, of)) for row in rows)
        return self.known[of]

    def row(self, at: int) -> tuple[float | None, ...]:
        """Return what the sample at a position earned in each run."""
        return tuple(None if isnan(column[at]) else column[at] for column in self.values)


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """How two runs agree on which samples are right, which is full marks; runs are named by their position.

    `same` is the share of samples that both have right or both have wrong, `kappa` the same beyond chance.
    """

    first: int
    second: int
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    same: Estimate
    kappa: Estimate


def read_columns(runs: Sequence[Found], scorer: str) -> Columns:
    position_by_sample: dict[str, int] = {}
    clusters: list[str] = []
    tags: list[Mapping[str, str]] = []
    columns: list[array[float]] = []
    for run in runs:
        totals, counts = array("d", [0.0]) * len(position_by_sample), array("L", [0]) * len(position_by_sample)
        for value in run.store.values(run.record.id, scorer):
            at = position_by_sample.get(value.sample_id)
            if at is None:
                at = position_by_sample[value.sample_id] = len(position_by_sample)
                clusters.append(value.cluster)
                tags.append(value.tags)
            if at >= len(totals):
                totals.extend([0.0] * (at + 1 - len(totals)))
                counts.extend([0] * (at + 1 - len(counts)))
            if value.value is not None:
                totals[at] += value.value
                counts[at] += 1
        means = (total / count if count else nan for total, count in zip(totals, counts, strict=True))
        columns.append(array("d", means))
    for column in columns:
        column.extend([nan] * (len(position_by_sample) - len(column)))
    return Columns(scorer, [*position_by_sample], clusters, tags, columns)


def group_counts(columns: Columns, of: int = 0) -> Mapping[Group, int]:
    """Count the samples in each group; one that some runs broke and others fixed is in both."""
    counts = Counter(columns.flags(of))
    return {group: sum(count for flags, count in counts.items() if flags & FLAGS[group]) for group in GROUPS}


def groups_of(values: Sequence[float | None], of: int = 0) -> Iterator[Group]:
    """Yield the groups of a sample: what the run at position `of` (0: any of the others) did to it, compared with the first.

    >>> [*groups_of((1.0, 0.0, 1.0))], [*groups_of((1.0, 0.0, 1.0), 2)], [*groups_of((0.5, None))]
    (['broken'], ['right'], ['not_compared'])
    """
    first, *rest = values
    others = [values[of]] if of else rest
    scored = [other for other in others if other is not None]
    if first is None or len(scored) < len(others):
        yield "not_compared"
        return
    is_broken, is_fixed = any(other < first for other in scored), any(other > first for other in scored)
    if is_broken:
        yield "broken"
    if is_fixed:
        yield "fixed"
    if not (is_broken or is_fixed):
        yield "right" if first == 1 else "wrong"


def overlap(columns: Columns, first: int, second: int) -> Overlap:
    """Compare which samples two runs have right."""
    units: list[tuple[float, float]] = []
    clusters = []
    for value, other, cluster in zip(columns.values[first], columns.values[second], columns.clusters, strict=True):
        if not (isnan(value) or isnan(other)):
            units.append((float(value == 1), float(other == 1)))
            clusters.append(cluster)
    counts = Counter(units)
    if len({*clusters}) == len(clusters):
        clusters = []
    return Overlap(
        first=first,
        second=second,
        both_right=counts[1, 1],
        only_first=counts[1, 0],
        only_second=counts[0, 1],
        both_wrong=counts[0, 0],
        same=share_equal(units, clusters=clusters),
        kappa=cohen_kappa([value for value, _ in units], [other for _, other in units], clusters=clusters),
    )
