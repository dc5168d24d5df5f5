"""A store of version 1, made by hand as that version made it, is brought up to date after a copy."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from old_stores import make_version_1

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, fill

SAMPLES = [a_sample("z", tags={"level": "1"}), a_sample("a", cluster="x"), a_sample("m", cluster="x")]
TRIALS = [a_trial("z"), a_trial("a"), a_trial("m", outcome="agent_failed")]
VERDICTS = [a_verdict("z", points=0), a_verdict("a", points=0.5), a_verdict("z", points=1)]


def _version_1(path: Path) -> None:
    make_version_1(path, SAMPLES, TRIALS, VERDICTS)


def test_everything_is_there_after_the_migration(tmp_path: Path) -> None:
    _version_1(tmp_path / "runs.db")
    store = SqliteStore(tmp_path / "runs.db")
    assert store.run("r") == a_record(state="finished", planned=3)
    assert list(store.planned("r")) == SAMPLES
    assert list(store.trials("r")) == TRIALS
    assert list(store.verdicts("r")) == [VERDICTS[2], VERDICTS[1]]
    assert list(store.history("r")) == [TRIALS[0], VERDICTS[0], VERDICTS[2], TRIALS[1], VERDICTS[1], TRIALS[2]]
    assert (store.tallies("r", "exact")[""].total, store.tallies("r", "exact")[""].clusters) == (1.5, 2)
    store.close()


def test_the_migrated_store_can_be_written(tmp_path: Path) -> None:
    _version_1(tmp_path / "runs.db")
    store = SqliteStore(tmp_path / "runs.db")

    async def rescore() -> None:
        await store.begin(store.run("r"))
        await store.judge([a_verdict("a", points=1)])
        await store.end(store.run("r"))

    asyncio.run(rescore())
    assert store.tallies("r", "exact")[""].total == 2
    store.close()


def test_the_old_file_is_copied_first_and_never_over_another_copy(tmp_path: Path) -> None:
    (tmp_path / "runs.db.v1.bak").write_text("an earlier copy")
    _version_1(tmp_path / "runs.db")
    SqliteStore(tmp_path / "runs.db").close()
    assert (tmp_path / "runs.db.v1.bak").read_text() == "an earlier copy"
    copy = sqlite3.connect(tmp_path / "runs.db.v1.bak1")
    assert copy.execute("PRAGMA user_version").fetchone() == (1,)
    assert copy.execute("SELECT count(*) FROM verdicts").fetchone() == (3,)
    copy.close()
    SqliteStore(tmp_path / "runs.db").close()  # there is nothing to do the second time
    assert len(list(tmp_path.iterdir())) == 3


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    _version_1(path)
    db = sqlite3.connect(path)
    db.execute("UPDATE trials SET record = '{' WHERE sample = 'm'")
    db.commit()
    before = list(db.iterdump())
    db.close()
    with pytest.raises(BadInput, match=r"runs\.db cannot be brought to the layout of this version.*\.v1\.bak"):
        SqliteStore(path)
    db = sqlite3.connect(path)
    assert list(db.iterdump()) == before
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    db.close()


def test_a_store_without_later_tables_gets_them_without_a_copy_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    asyncio.run(fill(store := SqliteStore(path), ["fr"]))
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE annotations; DROP TABLE changes; PRAGMA user_version = 2")
    store = SqliteStore(path)
    before = store.version("r")
    asyncio.run(store.begin(a_record()))
    asyncio.run(store.end(a_record()))
    assert store.version("r") != before
    assert list(store.trials("r")) == [a_trial("fr")]
    store.annotate([Annotation(run_id="r", kind="tag", name="good")])
    assert [one.name for one in store.annotations("r")] == ["good"]
    store.close()
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".bak"] == []
    SqliteStore(path).close()
