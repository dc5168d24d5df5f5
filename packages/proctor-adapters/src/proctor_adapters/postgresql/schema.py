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
from importlib.resources import files

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
TABLES = (
    files("proctor_adapters.postgresql")
    .joinpath("tables.sql")
    .read_text(encoding="utf-8")
    .format(sizes=_SIZES, shards=_SHARDS, files=_FILES)
)
