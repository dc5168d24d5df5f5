"""Write the plan of a run: which samples it will play, in which order."""

# ruff: noqa: S608 - the statements are composed of constants in this file
from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.core.digest import digest_bytes
from proctor.core.sample import Sample
from proctor.stores.plan import PlannedRow, other_plan, planned_rows, twice
from proctor.stores.schema import first_sample
from proctor_adapters.postgresql.connection import execute
from proctor_adapters.postgresql.queries import COUNTED
from proctor_adapters.postgresql.text import escape

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.errors import UniqueViolation

_TRIALS = "SELECT 1 FROM trials WHERE sample >= %s AND sample < %s LIMIT 1"
_CLUSTERS = """
UPDATE samples SET cluster = name WHERE sample >= %(first)s AND sample < %(last)s AND cluster IS NULL
AND name IN (SELECT cluster FROM samples WHERE sample >= %(first)s AND sample < %(last)s AND cluster IS NOT NULL)
"""  # a sample on its own is in the cluster of its name, should others be in it too
_SCORES = """
UPDATE scores SET cluster = samples.cluster FROM samples
WHERE scores.sample = samples.sample AND scores.sample >= %(first)s AND scores.sample < %(last)s AND scores.cluster IS DISTINCT FROM samples.cluster
"""
_SIZES = f"""
UPDATE runs SET (plan_tags, plan_samples, plan_clustered)
    = (SELECT array_agg(tags), array_agg(samples), array_agg(clustered) FROM ({COUNTED}) AS counted)
WHERE id = :run RETURNING (SELECT coalesce(CAST(sum(size) AS bigint), 0) FROM unnest(plan_samples) AS size)
"""


def start(db: "Connection", run: int) -> bool:
    """Delete an interrupted plan; return True if the run has trials already, which keeps its plan."""
    db.execute("UPDATE runs SET plan_tags = NULL WHERE id = %s", (run,))
    span = (first_sample(run), first_sample(run + 1))
    if db.execute(_TRIALS, span).fetchone() is not None:
        return True
    db.execute("DELETE FROM samples WHERE sample >= %s AND sample < %s", span)
    return False


def extend(db: "Connection", run: int, place: int, samples: Sequence[Sample], *, is_there: bool) -> None:
    """Add samples to the plan, the first of them at this position.

    Args:
        is_there: some may be planned already.

    Raises:
        BadInput: an id occurs twice, is no valid text, or is not at its position in the stored plan.
    """
    from psycopg.errors import UniqueViolation

    rows = list(planned_rows(run, place, samples))
    numbers = _number_tags(db, sorted({tags for *_, tags in rows}))
    if is_there:
        rows = _new_rows(db, run, rows)
    try:
        with db.cursor().copy("COPY samples (sample, run, name, cluster, tags) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", "int4", "text", "text", "int4"])
            for number, name, cluster, tags in rows:
                copy.write_row((number, run, name, cluster, numbers[tags]))
    except UniqueViolation as error:
        if error.diag.constraint_name == "samples_pkey":  # another sample has the place
            raise other_plan() from None
        raise twice(_named_in(error, rows)) from None


def _new_rows(db: "Connection", run: int, rows: Sequence[PlannedRow]) -> list[PlannedRow]:
    """Return the samples that are not planned yet; the others must be at their positions."""
    names = [name for _, name, _, _ in rows]
    query = "SELECT name, sample FROM samples JOIN unnest(%s::text[]) AS asked (name) USING (name) WHERE run = %s"
    there: dict[str, int] = dict(db.execute(query, (names, run)).fetchall())
    for number, name, _, _ in rows:
        if there.get(name, number) < number:
            raise twice(name)
        if there.get(name, number) > number:
            raise other_plan()
    return [row for row in rows if row[1] not in there]


def _named_in(error: "UniqueViolation", rows: Sequence[PlannedRow]) -> str:
    """Return the name that a plan has twice: of `Key (name, run)=(fr, 1) already exists.`"""
    detail = error.diag.message_detail or ""
    return max((name for _, name, _, _ in rows if f"=({escape(name)}, " in detail), key=len, default="?")


def finish(db: "Connection", run: int, count: int) -> None:
    """Complete a plan of `count` samples.

    Raises:
        BadInput: the stored plan is longer.
    """
    db.execute("ANALYZE samples")  # else what follows takes minutes for a large plan
    values = {"first": first_sample(run), "last": first_sample(run + 1)}
    if db.execute(_CLUSTERS, values).rowcount:
        db.execute(_SCORES, values)
    if execute(db, _SIZES, {"run": run}).fetchone() != (count,):
        raise other_plan()


def _number_tags(db: "Connection", texts: Sequence[str]) -> dict[str, int]:
    digests = {bytes.fromhex(digest_bytes(text.encode())): text for text in texts}
    db.execute(
        "INSERT INTO tag_sets (digest, tags) SELECT * FROM unnest(%s::bytea[], %s::text[]) ON CONFLICT DO NOTHING",
        (list(digests), list(digests.values())),
    )
    query = "SELECT digest, id FROM tag_sets WHERE digest = ANY(%s::bytea[])"
    return {digests[bytes(digest)]: number for digest, number in db.execute(query, (list(digests),))}
