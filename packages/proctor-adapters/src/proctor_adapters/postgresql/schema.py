"""Define the tables of a store in PostgreSQL 14 or newer: in the schema `proctor`, made by the first client.

`sample` is the number of the run times 2^32, plus the place in the plan: a run is a range of it. The name comes first in the
index of samples, so that those of other runs are found that share a content. Of the `records` of a trial (scorer 0 is
the trial itself) the newest of each scorer counts; `at` is the transaction that wrote it. A score repeats the tags and
the cluster of its sample, so that sums read one index. `writers.sent` is the number of the last transaction of a
client: where the line is cut, it tells whether that was committed. `shards` are the records of the shards of a run.
`files` are the bytes of the files in the trials of a run; see `proctor.stores.files`.
A run repeats how many samples of its plan have which tags, and how many of those are in a cluster; null in an older plan.
"""

from collections.abc import Mapping

from proctor.core.version import POSTGRESQL_LAYOUT

VERSION = POSTGRESQL_LAYOUT
_SHARDS = """
CREATE TABLE shards (
    run int NOT NULL,
    number int NOT NULL,
    of int NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (run, number)
);
"""
_FILES = """
CREATE TABLE files (
    run int NOT NULL,
    digest bytea NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (run, digest)
);
ALTER TABLE files ALTER data SET STORAGE EXTERNAL;
"""
_SIZES = "plan_tags int[], ADD plan_samples bigint[], ADD plan_clustered bigint[]"
MIGRATIONS: Mapping[int, str] = {
    1: f"SET LOCAL search_path TO proctor; {_SHARDS}",
    2: f"ALTER TABLE proctor.runs ADD {_SIZES}",
    3: f"SET LOCAL search_path TO proctor; {_FILES}",
}
TABLES = f"""
CREATE SCHEMA IF NOT EXISTS proctor;
CREATE TABLE layout (version int NOT NULL);
CREATE TABLE runs (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    record bytea NOT NULL,
    changed bigint NOT NULL,
    epoch bigint NOT NULL
);
ALTER TABLE runs ADD {_SIZES};
CREATE TABLE tag_sets (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    tags text COLLATE "C" NOT NULL
);
CREATE TABLE scorers (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE writers (
    id uuid PRIMARY KEY,
    sent bigint NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE samples (
    sample bigint PRIMARY KEY,
    run int NOT NULL,
    name text COLLATE "C" NOT NULL,
    cluster text COLLATE "C",
    tags int NOT NULL,
    UNIQUE (name, run)
);
CREATE TABLE contents (
    name text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (name, digest)
);
ALTER TABLE contents ALTER data SET STORAGE EXTERNAL;
CREATE TABLE trials (
    sample bigint NOT NULL,
    attempt int NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    requests bigint NOT NULL,
    cost float8,
    content bytea,
    PRIMARY KEY (sample, attempt)
);
CREATE TABLE scores (
    scorer int NOT NULL,
    sample bigint NOT NULL,
    attempt int NOT NULL,
    tags int NOT NULL,
    cluster text COLLATE "C",
    points float8,
    out_of float8,
    why text COLLATE "C",
    PRIMARY KEY (scorer, sample, attempt) INCLUDE (tags, cluster, points, out_of)
);
CREATE TABLE records (
    sample bigint NOT NULL,
    attempt int NOT NULL,
    number int NOT NULL,
    scorer int NOT NULL,
    at bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    data bytea NOT NULL,
    PRIMARY KEY (sample, attempt, number)
);
ALTER TABLE records ALTER data SET STORAGE EXTERNAL;
CREATE TABLE annotations (
    run int NOT NULL,
    sample text COLLATE "C" NOT NULL,
    attempt int NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    person text COLLATE "C" NOT NULL,
    record bytea NOT NULL,
    PRIMARY KEY (run, sample, attempt, kind, name, person)
);
{_SHARDS}
{_FILES}
"""
