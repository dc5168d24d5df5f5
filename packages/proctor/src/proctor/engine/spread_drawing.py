"""Draw the samples of `--limit` spread over how hard they are, as stored runs know, in place of a plain draw."""

import random
from collections.abc import Collection, Mapping
from statistics import fmean

from proctor.core.run import Selection
from proctor.core.task import Task
from proctor.engine import order as visiting
from proctor.engine.selection import _positions, _samples
from proctor.stats.spread import draw_spread

LEAST_KNOWN = 0.5  # share of the samples that stored runs have to know


def draw_known(task: Task, selection: Selection, seed: int, expected: Mapping[str, float]) -> dict[str, float] | None:
    """Draw as many samples of each stratum as a plain draw does, spread over their expected values; return those, the hardest first.

    Args:
        expected: by sample id; a sample without one is taken to be as hard as the mean.

    Returns:
        None where that says nothing, or samples belong together: in clusters, or as they follow each other.
    """
    samples = _samples(task, is_part=False)
    followers: dict[int, str] = {}
    positions = _positions(samples, selection, task.spread_by, followers)
    total = sum(map(len, positions.values()))
    limit = selection.limit or total
    if followers or limit < len(positions):
        return None
    chosen = {position for each in positions.values() for position in each}
    ids: dict[int, str] = {}
    for position, sample in enumerate(samples()):
        if position in chosen:
            if sample.cluster:
                return None
            ids[position] = sample.id
    known = {id: expected[id] for id in ids.values() if id in expected}
    if len(known) < LEAST_KNOWN * total or len({*known.values()}) < 2:
        return None
    mean = fmean(known.values())
    drawn: dict[str, float] = {}
    for stratum, plain in visiting.draw(positions, limit, seed).items():
        source = random.Random(f"{seed}/{stratum}/spread")  # noqa: S311 - a draw, not a secret
        values = {ids[at]: known.get(ids[at], mean) for at in positions[stratum]}
        drawn |= {id: values[id] for id in draw_spread(values, len(plain), source)}
    return drawn


def has_samples(task: Task, selection: Selection, ids: Collection[str]) -> bool:
    """True if a selection can draw all of these samples of a task."""
    return {*ids} <= {*_drawable_ids(task, selection)}


def find_unknown(task: Task, selection: Selection, ids: Collection[str]) -> tuple[int, str] | None:
    """Return how many samples that a selection can draw are among these ids, and one that is not; None where enough are."""
    drawable = _drawable_ids(task, selection)
    unknown = [id for id in drawable if id not in ids]
    known = len(drawable) - len(unknown)
    return (known, unknown[0]) if known < LEAST_KNOWN * len(drawable) else None


def _drawable_ids(task: Task, selection: Selection) -> list[str]:
    samples = _samples(task, is_part=False)
    drawable = {position for each in _positions(samples, selection, None, {}).values() for position in each}
    return [sample.id for position, sample in enumerate(samples()) if position in drawable]
