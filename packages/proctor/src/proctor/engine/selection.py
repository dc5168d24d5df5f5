"""Choose the samples of a run: all, the first, some at random, by id, by tag; and the order they are visited in."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import Order, Selection, Strata
from proctor.core.sample import Sample
from proctor.core.shard import Shard, shard_at
from proctor.core.tally import PREPARATION
from proctor.core.task import Task
from proctor.engine import order as visiting
from proctor.registry import unknown

Read = Callable[[], Iterable[Sample]]

MOST_KEPT = 64_000_000  # bytes up to which the samples of a lazy task are read once and kept
BYTES = 4  # that a sample takes for each character of its `repr`, as measured
PROBED = 64  # one in so many samples is measured
HELD = 2_048  # samples of a larger lazy task that are in memory at once
MOST_LAZY = 50_000  # samples of a lazy task up to which it is read again and again for a random order
MOST_STRATA = 1_000  # values of a tag beyond which they are no strata


class ChosenSamples(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen samples of a run; each call of its functions reads them again.

    Attributes:
        read: in the order of the task.
        whole: those of all shards, in the order of the task.
        visits: in the order in which they are visited.
        strata: what the samples are a part of.
    """

    read: Read
    whole: Read
    visits: Read
    strata: Strata


def choose(
    task: Task,
    selection: Selection,
    seed: int,
    *,
    order: Order = "random",
    planned: Collection[str] | None = None,
    stages: Sequence[Collection[str]] = (),
    is_looked_at: bool = False,
    shard: Shard | None = None,
) -> ChosenSamples:
    """Choose the samples of a run.

    `limit` draws at random with the seed, in proportion to the values of the tag `task.spread_by`, so that two runs with
    the same seed take the same samples; the same tag balances the random order. What chosen samples follow (`meta["after"]`)
    is chosen with them and visited first; preparations are chosen only so, or by their ids. A task that is no sequence (a function, a
    file) is read once where its samples take little memory. Of others only positions are kept: they are read again for
    each 2,048 samples of a random order, and where more than 50,000 are to be run they are visited in their own order.

    Args:
        planned: the ids that a stored run was planned with, in place of a draw.
        stages: those of them that were drawn later, which come after the others in the plan.
        is_looked_at: what was visited at any time has to be a fair part of the whole, so the samples of a cluster are visited together.
        shard: the part of them that is played; samples that follow each other are in the same one.

    Raises:
        BadInput: an id or tag that no sample has; no sample at all; fewer than shards; or samples that cannot be visited at
            random, but are to be looked at.
    """
    samples = _samples(task, is_part=selection.first is not None)
    _check(samples, selection)
    followers: dict[int, str] = {}
    places = _positions(samples, selection, task.spread_by, followers)
    sizes = {stratum: len(found) for stratum, found in places.items()}
    total, limit = sum(sizes.values()), selection.limit
    asked = _preparations(samples, selection.ids)
    if not total and not asked:
        raise BadInput("The task '{task}' has no samples to run.", task=task.name)
    if planned is not None:
        places = _planned(samples, places, planned)
    places = {stratum: visiting.shuffle(found, stratum, seed) for stratum, found in places.items() if found}
    if planned is None and limit is not None and limit < total:
        places = visiting.draw(places, limit, seed)
        if limit < len(sizes):  # a stratum that nothing was drawn from cannot be weighted
            sizes = {"": total}
    leaders = {followers[position] for found in places.values() for position in found if position in followers}
    first = _followed(samples, leaders, asked) if leaders or asked else ()
    places = {
        stratum: array("Q", (position for position in found if position not in first))
        for stratum, found in places.items()
    }
    is_sequence = isinstance(samples(), Sequence)
    is_random = order == "random" and (is_sequence or sum(map(len, places.values())) <= MOST_LAZY)
    in_order = array("Q", sorted((*first, *(position for found in places.values() for position in found))))
    if stages:
        in_order = _by_stage(samples, in_order, stages)
    visited = array("Q", (*first, *visiting.visits(places, seed))) if is_random else in_order
    if is_looked_at:
        if in_order and not is_random:
            raise _in_own_order(task)
        visited = visiting.together(visited, _clusters(task, samples, in_order, first))
    whole = in_order
    if shard is not None:
        mine = _share(samples, whole, shard, are_chained=bool(first))
        in_order, visited = (array("Q", filter(mine.__contains__, places)) for places in (whole, visited))
    by = task.spread_by or ""
    return ChosenSamples(
        read=lambda: _visit(samples, in_order) if stages else _samples_at(samples, in_order),
        whole=lambda: _visit(samples, whole) if stages else _samples_at(samples, whole),
        visits=lambda: _visit(samples, visited) if is_random or stages else _samples_at(samples, in_order),
        strata=Strata(by="" if list(sizes) == [""] else by, sizes=sizes, order="random" if is_random else "official"),
    )


def _planned(samples: Read, places: "Mapping[str, array[int]]", planned: Collection[str]) -> "dict[str, array[int]]":
    """Return the positions of the samples that a stored run was planned with."""
    ids = frozenset(planned)
    known = {index for index, sample in enumerate(samples()) if sample.id in ids}
    return {stratum: array("Q", filter(known.__contains__, there)) for stratum, there in places.items()}


def _clusters(task: Task, samples: Read, in_order: "array[int]", first: Collection[int]) -> dict[int, str]:
    """Return the cluster of each position that has one.

    Raises:
        BadInput: some samples have to be visited before others.
    """
    clusters = {}
    for index, sample in zip(in_order, _samples_at(samples, in_order), strict=True):
        if index in first and PREPARATION not in sample.tags:
            raise _in_own_order(task)
        if sample.cluster:
            clusters[index] = sample.cluster
    return clusters


def _in_own_order(task: Task) -> BadInput:
    return BadInput(
        "A run that may end early visits its samples at random, so that any part of it is a fair one. Those of '{task}' have an order of their own.",
        task=task.name,
    )


def _share(samples: Read, places: "array[int]", shard: Shard, *, are_chained: bool) -> Collection[int]:
    """Return the positions of a shard.

    Raises:
        BadInput: a shard would be empty.
    """
    units: Sequence[int] = range(len(places))
    if are_chained:
        unit_by_id: dict[str, int] = {}
        leader_by_id: dict[str, str] = {}
        chosen = list(_samples_at(samples, places))
        for sample in chosen:
            if "after" in sample.meta:
                leader_by_id[sample.id] = sample.meta["after"]
        units = []
        for sample in chosen:
            id, seen = sample.id, set[str]()
            while id in leader_by_id and id not in seen:
                seen.add(id)
                id = leader_by_id[id]
            units.append(unit_by_id.setdefault(id, len(unit_by_id)))
    count = max(units) + 1
    if count < shard.of:
        raise BadInput("There are {count} samples for {of} shards; use fewer shards.", count=count, of=shard.of)
    return {position for position, unit in zip(places, units, strict=True) if shard_at(unit, shard.of) == shard.number}


def draw_more(
    task: Task, selection: Selection, seed: int, planned: Collection[str], counts: Mapping[str, int], by: str
) -> list[str]:
    """Draw further samples of the strata that a tag names: the next ones in the order in which the seed put those of a stratum.

    Raises:
        BadInput: samples follow others, and so cannot be drawn alone.
    """
    samples = _samples(task, is_part=False)
    followers: dict[int, str] = {}
    places = _positions(samples, selection, by or None, followers)
    if followers:
        raise BadInput("The samples of '{task}' follow each other, so that no more can be drawn.", task=task.name)
    wanted: list[int] = []
    known = {position for position, sample in enumerate(samples()) if sample.id in planned}
    for stratum, count in counts.items():
        others = (position for position in visiting.shuffle(places[stratum], stratum, seed) if position not in known)
        wanted.extend(islice(others, count))
    return [sample.id for sample in _samples_at(samples, sorted(wanted))]


def _by_stage(samples: Read, places: "array[int]", stages: Sequence[Collection[str]]) -> "array[int]":
    stage_by_id = {id: at for at, ids in enumerate(stages, 1) for id in ids}
    stage = {
        position: stage_by_id.get(sample.id, 0)
        for position, sample in zip(places, _samples_at(samples, places), strict=True)
    }
    return array("Q", sorted(places, key=stage.__getitem__))  # of a stage in the order of the task


def _samples(task: Task, *, is_part: bool) -> Read:
    """Return what reads the samples; where only a part of a lazy task is wanted, no more than that is read."""
    samples = task.samples
    kept: Sequence[Sample] | None
    if isinstance(samples, Iterator):
        kept = list(samples)  # a generator can be read only once
    elif not callable(samples):
        kept = samples if isinstance(samples, Sequence) else None
    elif is_part or (task.planned or 0) > MOST_LAZY:
        kept = None
    else:
        kept = _keep(samples())
    if kept is not None:
        return lambda: kept
    return samples if callable(samples) else lambda: samples


def _keep(samples: Iterable[Sample]) -> Sequence[Sample] | None:
    """Return the samples, where they are few and small enough to be kept in memory; else None."""
    if isinstance(samples, Sequence):
        return samples
    kept: list[Sample] = []
    size = 0
    for number, sample in enumerate(samples):
        if number % PROBED == 0:
            size += PROBED * BYTES * len(repr(sample))
        if size > MOST_KEPT or number >= MOST_LAZY:
            return None
        kept.append(sample)
    return kept


def _check(samples: Read, selection: Selection) -> None:
    if selection.tags and not any(_has_tags(sample, selection.tags) for sample in samples()):
        raise _no_such_tag(samples, selection)
    if selection.ids:
        _check_ids(lambda: (row for row in samples() if _has_tags(row, selection.tags)), selection.ids)


def _has_tags(sample: Sample, tags: Mapping[str, str]) -> bool:
    return not tags or all(sample.tags.get(key) == value for key, value in tags.items())


def _positions(
    samples: Read, selection: Selection, by: str | None, followers: dict[int, str]
) -> "dict[str, array[int]]":
    """Return the positions that --tag, --id and --first leave, by stratum, and note which of them follow which sample."""
    ids = frozenset(selection.ids)
    left = (
        (position, sample)
        for position, sample in enumerate(samples())
        if PREPARATION not in sample.tags and _has_tags(sample, selection.tags) and (not ids or sample.id in ids)
    )
    found: dict[str, array[int]] = {}
    for position, sample in islice(left, selection.first):
        found.setdefault(sample.tags.get(by, "") if by else "", array("Q")).append(position)
        if "after" in sample.meta:
            followers[position] = sample.meta["after"]
        if len(found) > MOST_STRATA:
            return _positions(samples, selection, None, followers)
    return found


def _preparations(samples: Read, ids: Sequence[str]) -> set[int]:
    """Return the positions of preparations that were asked for by their ids."""
    if not ids:
        return set()
    wanted = frozenset(ids)
    return {position for position, sample in enumerate(samples()) if PREPARATION in sample.tags and sample.id in wanted}


def _followed(samples: Read, ids: Collection[str], asked: Collection[int]) -> Sequence[int]:
    """Return the positions of samples that others follow, of those that these follow, and of those asked for, in the order of the task."""
    places: dict[str, int] = {}
    leader_by_id: dict[str, str] = {}
    wanted = [*ids]
    for position, sample in enumerate(samples()):
        places[sample.id] = position
        if position in asked:
            wanted.append(sample.id)
        if "after" in sample.meta:
            leader_by_id[sample.id] = sample.meta["after"]
    followed: set[str] = set()
    while wanted:
        id = wanted.pop()
        if id in places and id not in followed:
            followed.add(id)
            wanted += [leader_by_id[id]] if id in leader_by_id else []
    return sorted(places[id] for id in followed)


def _samples_at(samples: Read, places: "Sequence[int]") -> Iterator[Sample]:
    source = samples()
    if isinstance(source, Sequence):
        yield from map(source.__getitem__, places)
        return
    wanted = iter(places)
    upcoming = next(wanted, None)
    for number, sample in enumerate(source):
        if number == upcoming:
            yield sample
            upcoming = next(wanted, None)
            if upcoming is None:
                return


def _visit(samples: Read, places: "Sequence[int]") -> Iterator[Sample]:
    """Yield the samples at these positions, in any order."""
    source = samples()
    if isinstance(source, Sequence):
        yield from map(source.__getitem__, places)
        return
    for begin in range(0, len(places), HELD):
        part = places[begin : begin + HELD]
        in_order = sorted(part)
        held = dict(zip(in_order, _samples_at(samples, in_order), strict=True))
        yield from map(held.pop, part)


def _check_ids(read: Read, wanted: tuple[str, ...]) -> None:
    missing = set(wanted)
    known: list[str] = []
    for sample in read():
        missing.discard(sample.id)
        if len(known) < 5_000:
            known.append(sample.id)
    if missing:
        raise unknown("sample", sorted(missing)[0], known, paths=False)


def _no_such_tag(samples: Read, selection: Selection) -> BadInput:
    values: dict[str, set[str]] = {}
    for sample in islice(samples(), 5_000):
        for key, value in sample.tags.items():
            values.setdefault(key, set()).add(value)
    known = "; ".join(f"{key}={'|'.join(sorted(of_key)[:20])}" for key, of_key in sorted(values.items()))
    asked = ", ".join(f"{key}={value}" for key, value in selection.tags.items())
    if not known:
        return BadInput("No sample has the tag {asked}: the samples of this task have no tags.", asked=asked)
    return BadInput("No sample has the tag {asked}. Tags of this task: {known}.", asked=asked, known=known)
