"""Define the tables of a store in SQLite.

Every table of trials is keyed by the number of the sample: the number of the run times 2^32, plus the
place in the plan. So the rows of a run lie together, in the order of the plan. `trials` and `scores` are
narrow and say what counts; they point to `records`, where rows are only added. What was replaced, a
retried trial (as scorer 0) or an earlier verdict, is kept in `superseded`. A trial whose agent failed has a
score of scorer 0: no point of one, whoever scores. `points` is null, and `why` says why, where there is no score.

`contents` are whole samples, once for each digest in all runs; the name comes first in their index because
names in the order of the plan touch few pages, and digests many. `cluster` is null for a sample on its own.

`annotations` are what people say about runs and trials. They go by the name of the sample ('' is the run itself).
`files` are the bytes of the files in the trials of a run, which go with it; see `stores.files`.
`changes` is when a run was begun, saved or ended last, in nanoseconds; it always grows.
"""

import sqlite3

from proctor.core.version import SQLITE_LAYOUT

APPLICATION_ID = 0x50726F63  # "Proc", in the header of the file
VERSION = SQLITE_LAYOUT
RUN_SHIFT = 32
SPENT = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "requests", "cost")  # columns of trials

LATER_TABLES = """
CREATE TABLE IF NOT EXISTS annotations (
    run INTEGER NOT NULL,
    sample TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    person TEXT NOT NULL,
    record BLOB NOT NULL,
    PRIMARY KEY (run, sample, attempt, kind, name, person)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changes (
    run INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS files (
    run INTEGER NOT NULL,
    digest BLOB NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (run, digest)
)
"""
SCHEMA = f"""
{LATER_TABLES};
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
    """Return the number of the first sample of a run; those of the next run begin 2^32 later."""
    return run << RUN_SHIFT


def create(db: sqlite3.Connection) -> None:
    """Create the tables; call it in a transaction."""
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
