"""Choose the samples of a run: all, the first, some at random, by id, by tag."""

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest

from proctor.core.errors import BadInput
from proctor.core.run import Selection
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.registry import unknown

Read = Callable[[], Iterable[Sample]]


def chosen(task: Task, selection: Selection, seed: int) -> Read:
    """A function that reads the chosen samples, in the order of the task, as often as it is called.

    `limit` draws at random with the seed, in turn from each value of the tag `task.spread_by`, so that two
    runs with the same seed take the same samples.

    Raises:
        BadInput: an id or tag that no sample has; no sample at all.
    """
    read = _readable(task)
    if selection.tags:
        read = _filtered(
            read, lambda sample: all(sample.tags.get(key) == value for key, value in selection.tags.items())
        )
        if next(iter(read()), None) is None:
            raise _no_such_tag(task, selection)
    if selection.ids:
        _check_ids(read, selection.ids)
        ids = frozenset(selection.ids)
        read = _filtered(read, lambda sample: sample.id in ids)
    if selection.first is not None:
        read = _first(read, selection.first)
    if selection.limit is not None:
        drawn = frozenset(_draw(read(), selection.limit, seed, task.spread_by))
        read = _filtered(read, lambda sample: sample.id in drawn)
    if next(iter(read()), None) is None:
        raise BadInput("The task '{task}' has no samples to run.", task=task.name)
    return read


def _readable(task: Task) -> Read:
    samples = task.samples
    if callable(samples):
        return samples
    kept = list(samples) if isinstance(samples, Iterator) else samples  # a generator can be read only once
    return lambda: kept


def _filtered(read: Read, wanted: Callable[[Sample], bool]) -> Read:
    return lambda: (sample for sample in read() if wanted(sample))


def _first(read: Read, count: int) -> Read:
    return lambda: islice(read(), count)


def _draw(samples: Iterable[Sample], count: int, seed: int, spread_by: str | None) -> Iterator[str]:
    ids_by_stratum: dict[str, list[str]] = {}
    for sample in samples:
        ids_by_stratum.setdefault(sample.tags.get(spread_by, "") if spread_by else "", []).append(sample.id)
    for stratum, ids in ids_by_stratum.items():
        random.Random(f"{seed}/{stratum}").shuffle(ids)  # noqa: S311 - a draw, not a secret
    in_turn = chain.from_iterable(zip_longest(*ids_by_stratum.values()))
    return islice((id for id in in_turn if id is not None), count)


def _check_ids(read: Read, wanted: tuple[str, ...]) -> None:
    missing = set(wanted)
    known: list[str] = []
    for sample in read():
        missing.discard(sample.id)
        if len(known) < 5_000:
            known.append(sample.id)
    if missing:
        raise unknown("sample", sorted(missing)[0], known, paths=False)


def _no_such_tag(task: Task, selection: Selection) -> BadInput:
    values: dict[str, set[str]] = {}
    for sample in islice(_readable(task)(), 5_000):
        for key, value in sample.tags.items():
            values.setdefault(key, set()).add(value)
    known = "; ".join(f"{key}={'|'.join(sorted(found)[:20])}" for key, found in sorted(values.items()))
    asked = ", ".join(f"{key}={value}" for key, value in selection.tags.items())
    if not known:
        return BadInput("No sample has the tag {asked}: the samples of this task have no tags.", asked=asked)
    return BadInput("No sample has the tag {asked}. Tags of this task: {known}.", asked=asked, known=known)
