"""Write trials and verdicts: new trials together, a trial of a known key after reading what is stored."""

import sqlite3
from collections.abc import Sequence

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.trajectory import NOTHING, Usage
from proctor.core.trial import RETRYABLE, Trial, Verdict
from proctor.stores._arrivals import Addition, Judged, arrive
from proctor.stores.blobs import clean, encode, encode_without, pack
from proctor.stores.schema import SPENT

MOST_TOKENS = 10**12  # what a provider claims for one trial; more would overflow the sum of a run


Spent = tuple[int, int, int, int, int, float | None]


def addition(
    run: int, trial: Trial, verdicts: Sequence[Verdict], sample: Sample | None, keys: Sequence[bytes] = ()
) -> Addition:
    """Encode a trial with its verdicts and sample; `keys` are never written, wherever they occur."""
    outcome = trial.outcome
    content = None if sample is None else encode(sample)
    return Addition(
        run,
        clean(trial.sample_id),
        trial.attempt,
        outcome,
        *_spent(trial, verdicts),
        None if content is None else bytes.fromhex(digest_bytes(content)),
        content,
        encode_without(keys, trial),
        [judged(verdict, outcome, keys) for verdict in verdicts],
    )


def judged(verdict: Verdict, outcome: str, keys: Sequence[bytes] = ()) -> Judged:
    """Encode a verdict; it counts only where the trial was scored."""
    scorer, result, record = clean(verdict.scorer), verdict.result, encode_without(keys, verdict)
    if outcome != "scored":
        return Judged(scorer, None, None, outcome, record)
    if isinstance(result, Unscored):
        return Judged(scorer, None, None, result.why, record)
    return Judged(scorer, float(result.points), float(result.out_of), None, record)


def accept(db: sqlite3.Connection, additions: Sequence[Addition]) -> list[BadInput | None]:
    """Write trials in one transaction; return for each why it was not accepted, or None.

    A trial whose key has a final outcome is ignored without an error.
    """
    try:
        arrive(db, additions)
    except sqlite3.IntegrityError:
        db.execute("BEGIN IMMEDIATE")
        errors = [accept_one(db, one) for one in additions]
        db.execute("COMMIT")
        return errors
    return [None] * len(additions)


def accept_one(db: sqlite3.Connection, one: Addition) -> BadInput | None:
    """Write a trial, in a transaction, after reading what is stored; return why it was not accepted, or None."""
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
    arrive(db, [one._replace(verdicts=())])
    for verdict in one.verdicts:
        append_verdict(db, *key, verdict)
    if spent is not None:  # earlier tries were paid for too
        spend(db, key, spent)
    return None


def spend(db: sqlite3.Connection, key: tuple[int, int], spent: Spent) -> None:
    """Add to what was spent on a trial, as its record has the usage of the last try only."""
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
    record = db.execute("INSERT INTO records (data) VALUES (?)", (pack(verdict.verdict),)).lastrowid
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


_NO_COLUMNS: Spent = (0, 0, 0, 0, 0, None)


def _spent(trial: Trial, verdicts: Sequence[Verdict]) -> Spent:
    usage = trial.usage
    for verdict in verdicts:
        if verdict.usage is not None:
            usage = usage + verdict.usage
    return bounded(usage)


def bounded(usage: Usage) -> Spent:
    """Return a usage as the columns of a trial store it."""
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
