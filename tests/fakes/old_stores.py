"""Stores as older versions made them, by hand."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from proctor.core.sample import Sample
from proctor.core.trial import Trial, Verdict
from proctor.stores import schema
from proctor.testing.records import a_record

VERSION_1 = f"""
CREATE TABLE runs (id TEXT PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE samples (
    run TEXT NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (run, place)
);
CREATE TABLE trials (
    run TEXT NOT NULL, sample TEXT NOT NULL, attempt INTEGER NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run, sample, attempt)
);
CREATE TABLE verdicts (
    number INTEGER PRIMARY KEY, run TEXT NOT NULL, sample TEXT NOT NULL, attempt INTEGER NOT NULL,
    scorer TEXT NOT NULL, record TEXT NOT NULL
);
PRAGMA application_id = {schema.APPLICATION_ID};
PRAGMA user_version = 1;
"""


def make_version_1(path: Path, samples: Sequence[Sample], trials: Sequence[Trial], verdicts: Sequence[Verdict]) -> None:
    """Make a store of one run, `r`, as version 1 did."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(VERSION_1)
        db.execute("INSERT INTO runs VALUES ('r', ?)", (_json(a_record(state="finished", planned=len(samples))),))
        for place, sample in enumerate(samples):
            db.execute("INSERT INTO samples VALUES ('r', ?, ?, ?)", (place, sample.id, _json(sample)))
        for trial in reversed(trials):
            row = (trial.sample_id, trial.attempt, trial.outcome, _json(trial))
            db.execute("INSERT INTO trials VALUES ('r', ?, ?, ?, ?)", row)
        for verdict in verdicts:
            values = (verdict.sample_id, verdict.attempt, verdict.scorer, _json(verdict))
            db.execute("INSERT INTO verdicts (run, sample, attempt, scorer, record) VALUES ('r', ?, ?, ?, ?)", values)
        db.commit()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
