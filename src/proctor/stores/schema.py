"""The tables of a store in SQLite, and the first look at a file.

Every table of trials is keyed by the number of the sample: the number of the run times 2^32, plus the
place in the plan. So the rows of a run lie together, in the order of the plan. `trials` and `scores` are
narrow and say what counts; they point to `records`, where rows are only added. What was replaced, a
retried trial (as scorer 0) or an earlier verdict, is kept in `superseded`. A trial whose agent failed has a
score of scorer 0: no point of one, whoever scores. `points` is null, and `why` says why, where there is no score.

`contents` are whole samples, once for each digest in all runs; the name stands first in their index because
names in the order of the plan touch few pages, and digests many. `cluster` is null for a sample on its own.
"""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.stores._faults import explain

APPLICATION_ID = 0x50726F63  # "Proc", in the header of the file
VERSION = 2
RUN_SHIFT = 32

SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    record BLOB NOT NULL
);
CREATE TABLE tag_sets (
    id INTEGER PRIMARY KEY,
    tags TEXT NOT NULL UNIQUE
);
CREATE TABLE samples (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    cluster TEXT,
    tags INTEGER NOT NULL,
    UNIQUE (run, name)
);
CREATE INDEX samples_by_tags ON samples (run, tags, cluster);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (name, digest)
);
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);
CREATE TABLE trials (
    sample INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    cost REAL,
    content BLOB,
    record INTEGER NOT NULL,
    PRIMARY KEY (sample, attempt)
) WITHOUT ROWID;
CREATE TABLE scorers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE scores (
    scorer INTEGER NOT NULL,
    sample INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    points REAL,
    out_of REAL,
    why TEXT,
    record INTEGER NOT NULL,
    PRIMARY KEY (scorer, sample, attempt)
) WITHOUT ROWID;
CREATE TABLE superseded (
    sample INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    scorer INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (sample, attempt, scorer, record)
) WITHOUT ROWID;
"""


def first_sample(run: int) -> int:
    """The number of the first sample of a run; those of the next run begin 2^32 later."""
    return run << RUN_SHIFT


def connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """A connection without transactions of its own; who uses it makes sure that one thread does so at a time."""
    db = sqlite3.connect(
        path, timeout=busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    db.execute("PRAGMA synchronous = FULL")
    return db


def opened(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """A connection to the store in a file, which is made or brought to this version first.

    Raises:
        BadInput: it is no store, is from a newer version, or cannot be opened.
    """
    if path.is_dir():
        raise BadInput("{path} is a folder, not a store. Name a file in it.", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            "The folder of the store {path} cannot be made: {error}. Name another file with --store.",
            path=path,
            error=error.strerror or error,
        ) from None
    db = None
    try:
        db = connect(path, busy_seconds)
        _prepare(db, path, busy_seconds)
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise explain(error, path) from error
        raise
    return db


def create(db: sqlite3.Connection) -> None:
    """Make the tables; belongs in a transaction."""
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _prepare(db: sqlite3.Connection, path: Path, busy_seconds: float) -> None:
    if _version(db, path) == VERSION:
        return
    from proctor.stores._migrations import MIGRATIONS, backup

    if _version(db, path) == 0:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that deleting a run gives its room back
    _patiently(lambda: db.execute("PRAGMA journal_mode = WAL"), busy_seconds)
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db, path)  # another process may have been first
        if version == 0:
            create(db)
        elif version < VERSION:
            backup(path, version)
        while 0 < version < VERSION:
            MIGRATIONS[version](db)
            version += 1
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the layout, 0 for an empty file."""
    application: int = db.execute("PRAGMA application_id").fetchone()[0]
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if application == 0 and version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    if application != APPLICATION_ID or version < 1:
        raise BadInput(
            "{path} is no store of Proctor but another SQLite file. Name another file with --store.", path=path
        )
    if version > VERSION:
        raise BadInput(
            "The store {path} was written by a newer version of Proctor (layout {version}, this one knows {known}). Update Proctor, or name another file with --store.",
            path=path,
            version=version,
            known=VERSION,
        )
    return version


def _patiently(work: Callable[[], object], seconds: float) -> None:
    """Try again while another process is at it too: for the change to WAL, SQLite itself does not wait."""
    until = time.monotonic() + seconds
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
