"""Delete a run: it is gone at once, and its rows follow in pieces, between which others write.

Numbers of runs are never used again. So the rows that a killed client left are those of numbers without a run;
whoever deletes a run next deletes them, too.
"""

# ruff: noqa: S608 - the statements are composed of constants in this file
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any

from proctor.stores.schema import RUN_SHIFT, first_sample
from proctor_adapters.postgresql.connection import execute

if TYPE_CHECKING:
    from psycopg import Connection

PIECE = 10_000  # samples: others wait for `contents` less than a second
AT_ONCE = 3  # pieces: one deletes contents, the others what needs no lock
_RUN = (
    "DELETE FROM annotations WHERE run = :run",
    "DELETE FROM shards WHERE run = :run",
    "DELETE FROM files WHERE run = :run",
    "DELETE FROM runs WHERE id = :run",
)
_LEFT = f"""
WITH RECURSIVE planned AS (
    SELECT min(sample) >> {RUN_SHIFT} AS run FROM samples
    UNION ALL
    SELECT (SELECT min(sample) >> {RUN_SHIFT} FROM samples WHERE sample >= (planned.run + 1) << {RUN_SHIFT})
    FROM planned WHERE planned.run IS NOT NULL
)
SELECT run FROM planned WHERE run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs WHERE id = run)
"""  # looks into the index once for each run
_SPAN = "SELECT min(sample), max(sample) FROM samples WHERE sample >= :first AND sample < :last"
_IN_THE_PIECE = "sample >= :first AND sample < :last"
_CONTENTS = """
DELETE FROM contents USING samples
WHERE samples.sample >= :first AND samples.sample < :last AND contents.name = samples.name AND NOT EXISTS (
    SELECT 1 FROM samples AS same JOIN runs ON runs.id = same.run JOIN trials ON trials.sample = same.sample
    WHERE same.name = samples.name AND same.run <> samples.run AND trials.content = digest)
"""  # of two runs that were removed, neither needs what the other has
_ROWS = (
    f"DELETE FROM records WHERE {_IN_THE_PIECE}",
    f"DELETE FROM scores WHERE scorer IN (SELECT 0 UNION ALL SELECT id FROM scorers) AND {_IN_THE_PIECE}",
    f"DELETE FROM trials WHERE {_IN_THE_PIECE}",
    f"DELETE FROM samples WHERE {_IN_THE_PIECE}",  # last: by them the rest is found
)
_SETTINGS = """
SET LOCAL enable_seqscan TO off; SET LOCAL enable_hashjoin TO off; SET LOCAL enable_mergejoin TO off;
SET LOCAL synchronous_commit TO off
"""  # by index, whatever is known of tables that have just lost or got a million rows; a piece that is lost is deleted again


def remove(db: "Connection", run: int) -> None:
    """Delete a run, in a transaction; its samples and trials, which nobody can find any more, stay."""
    for statement in _RUN:
        execute(db, statement, {"run": run})


def purge_all(read: "Callable[[Callable[[Connection], Any]], Any]") -> None:
    """Delete the rows of all runs that were removed.

    Args:
        read: calls a function with a connection of its own, which commits by itself; several threads may call it.
    """
    turn = Lock()  # one piece waits for the lock, else whoever writes would wait for several of them

    def purge(piece: tuple[int, int]) -> None:
        with turn:
            read(lambda db: purge_contents(db, piece))
        read(lambda db: purge_rows(db, piece))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(purge, read(pieces)):
            pass  # what failed in a piece is raised here


def pieces(db: "Connection") -> list[tuple[int, int]]:
    """Return ranges of samples that make up all runs that were removed."""
    return [piece for (run,) in execute(db, _LEFT, {}).fetchall() for piece in _pieces(db, run)]


def _pieces(db: "Connection", run: int) -> Iterator[tuple[int, int]]:
    values = {"first": first_sample(run), "last": first_sample(run + 1)}
    for least, most in execute(db, _SPAN, values).fetchall():
        for first in range(least, most + 1, PIECE):
            yield first, first + PIECE


def purge_contents(db: "Connection", piece: tuple[int, int]) -> None:
    """Delete the contents of a piece that no run needs; they are found by its samples, so these go later."""
    with db.transaction():
        db.execute(_SETTINGS)
        db.execute("LOCK TABLE contents IN SHARE ROW EXCLUSIVE MODE")  # else another run could come to need one
        execute(db, _CONTENTS, _values(piece))


def purge_rows(db: "Connection", piece: tuple[int, int]) -> None:
    """Delete the rows of a piece; doing it twice, also at the same time, does no harm."""
    with db.transaction():
        db.execute(_SETTINGS)
        for statement in _ROWS:
            execute(db, statement, _values(piece))


def _values(piece: tuple[int, int]) -> dict[str, int]:
    return dict(zip(("first", "last"), piece, strict=True))
