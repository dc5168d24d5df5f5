"""Insert trials into the tables as rows of one view, so that a group of them is one statement and one transaction.

Each statement releases the GIL and has to win it back from the event loop, which costs more than the writing. The
triggers of the view, which belong to the connection and not to the file, distribute each row over the tables. They
accept only what is new: a trial that is stored already, a sample that is not in the plan, or a scorer without a number
violates a constraint, and the whole statement fails.
"""

import sqlite3
from collections.abc import Sequence
from functools import cache

from proctor.stores.blobs import LONG_BYTES, pack
from proctor.stores.encoding import Addition, VerdictRow
from proctor.stores.schema import SPENT

MOST_ROWS = 64  # of a statement
STEP_ROWS = 8  # a statement has a multiple of these, as each is prepared once


_COLUMNS = (
    *Addition._fields[:-2],
    *VerdictRow._fields,
)  # a row is a trial with its first verdict, or a further verdict
_NO_TRIAL = (None,) * (len(Addition._fields) - 5)
_NO_VERDICT = (None,) * len(VerdictRow._fields)
_NUMBER = "(SELECT id FROM samples WHERE run = new.run AND name = new.name)"
_SETUP = (
    f"CREATE TEMP VIEW IF NOT EXISTS arrivals ({', '.join(_COLUMNS)}) AS SELECT {', '.join('NULL' for _ in _COLUMNS)}",
    f"""CREATE TEMP TRIGGER IF NOT EXISTS trial_arrives INSTEAD OF INSERT ON arrivals WHEN new.trial IS NOT NULL BEGIN
        INSERT INTO records (data) VALUES (new.trial);
        INSERT INTO trials VALUES ({_NUMBER}, new.attempt, new.outcome, {", ".join(f"new.{name}" for name in SPENT)},
            new.content, last_insert_rowid());
        INSERT INTO scores SELECT 0, {_NUMBER}, new.attempt, 0.0, 1.0, NULL, last_insert_rowid()
            WHERE new.outcome = 'agent_failed';
        INSERT INTO contents (name, digest, data) SELECT new.name, new.content, new.sample
            WHERE new.sample IS NOT NULL ON CONFLICT DO NOTHING;
    END""",  # noqa: S608 - constants
    f"""CREATE TEMP TRIGGER IF NOT EXISTS verdict_arrives INSTEAD OF INSERT ON arrivals WHEN new.verdict IS NOT NULL BEGIN
        INSERT INTO records (data) VALUES (new.verdict);
        INSERT INTO scores VALUES ((SELECT id FROM scorers WHERE name = new.scorer), {_NUMBER}, new.attempt,
            new.points, new.out_of, new.why, last_insert_rowid());
    END""",  # noqa: S608 - constants
)


def prepare(db: sqlite3.Connection) -> None:
    """Create the view and its triggers, for this connection."""
    for statement in _SETUP:
        db.execute(statement)


def arrive(db: sqlite3.Connection, additions: Sequence[Addition]) -> None:
    """Write new trials; a small group is one statement, which is its own transaction if none is open.

    Raises:
        sqlite3.IntegrityError: one of them is not new; nothing was written.
    """
    long = [addition for addition in additions if addition.sample is not None and len(addition.sample) > LONG_BYTES]
    rows = sum(len(addition.verdicts) or 1 for addition in additions)
    has_files = any(addition.files for addition in additions)
    if db.in_transaction or (rows <= MOST_ROWS and not long and not has_files):
        _arrive(db, additions, long)
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        _arrive(db, additions, long)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _arrive(db: sqlite3.Connection, additions: Sequence[Addition], long: Sequence[Addition]) -> None:
    known = _known_digests(db, long) if long else frozenset()
    rows: list[tuple[object, ...]] = []
    for addition in additions:
        head = _pack(addition, known)[:-2]
        verdicts = [_pack_verdict(verdict) for verdict in addition.verdicts]
        rows.append((*head, *(verdicts[0] if verdicts else _NO_VERDICT)))
        if addition.files:
            db.executemany(_FILES, [(addition.run, digest, data) for digest, data in addition.files.items()])
        rows.extend((*head[:3], *_NO_TRIAL, *verdict) for verdict in verdicts[1:])
    insert(db, _ARRIVALS, rows)


_ARRIVALS = "INSERT INTO arrivals SELECT * FROM (VALUES {rows}) WHERE column1 > 0"
_FILES = "INSERT INTO files VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_KNOWN = """
SELECT group_concat(hex(digest)) FROM (VALUES {rows}) CROSS JOIN contents ON name = column1 AND digest = column2
"""


def _known_digests(db: sqlite3.Connection, long: Sequence[Addition]) -> frozenset[str]:
    """Return the digests of long samples that are stored already, so that none is compressed in vain."""
    digests: list[str] = []
    for start in range(0, len(long), MOST_ROWS):
        keys = [(addition.name, addition.content) for addition in long[start : start + MOST_ROWS]]
        digests += (_execute(db, _KNOWN, keys).fetchone()[0] or "").split(",")
    return frozenset(digests)


def _pack(one: Addition, known: frozenset[str]) -> Addition:
    if one.sample is not None and len(one.sample) > LONG_BYTES:
        is_known = one.content is not None and one.content.hex().upper() in known
        one = one._replace(sample=None if is_known else pack(one.sample))
    return one if len(one.trial) <= LONG_BYTES else one._replace(trial=pack(one.trial))


def _pack_verdict(one: VerdictRow) -> VerdictRow:
    return one if len(one.verdict) <= LONG_BYTES else one._replace(verdict=pack(one.verdict))


def insert(db: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]) -> int:
    """Run a statement with `{rows}` in it for up to 64 rows at a time; return how many rows it changed.

    Statements are prepared for a few numbers of rows only; missing rows are padded with zeros, which the statement has to skip.
    """
    return sum(
        _execute(db, statement, rows[start : start + MOST_ROWS]).rowcount for start in range(0, len(rows), MOST_ROWS)
    )


def _execute(db: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]) -> sqlite3.Cursor:
    columns = len(rows[0])
    count = len(rows) if len(rows) == 1 else -(-len(rows) // STEP_ROWS) * STEP_ROWS
    # bytes cost three times a bytearray: for them, `sqlite3` looks in vain for an adapter
    values = [bytearray(value) if type(value) is bytes else value for row in rows for value in row]
    values.extend([0] * ((count - len(rows)) * columns))
    return db.execute(_statement(statement, count, columns), values)


@cache
def _statement(statement: str, rows: int, columns: int) -> str:
    row = "(" + ",".join("?" * columns) + ")"
    return statement.replace("{rows}", ",".join([row] * rows))
