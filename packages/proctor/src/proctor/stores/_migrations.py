"""Bring a store of an older version up to date; before its rows are rewritten, the file is copied.

Layout 1 stored every run, sample, trial and verdict as a row of JSON under its own names: four tables, `runs (id,
record)`, `samples (run, place, id, record)`, `trials (run, sample, attempt, outcome, record)` and `verdicts
(number, run, sample, attempt, scorer, record)`. Layouts 2 to 4 lacked later tables.
"""

import filecmp
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trial import Trial, Verdict
from proctor.runtime.files import NAME_CHARACTERS
from proctor.stores import plan as _plan
from proctor.stores._accept import accept_one, append_verdict
from proctor.stores._arrivals import prepare
from proctor.stores.encoding import encode_trial, encode_verdict
from proctor.stores.schema import LATER_TABLES, VERSION, create

CHUNK = 500


def migrate(db: sqlite3.Connection, path: Path, version: int) -> None:
    """Bring a store to this version; call it in a transaction, so that it happens as a whole or not at all.

    Raises:
        BadInput: it holds something that its version did not write.
    """
    copy = _backup(path, version) if version == 1 else None  # later steps only add tables
    try:
        for step in range(version, VERSION):
            MIGRATIONS[step](db)
        db.execute(f"PRAGMA user_version = {VERSION}")
    except (msgspec.MsgspecError, BadInput) as error:
        raise BadInput(
            "The store {path} cannot be brought to the layout of this version: {error}. It was not changed; a copy is in {copy}.",
            path=path,
            error=error,
            copy=copy,
        ) from error


def _backup(path: Path, version: int) -> Path:
    """Copy a store to `<name>.v<version>.bak` next to it, never over an existing file; one copy of the same content is enough."""
    earlier: list[Path] = []
    while (target := path.with_name(f"{path.name}.v{version}.bak{len(earlier) or ''}")).exists():
        earlier.append(target)
    # One name, as only one client at a time has locked the store.
    draft = path.with_name(f".{path.name[:NAME_CHARACTERS]}.v{version}.new")
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as copy:
        copy.execute("PRAGMA journal_mode = OFF")  # a killed process leaves no file but the draft
        source.backup(copy)
    for copied in earlier:  # by a migration that was killed
        if filecmp.cmp(copied, draft, shallow=False):
            draft.unlink()
            return copied
    return draft.replace(target)


def _from_1(db: sqlite3.Connection) -> None:
    old = ("runs", "samples", "trials", "verdicts")
    for table in old:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    create(db)
    prepare(db)
    for number, (name, record) in enumerate(db.execute("SELECT id, record FROM old_runs ORDER BY rowid"), start=1):
        db.execute("INSERT INTO runs VALUES (?, ?, ?)", (number, name, record.encode()))
        _run_from_1(db, number, name)
    for table in old:
        db.execute(f"DROP TABLE old_{table}")


def _run_from_1(db: sqlite3.Connection, run: int, name: str) -> None:
    position = 0
    samples = db.execute("SELECT record FROM old_samples WHERE run = ? ORDER BY place", (name,))
    while rows := samples.fetchmany(CHUNK):
        _plan.extend(db, run, position, [msgspec.json.decode(record, type=Sample) for (record,) in rows])
        position += len(rows)
    _plan.finish(db, run, position)
    trials = db.execute(
        "SELECT old_trials.record, old_samples.record FROM old_trials JOIN old_samples"
        " ON old_samples.run = old_trials.run AND old_samples.id = old_trials.sample"
        " WHERE old_trials.run = ? ORDER BY place, attempt",
        (name,),
    )
    for trial, sample in trials:
        whole = msgspec.json.decode(sample, type=Sample)
        accept_one(db, encode_trial(run, msgspec.json.decode(trial, type=Trial), (), whole))
    verdicts = db.execute(
        "SELECT old_verdicts.record, samples.id, trials.attempt, trials.outcome FROM old_verdicts"
        " JOIN samples ON samples.run = ? AND samples.name = old_verdicts.sample"
        " JOIN trials ON trials.sample = samples.id AND trials.attempt = old_verdicts.attempt"
        " WHERE old_verdicts.run = ? ORDER BY number",
        (run, name),
    )
    for record, sample, attempt, outcome in verdicts:
        verdict = msgspec.json.decode(record, type=Verdict)
        append_verdict(db, sample, attempt, encode_verdict(verdict, outcome))


def _from_2(db: sqlite3.Connection) -> None:
    for statement in LATER_TABLES.split(";"):
        db.execute(statement)


MIGRATIONS: Mapping[int, Callable[[sqlite3.Connection], None]] = {1: _from_1, 2: _from_2, 3: _from_2, 4: _from_2}
