"""Write the plan of a run: which samples it will play, in which order."""

import sqlite3
from collections.abc import Iterator, Sequence

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.stores._accept import number_of
from proctor.stores._arrivals import insert
from proctor.stores.blobs import clean, encode
from proctor.stores.schema import first_sample

_SAMPLES = "INSERT INTO samples SELECT * FROM (VALUES {rows}) WHERE column1 > 0 ON CONFLICT DO NOTHING"


PlannedRow = tuple[int, str, str | None, str]


def start(db: sqlite3.Connection, run: int) -> None:
    """Delete a plan that was interrupted; a plan that has trials stays."""
    first, last = first_sample(run), first_sample(run + 1)
    if db.execute("SELECT 1 FROM trials WHERE sample >= ? AND sample < ? LIMIT 1", (first, last)).fetchone() is None:
        db.execute("DELETE FROM samples WHERE run = ?", (run,))


def extend(db: sqlite3.Connection, run: int, place: int, samples: Sequence[Sample]) -> None:
    """Add samples to the plan, the first of them at this position.

    Raises:
        BadInput: an id occurs twice, is no valid text, or is not at its position in the stored plan.
    """
    numbers: dict[str, int] = {}
    rows = []
    for number, name, cluster, tags in planned_rows(run, place, samples):
        if tags not in numbers:
            numbers[tags] = number_of(db, "tag_sets", tags)
        rows.append((number, run, name, cluster, numbers[tags]))
    if insert(db, _SAMPLES, rows) < len(rows):
        for number, _, name, _, _ in rows:
            _check_place(db, run, number, name)


def planned_rows(run: int, place: int, samples: Sequence[Sample]) -> Iterator[PlannedRow]:
    """Yield the number, name, cluster and tags of each sample, the first of them at this position of the plan.

    Raises:
        BadInput: a name is no valid text.
    """
    for number, sample in enumerate(samples, start=first_sample(run) + place):
        if clean(sample.id) != sample.id:
            raise BadInput(
                "The sample id '{id}' holds a lone surrogate. Repair it in the data.",
                id=clean(sample.id),
            )
        tags = encode(sample.tags).decode() if sample.tags else "{}"
        cluster = None if sample.cluster in (None, sample.id) else clean(sample.cluster)
        yield number, sample.id, cluster, tags


def finish(db: sqlite3.Connection, run: int, count: int) -> None:
    """Complete a plan of `count` samples.

    Raises:
        BadInput: the stored plan is longer.
    """
    if db.execute("SELECT count(*) FROM samples WHERE run = ?", (run,)).fetchone()[0] != count:
        raise other_plan()
    db.execute(  # a sample on its own is in the cluster of its name, should others be in it too
        "UPDATE samples SET cluster = name WHERE run = :run AND cluster IS NULL"
        " AND name IN (SELECT cluster FROM samples WHERE run = :run AND cluster IS NOT NULL)",
        {"run": run},
    )


def _check_place(db: sqlite3.Connection, run: int, number: int, name: str) -> None:
    row = db.execute("SELECT id FROM samples WHERE run = ? AND name = ?", (run, name)).fetchone()
    if row is not None and row[0] < number:
        raise twice(name)
    if row is None or row[0] != number:
        raise other_plan()


def other_plan() -> BadInput:
    """Return the error of samples that are not those of the stored plan."""
    return BadInput("The samples are not those that the run was planned with, in their order. Start a new run instead.")


def twice(name: str) -> BadInput:
    """Return the error of a sample that is in the plan already."""
    return BadInput("The sample id '{id}' is there twice.", id=name)
