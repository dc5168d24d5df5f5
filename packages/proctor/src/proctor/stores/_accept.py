"""Write trials and verdicts: new trials in groups, and single ones after reading what is stored under their key."""

import sqlite3
from collections.abc import Sequence
from typing import Literal

from proctor.core.errors import BadInput
from proctor.core.trial import RETRYABLE
from proctor.stores._arrivals import arrive
from proctor.stores.blobs import pack
from proctor.stores.encoding import Addition, Spent, VerdictRow
from proctor.stores.schema import SPENT


def accept(db: sqlite3.Connection, additions: Sequence[Addition]) -> list[BadInput | None]:
    """Write trials in one transaction; return for each why it was not accepted, or None.

    A trial whose key has a final outcome is ignored without an error.
    """
    try:
        arrive(db, additions)
    except sqlite3.IntegrityError:
        db.execute("BEGIN IMMEDIATE")
        errors = [accept_one(db, addition) for addition in additions]
        db.execute("COMMIT")
        return errors
    return [None] * len(additions)


def accept_one(db: sqlite3.Connection, addition: Addition) -> BadInput | None:
    """Write a trial, in a transaction, after reading what is stored; return the error if it was not accepted."""
    row = db.execute(
        "SELECT samples.id, trials.outcome FROM samples LEFT JOIN trials"
        " ON trials.sample = samples.id AND trials.attempt = ? WHERE samples.run = ? AND samples.name = ?",
        (addition.attempt, addition.run, addition.name),
    ).fetchone()
    if row is None:
        return BadInput("The sample '{id}' is not in the plan of the run.", id=addition.name)
    sample, outcome = row
    if outcome is not None and outcome not in RETRYABLE:
        return None
    key = (sample, addition.attempt)
    spent = db.execute(f"SELECT {', '.join(SPENT)} FROM trials WHERE sample = ? AND attempt = ?", key).fetchone()  # noqa: S608 - constants
    for statement in (
        "INSERT INTO superseded SELECT sample, attempt, 0, record FROM trials WHERE sample = ? AND attempt = ?",
        "INSERT INTO superseded SELECT sample, attempt, scorer, record FROM scores"
        " WHERE sample = ? AND attempt = ? AND scorer IN (SELECT id FROM scorers)",
        "DELETE FROM trials WHERE sample = ? AND attempt = ?",
        "DELETE FROM scores WHERE sample = ? AND attempt = ? AND scorer IN (SELECT id FROM scorers)",
    ):
        db.execute(statement, key)
    arrive(db, [addition._replace(verdicts=())])
    for verdict in addition.verdicts:
        append_verdict(db, *key, verdict)
    if spent is not None:  # earlier tries were paid for too
        spend(db, key, spent)
    return None


def spend(db: sqlite3.Connection, key: tuple[int, int], spent: Spent) -> None:
    """Add to what was spent on a trial, as its record has the usage of the last try only."""
    added = ", ".join(f"{name} = {name} + ?{number}" for number, name in enumerate(SPENT[:-1], start=1))
    db.execute(
        f"UPDATE trials SET {added}, cost = CASE WHEN ?6 IS NULL THEN cost ELSE coalesce(cost, 0) + ?6 END"  # noqa: S608 - constants
        " WHERE sample = ?7 AND attempt = ?8",
        (*spent, *key),
    )


def append_verdict(db: sqlite3.Connection, sample: int, attempt: int, verdict: VerdictRow) -> None:
    """Write a verdict; the one that counted until now is kept as superseded."""
    scorer = number_of(db, "scorers", verdict.scorer)
    key = (scorer, sample, attempt)
    db.execute(
        "INSERT INTO superseded SELECT sample, attempt, scorer, record FROM scores"
        " WHERE scorer = ? AND sample = ? AND attempt = ?",
        key,
    )
    record = db.execute("INSERT INTO records (data) VALUES (?)", (pack(verdict.verdict),)).lastrowid
    row = (*key, verdict.points, verdict.out_of, verdict.why, record)
    db.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def number_of(db: sqlite3.Connection, table: Literal["scorers", "tag_sets"], text: str) -> int:
    """Return the number of a scorer or of a set of tags; a new one gets the next number."""
    column = {"scorers": "name", "tag_sets": "tags"}[table]
    row = db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (text,)).fetchone()  # noqa: S608 - constants
    if row is None:
        row = db.execute(f"INSERT INTO {table} ({column}) VALUES (?) RETURNING id", (text,)).fetchone()  # noqa: S608
    number: int = row[0]
    return number
