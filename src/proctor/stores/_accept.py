"""The rows of a trial: written for many trials in few statements, since each statement hands the GIL over twice."""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.trajectory import NOTHING, Usage
from proctor.core.trial import RETRYABLE, Trial, Verdict
from proctor.stores.blobs import clean, encode, pack
from proctor.stores.schema import SPENT

MOST_ROWS = 64
MOST_TOKENS = 10**12  # what a provider claims for one trial; more would overflow the sum of a run


Spent = tuple[int, int, int, int, int, float | None]


class Judged(NamedTuple):
    """A verdict as it is stored."""

    scorer: str
    points: float | None
    out_of: float | None
    why: str | None
    data: bytes


class Addition(NamedTuple):
    """A trial as it is stored."""

    run: int
    name: str
    attempt: int
    outcome: str
    usage: Spent
    data: bytes
    verdicts: Sequence[Judged]
    content: tuple[bytes, bytes] | None


def addition(run: int, trial: Trial, verdicts: Sequence[Verdict], sample: Sample | None) -> Addition:
    """Encode a trial with what belongs to it."""
    content = None
    if sample is not None:
        data = encode(sample)
        content = (bytes.fromhex(digest_bytes(data)), data)
    return Addition(
        run,
        clean(trial.sample_id),
        trial.attempt,
        trial.outcome,
        _spent(trial, verdicts),
        encode(trial),
        [judged(verdict, trial.outcome) for verdict in verdicts],
        content,
    )


def judged(verdict: Verdict, outcome: str) -> Judged:
    """Encode a verdict; it counts only where the trial was scored."""
    scorer, result = clean(verdict.scorer), verdict.result
    if outcome != "scored":
        return Judged(scorer, None, None, outcome, encode(verdict))
    if isinstance(result, Unscored):
        return Judged(scorer, None, None, result.why, encode(verdict))
    return Judged(scorer, float(result.points), float(result.out_of), None, encode(verdict))


def accept(db: sqlite3.Connection, additions: Sequence[Addition]) -> list[BadInput | None]:
    """Write trials in a transaction that is left open; for each, why it was not accepted, or None.

    A trial whose key has a final outcome is passed over without an error.
    """
    db.execute("BEGIN IMMEDIATE")
    if _insert(db, additions):
        return [None] * len(additions)
    db.execute("ROLLBACK")
    db.execute("BEGIN IMMEDIATE")
    return [accept_one(db, one) for one in additions]


def accept_one(db: sqlite3.Connection, one: Addition) -> BadInput | None:
    """Write a trial after a look at what is there; why it was not accepted, or None."""
    found = db.execute(
        "SELECT samples.id, trials.outcome FROM samples LEFT JOIN trials"
        " ON trials.sample = samples.id AND trials.attempt = ? WHERE samples.run = ? AND samples.name = ?",
        (one.attempt, one.run, one.name),
    ).fetchone()
    if found is None:
        return BadInput("The sample '{id}' is not in the plan of the run.", id=one.name)
    sample, outcome = found
    if outcome is not None and outcome not in RETRYABLE:
        return None
    key = (sample, one.attempt)
    spent = db.execute(f"SELECT {', '.join(SPENT)} FROM trials WHERE sample = ? AND attempt = ?", key).fetchone()  # noqa: S608 - constants
    for kept in (
        "INSERT INTO superseded SELECT sample, attempt, 0, record FROM trials WHERE sample = ? AND attempt = ?",
        "INSERT INTO superseded SELECT sample, attempt, scorer, record FROM scores"
        " WHERE sample = ? AND attempt = ? AND scorer IN (SELECT id FROM scorers)",
        "DELETE FROM trials WHERE sample = ? AND attempt = ?",
        "DELETE FROM scores WHERE sample = ? AND attempt = ? AND scorer IN (SELECT id FROM scorers)",
    ):
        db.execute(kept, key)
    _insert(db, [one._replace(verdicts=())])
    for verdict in one.verdicts:
        append_verdict(db, sample, one.attempt, verdict)
    if spent is not None:  # the tries before were paid for too
        spend(db, key, spent)
    return None


def spend(db: sqlite3.Connection, key: tuple[int, int], spent: Spent) -> None:
    """Add to what was spent on a trial, of which the record tells the last try only."""
    added = ", ".join(f"{name} = {name} + ?{place}" for place, name in enumerate(SPENT[:-1], start=1))
    db.execute(
        f"UPDATE trials SET {added}, cost = CASE WHEN ?6 IS NULL THEN cost ELSE coalesce(cost, 0) + ?6 END"  # noqa: S608 - constants
        " WHERE sample = ?7 AND attempt = ?8",
        (*spent, *key),
    )


def append_verdict(db: sqlite3.Connection, sample: int, attempt: int, verdict: Judged) -> None:
    """Write a verdict; the one that counted until now is kept as superseded."""
    scorer = scorer_number(db, verdict.scorer)
    key = (scorer, sample, attempt)
    db.execute(
        "INSERT INTO superseded SELECT sample, attempt, scorer, record FROM scores"
        " WHERE scorer = ? AND sample = ? AND attempt = ?",
        key,
    )
    record = db.execute("INSERT INTO records (data) VALUES (?)", (pack(verdict.data),)).lastrowid
    row = (*key, verdict.points, verdict.out_of, verdict.why, record)
    db.execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def scorer_number(db: sqlite3.Connection, name: str) -> int:
    """The number of a scorer, given when it is first seen."""
    found = db.execute("SELECT id FROM scorers WHERE name = ?", (name,)).fetchone()
    if found is None:
        found = db.execute("INSERT INTO scorers (name) VALUES (?) RETURNING id", (name,)).fetchone()
    number: int = found[0]
    return number


def tag_set_number(db: sqlite3.Connection, tags: str) -> int:
    """The number of a set of tags, given when it is first seen."""
    found = db.execute("SELECT id FROM tag_sets WHERE tags = ?", (tags,)).fetchone()
    if found is None:
        found = db.execute("INSERT INTO tag_sets (tags) VALUES (?) RETURNING id", (tags,)).fetchone()
    number: int = found[0]
    return number


def insert(db: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> int:
    """Run a statement with `{rows}` in it for up to 64 rows at a time; says how many rows it changed."""
    return sum(db.execute(_with_rows(statement, rows), _flat(rows)).rowcount for rows in _portions(rows))


def _insert(db: sqlite3.Connection, additions: Sequence[Addition]) -> bool:
    """Write trials of which none is there yet; False when that is not so, and the transaction has to go back."""
    record = db.execute("SELECT coalesce(max(id), 0) FROM records").fetchone()[0]
    scorers: dict[str, int] = {}
    trials: list[tuple[Any, ...]] = []
    scores: list[tuple[Any, ...]] = []
    records: list[tuple[int, bytes]] = []
    for one in additions:
        record += 1
        digest = one.content[0] if one.content is not None else None
        trials.append((one.run, one.name, one.attempt, one.outcome, *one.usage, digest, record))
        records.append((record, pack(one.data)))
        if one.outcome == "agent_failed":
            scores.append((one.run, one.name, 0, one.attempt, 0.0, 1.0, None, record))
        for verdict in one.verdicts:
            record += 1
            if verdict.scorer not in scorers:
                scorers[verdict.scorer] = scorer_number(db, verdict.scorer)
            score = (verdict.points, verdict.out_of, verdict.why, record)
            scores.append((one.run, one.name, scorers[verdict.scorer], one.attempt, *score))
            records.append((record, pack(verdict.data)))
    if insert(db, _TRIALS, trials) < len(trials) or insert(db, _SCORES, scores) < len(scores):
        return False
    insert(db, "INSERT INTO records VALUES {rows}", records)
    _insert_contents(db, [(one.name, *one.content) for one in additions if one.content is not None])
    return True


_TRIALS = """
INSERT INTO trials
SELECT samples.id, column3, column4, column5, column6, column7, column8, column9, column10, column11, column12
FROM (VALUES {rows}) CROSS JOIN samples ON samples.run = column1 AND samples.name = column2
WHERE true ON CONFLICT DO NOTHING
"""
_SCORES = """
INSERT INTO scores
SELECT column3, samples.id, column4, column5, column6, column7, column8
FROM (VALUES {rows}) CROSS JOIN samples ON samples.run = column1 AND samples.name = column2
WHERE true ON CONFLICT DO NOTHING
"""


_KNOWN = """
SELECT group_concat(hex(digest)) FROM (VALUES {rows}) CROSS JOIN contents ON name = column1 AND digest = column2
"""


def _insert_contents(db: sqlite3.Connection, contents: Sequence[tuple[str, bytes, bytes]]) -> None:
    """Keep samples that are not there yet; those are looked for first, to compress no sample in vain."""
    known: set[str] = set()
    for keys in _portions([content[:2] for content in contents]):
        found = db.execute(_with_rows(_KNOWN, keys), _flat(keys)).fetchone()[0] or ""
        known.update(found.split(","))
    new = [(name, digest, pack(data)) for name, digest, data in contents if digest.hex().upper() not in known]
    insert(db, "INSERT INTO contents (name, digest, data) VALUES {rows} ON CONFLICT DO NOTHING", new)


def _portions(rows: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Cut into lengths that are powers of two, so that few statements have to be prepared."""
    start, size = 0, MOST_ROWS
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        yield rows[start : start + size]
        start += size


def _with_rows(statement: str, rows: Sequence[tuple[Any, ...]]) -> str:
    return _statement(statement, len(rows), len(rows[0]))


@cache
def _statement(statement: str, rows: int, columns: int) -> str:
    row = "(" + ",".join("?" * columns) + ")"
    return statement.replace("{rows}", ",".join([row] * rows))


def _flat(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [value for row in rows for value in row]


_NO_COLUMNS: Spent = (0, 0, 0, 0, 0, None)


def _spent(trial: Trial, verdicts: Sequence[Verdict]) -> Spent:
    usage = trial.usage
    for verdict in verdicts:
        if verdict.usage is not None:
            usage = usage + verdict.usage
    return bounded(usage)


def bounded(usage: Usage) -> Spent:
    """A usage as the columns of a trial have it."""
    if usage == NOTHING:
        return _NO_COLUMNS
    return (
        min(usage.input_tokens, MOST_TOKENS),
        min(usage.output_tokens, MOST_TOKENS),
        min(usage.cached_tokens, MOST_TOKENS),
        min(usage.reasoning_tokens, MOST_TOKENS),
        min(usage.requests, MOST_TOKENS),
        usage.cost,
    )
