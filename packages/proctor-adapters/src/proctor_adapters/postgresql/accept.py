"""Write trials and verdicts: a group of new trials is one statement, and what is stored already is looked at one by one."""

# ruff: noqa: S608 - the statements are composed of constants in this file
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from proctor.core.errors import BadInput
from proctor.core.trial import RETRYABLE
from proctor.stores.blobs import pack
from proctor.stores.encoding import Addition, Spent, VerdictRow
from proctor.stores.schema import SPENT

if TYPE_CHECKING:
    from psycopg import Connection

Epochs = Mapping[int, int]
"""The epoch of each run that is open here: one that another process has begun since has a later one."""

_KEY = {"run": "int", "epoch": "bigint", "name": "text", "attempt": "int"}
_TRIAL = {
    **_KEY,
    "outcome": "text",
    **dict.fromkeys(SPENT[:-1], "bigint"),
    "cost": "float8",
    "content": "bytea",
    "sample_data": "bytea",
    "data": "bytea",
}
_SCORE = {"scorer": "int", "points": "float8", "out_of": "float8", "why": "text", "data": "bytea"}
_PLACED = {
    "sample": "bigint",
    "attempt": "int",
    "tags": "int",
    "cluster": "text",
    "number": "int",
    **_SCORE,
}
_PAID = {"sample": "bigint", "attempt": "int", **dict.fromkeys(SPENT[:-1], "bigint"), "cost": "float8"}


def _unnest(columns: Mapping[str, str], prefix: str = "") -> str:
    arrays = ", ".join(f"%({prefix}{name})b::{kind}[]" for name, kind in columns.items())
    return f"unnest({arrays}) WITH ORDINALITY AS one ({', '.join(columns)}, place)"


_IN_THE_PLAN = """
JOIN runs ON runs.id = one.run AND runs.epoch = one.epoch
JOIN samples ON samples.run = one.run AND samples.name = one.name
"""
# The planner expects one row, and would join the arrived with the fresh ones in a nested loop, whose time grows with the square
# of a group. A full join never is one; the condition after it is not strict, lest the planner takes it for an inner join.
_ACCEPT = f"""
WITH arrived AS (
    SELECT one.*, samples.sample, samples.tags, samples.cluster FROM {_unnest(_TRIAL)} {_IN_THE_PLAN}
), fresh AS (
    INSERT INTO trials SELECT sample, attempt, outcome, {", ".join(SPENT)}, content FROM arrived
    ON CONFLICT DO NOTHING RETURNING sample, attempt
), accepted AS (
    SELECT arrived.* FROM arrived FULL JOIN fresh ON fresh.sample = arrived.sample AND fresh.attempt = arrived.attempt
    WHERE coalesce(fresh.attempt, -1) >= 0
), contents_kept AS (
    INSERT INTO contents SELECT DISTINCT ON (name, content) name, content, sample_data FROM accepted
    WHERE sample_data IS NOT NULL ON CONFLICT DO NOTHING
), trials_kept AS (
    INSERT INTO records (sample, attempt, number, scorer, data) SELECT sample, attempt, 0, 0, data FROM accepted
), failed AS (
    INSERT INTO scores SELECT 0, sample, attempt, tags, cluster, 0, 1, NULL FROM accepted WHERE outcome = 'agent_failed'
){{verdicts}}, noted AS (
    UPDATE writers SET sent = %(sent)s WHERE id = %(writer)s
)
SELECT place FROM accepted
"""
_VERDICTS = f"""
, judged AS (
    SELECT accepted.sample, accepted.attempt, tags, cluster, number, scorer, points, out_of, why, one.data
    FROM {_unnest({"trial": "int", "number": "int", **_SCORE}, "verdict_")} JOIN accepted ON accepted.place = one.trial
), verdicts_kept AS (
    INSERT INTO records (sample, attempt, number, scorer, data) SELECT sample, attempt, number, scorer, data FROM judged
), scored AS (
    INSERT INTO scores SELECT DISTINCT ON (scorer, sample, attempt) scorer, sample, attempt, tags, cluster, points, out_of, why
    FROM judged ORDER BY scorer, sample, attempt, number DESC
)"""
_ACCEPT_ALONE, _ACCEPT_JUDGED = _ACCEPT.format(verdicts=""), _ACCEPT.format(verdicts=_VERDICTS)
_LOCK = f"""
SELECT FROM {_unnest(_KEY)} {_IN_THE_PLAN} JOIN trials ON trials.sample = samples.sample AND trials.attempt = one.attempt
ORDER BY trials.sample, trials.attempt FOR UPDATE OF trials
"""
_STORED = f"""
SELECT one.place, samples.sample, trials.attempt, samples.tags, samples.cluster, trials.outcome, (
    SELECT max(number) FROM records WHERE records.sample = trials.sample AND records.attempt = trials.attempt)
FROM {_unnest(_KEY)} {_IN_THE_PLAN} JOIN trials ON trials.sample = samples.sample AND trials.attempt = one.attempt
"""  # after the lock: a statement that waits for it sees the records of before
_APPEND = f"""
WITH judged AS (
    SELECT * FROM {_unnest(_PLACED)}
), kept AS (
    INSERT INTO records (sample, attempt, number, scorer, data) SELECT sample, attempt, number, scorer, data FROM judged
)
INSERT INTO scores SELECT DISTINCT ON (scorer, sample, attempt) scorer, sample, attempt, tags, cluster, points, out_of, why
FROM judged ORDER BY scorer, sample, attempt, number DESC
ON CONFLICT (scorer, sample, attempt) DO UPDATE SET points = excluded.points, out_of = excluded.out_of, why = excluded.why
"""
_SPEND = f"""
UPDATE trials SET {", ".join(f"{name} = trials.{name} + paid.{name}" for name in SPENT[:-1])},
    cost = CASE WHEN paid.cost IS NULL THEN trials.cost ELSE coalesce(trials.cost, 0) + paid.cost END
FROM (SELECT sample, attempt, {", ".join(f"CAST(sum({name}) AS bigint) AS {name}" for name in SPENT[:-1])},
    sum(cost) AS cost FROM {_unnest(_PAID)} GROUP BY sample, attempt) AS paid
WHERE trials.sample = paid.sample AND trials.attempt = paid.attempt
"""
_REPLACE = (
    "DELETE FROM scores WHERE scorer IN (SELECT id FROM scorers) AND sample = %(sample)s AND attempt = %(attempt)s",
    "UPDATE trials SET outcome = %(outcome)s, content = coalesce(%(content)b, content)"
    " WHERE sample = %(sample)s AND attempt = %(attempt)s",
    "INSERT INTO contents SELECT %(name)s, %(content)b, %(sample_data)b WHERE %(content)b::bytea IS NOT NULL"
    " ON CONFLICT DO NOTHING",
    "INSERT INTO records (sample, attempt, number, scorer, data)"
    " VALUES (%(sample)s, %(attempt)s, %(number)s, 0, %(data)b)",
    "INSERT INTO scores SELECT 0, %(sample)s, %(attempt)s, %(tags)s, %(cluster)s, 0, 1, NULL"
    " WHERE %(outcome)s = 'agent_failed'",
)


_KEEP_FILE = """
INSERT INTO files SELECT id, %(digest)b, %(data)b FROM runs WHERE id = %(run)s AND epoch = %(epoch)s ON CONFLICT DO NOTHING
"""


class StoredTrial(NamedTuple):
    """A trial as it is stored: where it is, how it ended, and the number of its last record."""

    place: int
    sample: int
    attempt: int
    tags: int
    cluster: str | None
    outcome: str
    number: int


class JudgedRow(NamedTuple):
    """A verdict for a trial that is stored, and what it cost."""

    run: int
    name: str
    attempt: int
    verdict: VerdictRow
    spent: Spent


def accept_new(
    db: "Connection",
    additions: Sequence[Addition],
    epochs: Epochs,
    scorers: Mapping[str, int],
    sent: Mapping[str, object],
) -> set[int]:
    """Write the trials that are new, in one statement; return the positions of those that were.

    Args:
        scorers: the number of each scorer of a verdict.
        sent: `writer` and the number `sent` of this transaction.
    """
    _keep_files(db, additions, epochs)
    rows = [_trial_row(addition, epochs) for addition in additions]
    verdicts = [
        (trial, number, *_score_row(verdict, scorers))
        for trial, addition in enumerate(additions, start=1)
        for number, verdict in enumerate(addition.verdicts, start=1)
    ]
    values = {**_arrays(_TRIAL, rows), **sent}
    if verdicts:
        values |= _arrays(("trial", "number", *_SCORE), verdicts, "verdict_")
    found = db.execute(_ACCEPT_JUDGED if verdicts else _ACCEPT_ALONE, values, binary=True)
    return {position - 1 for (position,) in found}


def accept_again(
    db: "Connection",
    addition: Addition,
    epochs: Epochs,
    scorers: Mapping[str, int],
    sent: Mapping[str, object],
    *,
    is_unsure: bool,
) -> BadInput | None:
    """Write a trial that was not new a moment ago, in a transaction; return the error if it was not accepted.

    Args:
        is_unsure: it may be this very trial that is stored.
    """
    trials = stored_trials(db, [addition], epochs)
    if not trials:
        return None if accept_new(db, [addition], epochs, scorers, sent) else _why_not(db, addition, epochs)
    (old,) = trials
    if old.outcome not in RETRYABLE or (is_unsure and _is_newest(db, old, pack(addition.trial))):
        return None
    row = {**dict(zip(_TRIAL, _trial_row(addition, epochs), strict=True)), **old._asdict()}
    row |= {"outcome": addition.outcome, "number": old.number + 1}
    _keep_files(db, [addition], epochs)
    for statement in _REPLACE:
        db.execute(statement, row)
    spend(db, [(old, tuple(getattr(addition, name) for name in SPENT))])  # earlier tries were paid for too
    append(db, [(old._replace(number=old.number + 1 + number), verdict) for number, verdict in enumerate(addition.verdicts, start=1)], scorers)  # fmt: skip
    return None


def judge(db: "Connection", judged: Sequence[JudgedRow], epochs: Epochs) -> None:
    """Append verdicts to stored trials, in a transaction.

    Raises:
        BadInput: one is of a trial that is not stored.
    """
    trials = {trial.place - 1: trial for trial in stored_trials(db, judged, epochs)}
    rows, used = [], dict[tuple[int, int], int]()
    for index, row in enumerate(judged):
        if index not in trials:
            check_epoch(db, row.run, epochs)
            raise BadInput(
                "There is no trial of sample '{id}', attempt {attempt}, that a verdict could be of.",
                id=row.name,
                attempt=row.attempt,
            )
        old, verdict = trials[index], row.verdict
        used[old.sample, old.attempt] = number = used.get((old.sample, old.attempt), old.number) + 1
        if old.outcome != "scored":
            verdict = verdict._replace(points=None, out_of=None, why=old.outcome)
        rows.append((old._replace(number=number), verdict))
    append(db, rows, number_scorers(db, {row.verdict.scorer for row in judged}))
    spend(db, [(trials[index], row.spent) for index, row in enumerate(judged)])


def number_scorers(db: "Connection", names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of scorers; new ones get one."""
    asked = sorted(names)
    db.execute("INSERT INTO scorers (name) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (asked,))
    return dict(db.execute("SELECT name, id FROM scorers WHERE name = ANY(%s)", (asked,)).fetchall())


def stored_trials(
    db: "Connection", keys: Sequence[Addition] | Sequence[JudgedRow], epochs: Epochs
) -> list[StoredTrial]:
    """Return those of the trials that are stored, and lock them until the transaction ends."""
    rows = [(key.run, epochs.get(key.run), key.name, key.attempt) for key in keys]
    asked = _arrays(_KEY, rows)
    db.execute(_LOCK, asked)
    return [StoredTrial(*row) for row in db.execute(_STORED, asked, binary=True)]


def append(db: "Connection", judged: Sequence[tuple[StoredTrial, VerdictRow]], scorers: Mapping[str, int]) -> None:
    """Write verdicts, each with the number of its record."""
    rows = [
        (at.sample, at.attempt, at.tags, at.cluster, at.number, *_score_row(verdict, scorers)) for at, verdict in judged
    ]
    if rows:
        db.execute(_APPEND, _arrays(_PLACED, rows))


def spend(db: "Connection", paid: Sequence[tuple[StoredTrial, Sequence[float | None]]]) -> None:
    """Add to what was spent on trials."""
    rows = [(at.sample, at.attempt, *spent) for at, spent in paid if any(spent)]
    if rows:
        db.execute(_SPEND, _arrays(_PAID, rows))


def _keep_files(db: "Connection", additions: Sequence[Addition], epochs: Epochs) -> None:
    """Write the files of trials, so that they are durable before the trials count; one at a time, as they may be large."""
    for addition in additions:
        for digest, data in addition.files.items():
            values = {"run": addition.run, "epoch": epochs.get(addition.run), "digest": digest, "data": data}
            db.execute(_KEEP_FILE, values)


def _is_newest(db: "Connection", old: StoredTrial, data: bytes) -> bool:
    query = "SELECT data FROM records WHERE sample = %s AND attempt = %s AND scorer = 0 ORDER BY number DESC LIMIT 1"
    return db.execute(query, (old.sample, old.attempt), binary=True).fetchone() == (data,)


def _why_not(db: "Connection", addition: Addition, epochs: Epochs) -> BadInput:
    try:
        check_epoch(db, addition.run, epochs)
    except BadInput as error:
        return error
    return BadInput("The sample '{id}' is not in the plan of the run.", id=addition.name)


def check_epoch(db: "Connection", run: int, epochs: Epochs) -> None:
    """Refuse to write a run that another process has begun since; it stays so until the transaction ends.

    Raises:
        BadInput: one has.
    """
    row = db.execute("SELECT name, epoch FROM runs WHERE id = %s FOR UPDATE", (run,)).fetchone()
    if row is None or row[1] != epochs.get(run):
        raise taken_over("?" if row is None else row[0])


def taken_over(run: str) -> BadInput:
    """Return the error for a run that another process has taken over in the meantime."""
    return BadInput(
        "The run '{run}' was taken over by another process meanwhile, or ended there. What was acknowledged is kept.",
        run=run,
    )


def _trial_row(one: Addition, epochs: Epochs) -> tuple[object, ...]:
    head = (one.run, epochs.get(one.run), *one[1:-4])
    return (*head, None if one.sample is None else pack(one.sample), pack(one.trial))


def _score_row(one: VerdictRow, scorers: Mapping[str, int]) -> tuple[object, ...]:
    points = one.points
    if points is not None and one.out_of is not None and points / one.out_of < 1e-150:
        points = 0.0  # PostgreSQL refuses a square that is too small for it
    return scorers[one.scorer], points, one.out_of, one.why, pack(one.verdict)


def _arrays(columns: Iterable[str], rows: Sequence[Sequence[object]], prefix: str = "") -> dict[str, object]:
    """Return the columns of rows by name, each with its values."""
    return {f"{prefix}{name}": list(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)}
