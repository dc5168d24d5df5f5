"""A run in shards: every sample in exactly one, and together they are the run that would have been made in one piece."""

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from postgres_server import server

from proctor.api import evaluate, evaluate_async, merge_runs, open_run, rescore
from proctor.api.shards import close
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.run import Budget, RunRecord, Selection
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.shard import Shard, shard_at, shard_of
from proctor.core.task import Store, Task
from proctor.core.trajectory import Usage
from proctor.core.trial import Trial, Verdict
from proctor.engine.selection import choose
from proctor.reports.build import build
from proctor.stores.copy import begin_copy, copy_history
from proctor.stores.sqlite import SqliteStore
from proctor_adapters.postgresql import PostgresStore
from proctor_adapters.postgresql.shard import ShardStore

TASK = """
import os
from proctor import Sample, Task
from proctor.core.run import Estimate

def capitals(kind="a"):
    samples = [
        Sample.ask(f"s{place}", f"question {place}", target=str(place % 3), tags={"level": str(place % 2)})
        for place in range(int(os.environ.get("COUNT", 24)))
    ]
    return Task(name="capitals", samples=samples, scorers=["exact"], version=kind)

def official():
    found = capitals()
    return Task(name="official", samples=found.samples, scorers=["exact"], summarise=lambda *_: [Estimate(name="own", value=0.5)])
"""
NAME = "./capitals.py:capitals"
AGENT = """
import os, time

def answer(question):
    time.sleep(float(os.environ.get("SLEEPS", 0)))
    return "1"
"""


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (tmp_path / "capitals.py").write_text(TASK)
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    return {"agent": "./agent.py:answer"}


@pytest.fixture
def address() -> str:
    return server().database()


@pytest.fixture
def database(address: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(address)
    yield opened
    opened.close()


def _content(store: Store) -> list[object]:
    """Return what is stored, without what depends on the clock."""
    return [
        (one.sample_id, one.attempt, one.outcome, one.trajectory.answer)
        if isinstance(one, Trial)
        else (one.sample_id, one.attempt, one.scorer, one.result)
        for one in store.history("r")
    ]


async def _judge(store: Store, verdicts: list[Verdict]) -> None:
    record = store.run("r")
    await store.begin(record)
    await store.judge(verdicts)
    await store.end(record)


async def _rewrite(store: Store, shard: Shard) -> None:
    record = store.run("r")
    changed = replace(record, spec=replace(record.spec, shard=shard))
    await store.begin(changed)
    await store.end(changed)


@pytest.mark.parametrize(("samples", "of"), [(1, 1), (10, 3), (1000, 7), (64, 64)])
def test_every_place_is_in_one_shard_and_shards_differ_by_less_than_two(samples: int, of: int) -> None:
    counts = [0] * of
    for place in range(samples):
        counts[shard_at(place, of) - 1] += 1
    assert max(counts) - min(counts) <= 1


def test_a_pattern_in_the_data_does_not_put_one_kind_into_one_shard() -> None:
    hard = [shard_at(place, 10) for place in range(0, 5_000, 10)]
    assert all(20 <= hard.count(number) <= 80 for number in range(1, 11))


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "3/0", "a/b", "1/100001", " 1/2", "-1/2", "1/2/3", "１/２"])
def test_what_names_no_shard_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="names no shard"):
        shard_of(text)


def test_samples_that_follow_each_other_are_in_the_same_shard() -> None:
    samples = [
        Sample.ask(f"s{at}", "?", target="1", meta={"after": f"s{at - 1}"} if at % 5 else {}) for at in range(40)
    ]
    task = Task(name="chains", samples=samples, scorers=["exact"])
    found: list[str] = []
    for number in range(1, 4):
        chosen = choose(task, Selection(), 0, shard=Shard(number=number, of=3))
        ids = [one.id for one in chosen.read()]
        assert {one.id for one in chosen.visits()} == set(ids)
        assert all(f"s{at}" in ids for id in ids for at in range(int(id[1:]) // 5 * 5, int(id[1:]) // 5 * 5 + 5))
        assert len(list(chosen.whole())) == 40
        found += ids
    assert sorted(found) == sorted(one.id for one in samples)
    with pytest.raises(BadInput, match="8 samples for 9 shards"):
        choose(task, Selection(), 0, shard=Shard(number=1, of=9))


def test_shards_in_stores_of_their_own_merge_to_the_run_in_one_piece(named: dict[str, Any], tmp_path: Path) -> None:
    given: dict[str, Any] = {**named, "run_id": "r", "limit": 20, "seed": 3, "attempts": 2, "tags": {}}
    stores = [SqliteStore(tmp_path / f"{number}.db") for number in (1, 2, 3)]
    for number, store in enumerate(stores, start=1):
        evaluate(NAME, **given, store=store, shard=f"{number}/3")
        evaluate(NAME, **given, store=store, shard=f"{number}/3")
    with pytest.raises(BadInput, match=r"--shard: 1/3 → 2/3"):
        evaluate(NAME, **given, store=stores[0], shard="2/3")
    for number, store in enumerate(stores):  # one was judged again, which was paid for
        kept = next(store.verdicts("r"))
        asyncio.run(_judge(store, [replace(kept, usage=Usage(requests=1, cost=0.25 + number))]))
    for number, store in enumerate(stores):
        store.annotate([Annotation(run_id="r", kind="note", value=f"note {number}", by="me")])
    target, whole = SqliteStore(tmp_path / "all.db"), SqliteStore(tmp_path / "whole.db")
    with pytest.raises(BadInput, match=r"2 of 3 shards are missing: 1, 3"):
        merge_runs([stores[1]], target)
    with pytest.raises(BadInput, match=r"Shard 2/3 is there twice: in .*2\.db and in .*2\.db"):
        merge_runs([stores[1], SqliteStore(tmp_path / "2.db")], target)
    assert not target.runs()

    async def half() -> None:  # as a kill in the middle leaves it
        record = stores[0].run("r")
        await begin_copy(record, target)
        await target.plan("r", stores[0].planned("r"))
        await copy_history(stores[0], target, "r")

    asyncio.run(half())
    target.close()
    target = SqliteStore(tmp_path / "all.db")
    assert target.run("r").state == "copying"
    merged = merge_runs(stores[::-1], target)
    one = evaluate(NAME, **given, store=whole)
    assert [sample.id for sample in target.planned("r")] == [sample.id for sample in whole.planned("r")]
    by_sample: dict[str, list[Trial | Verdict]] = {}
    for store in stores:
        for kept_one in store.history("r"):
            by_sample.setdefault(kept_one.sample_id, []).append(kept_one)
    in_order = [kept for sample in target.planned("r") for kept in by_sample[sample.id]]
    assert list(target.history("r")) == in_order
    assert target.usage("r") == Usage(requests=3, cost=3.75)
    assert [said.value for said in target.annotations("r")] == ["note 0\nnote 1\nnote 2"]
    assert merged.estimates == one.estimates
    assert (merged.record.state, merged.record.planned) == ("finished", 40)
    assert replace(merged.record.spec, shard=None) == one.record.spec
    with pytest.raises(BadInput, match="has a run 'r' already"):
        merge_runs(stores, target)


def test_shards_of_another_task_seed_or_count_do_not_merge(
    named: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shard(name: str, which: str, **given: Any) -> SqliteStore:
        store = SqliteStore(tmp_path / f"{name}.db")
        evaluate(NAME, **{**named, "run_id": "r", "store": store, "shard": which, **given})
        return store

    target = SqliteStore(tmp_path / "all.db")
    first = shard("first", "1/2")
    cases: list[tuple[str, str, dict[str, Any], str]] = [
        ("seed", "2/2", {"seed": 5}, "--seed: 0 → 5"),
        ("count", "2/3", {}, "2 ≠ 3"),
        ("version", "2/2", {"options": {"kind": "b"}}, "kind=b"),
    ]
    for name, which, given, why in cases:
        with pytest.raises(BadInput, match=f"not of the same run: .*{why}"):
            merge_runs([first, shard(name, which, **given)], target)
    monkeypatch.setenv("COUNT", "30")  # as data that grew meanwhile: some samples would be in no shard
    with pytest.raises(BadInput, match="not of the same run: 24 → 30 samples"):
        merge_runs([first, shard("data", "2/2")], target)
    monkeypatch.delenv("COUNT")
    (tmp_path / "agent.py").write_text(AGENT.replace('"1"', '"2"'))
    with pytest.raises(BadInput, match=r"not of the same run: agent\.py"):
        merge_runs([first, shard("code", "2/2")], target)
    with pytest.raises(BadInput, match="has no shard"):
        merge_runs([first, target], target)
    asyncio.run(_rewrite(first, Shard(number=5, of=1)))
    with pytest.raises(BadInput, match="'5/1' names no shard"):
        merge_runs([first], target)
    with pytest.raises(BadInput, match="Name the stores"):
        merge_runs([], target)
    assert not target.runs()


def test_a_budget_is_divided_between_the_shards(named: dict[str, Any], tmp_path: Path) -> None:
    assert Budget(money=3.0, tokens=10, requests=4, minutes=5.0).share(Shard(number=2, of=3)) == Budget(
        money=1.0, tokens=3, requests=1, minutes=5.0
    )
    with pytest.raises(BadInput, match="A budget of 2 cannot be divided between 3 shards"):
        evaluate(NAME, **named, run_id="r", shard="1/3", budget={"requests": 2}, store=":memory:")
    with pytest.raises(BadInput, match="--run ID"):
        evaluate(NAME, **named, shard="1/2")
    with pytest.raises(BadInput, match="does not go with"):
        evaluate(NAME, **named, shard="1/2", run_id="r", until="accuracy >= 0.5")


async def test_shards_write_one_run_in_postgresql_at_the_same_time(
    named: dict[str, Any], tmp_path: Path, database: PostgresStore, address: str
) -> None:
    given: dict[str, Any] = {**named, "run_id": "r", "limit": 20, "seed": 3, "attempts": 2}
    runs = await asyncio.gather(
        *(evaluate_async(NAME, **given, store=address, shard=f"{number}/3") for number in (1, 2))
    )
    assert [run.record.state for run in runs] == ["running", "running"]
    assert database.run("r").planned == 40
    with pytest.raises(BadInput, match="is split into 3 shards, not into 4"):
        await evaluate_async(NAME, **given, store=address, shard="4/4")
    last = await evaluate_async(NAME, **given, store=address, shard="3/3")
    whole = SqliteStore(tmp_path / "whole.db")
    one = await evaluate_async(NAME, **given, store=whole)
    assert last.record.state == "finished"
    assert _content(database) == _content(whole)
    assert database.usage("r") == whole.usage("r")
    assert open_run("r", store=database).estimates == one.estimates
    again = await evaluate_async(NAME, **given, store=address, shard="2/3")
    assert (again.record.state, database.run("r").spec.shard) == ("finished", None)
    assert database.writer("r") is None
    database.delete("r")


def test_a_shard_that_was_killed_goes_on_with_the_same_command(
    named: dict[str, Any], database: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "proctor", "run", NAME, "--agent", named["agent"], "--run", "r"]
    command += ["--store", address, "--concurrency", "1", "--quiet", "--shard"]
    monkeypatch.setenv("SLEEPS", "0.2")
    with subprocess.Popen([*command, "1/2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 20
        while not database.runs() or not database.finished("r"):
            assert time.monotonic() < until
            time.sleep(0.02)
        process.terminate()  # as a scheduler does
        assert "--run r --shard 1/2 --store" in process.communicate()[1]
    assert database.run("r").state == "stopped"
    with subprocess.Popen([*command, "1/2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 20
        while len(database.finished("r")) < 3:
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    kept = list(database.trials("r"))
    assert 3 <= len(kept) < 12
    assert database.run("r").state == "running"
    monkeypatch.setenv("SLEEPS", "0")
    for number in (2, 1):
        evaluate(NAME, **named, run_id="r", store=address, concurrency=1, shard=f"{number}/2")
    assert {trial.sample_id: trial for trial in kept}.items() <= {
        trial.sample_id: trial for trial in database.trials("r")
    }.items()
    assert (database.run("r").state, database.outcomes("r")) == ("finished", {"scored": 24})
    assert sum(1 for _ in database.history("r")) == 48


def test_requests_that_a_killed_shard_lost_are_said_by_who_plays_the_rest(
    named: dict[str, Any], database: PostgresStore, address: str
) -> None:
    given: dict[str, Any] = {**named, "run_id": "r", "store": address}
    evaluate(NAME, **given, shard="1/2")
    killed = ShardStore(database, Shard(number=2, of=2))

    async def begin_and_die() -> None:
        record = killed.run("r")
        await killed.begin(record)
        await killed.save(replace(record, unbooked=3))

    asyncio.run(begin_and_die())
    killed.close()
    whole = evaluate(NAME, **given)
    assert (whole.record.state, whole.record.unbooked) == ("finished", 3)
    assert "at most 3 requests were under way" in " ".join(map(str, whole.record.warnings))
    assert database.run("r").unbooked == 3


def test_a_run_that_was_scored_meanwhile_goes_on_in_its_shards(
    named: dict[str, Any], database: PostgresStore, address: str, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(
        "from proctor import Score\n\ndef own(sample, trajectory):\n    return Score(points=1.0)\n"
    )
    given: dict[str, Any] = {**named, "run_id": "r", "store": address, "attempts": 1}
    evaluate(NAME, **given, shard="1/2")
    rescore("r", scorers=["./own.py:own"], store=database)
    with pytest.raises(BadInput, match=r"scored by exact, \./own\.py:own, .* Leave --scorer out"):
        evaluate(NAME, **given, shard="2/2", scorers=["exact"])
    evaluate(NAME, **given, shard="2/2")
    evaluate(NAME, **given, shard="1/2", retry_failed=True)
    whole = evaluate(NAME, **given, shard="1/2", scorers=["exact", "./own.py:own"])
    assert whole.record.state == "finished"
    assert len(list(database.verdicts("r"))) == 48


def test_a_run_whose_shards_are_missing_says_what_to_run(
    named: dict[str, Any], database: PostgresStore, address: str
) -> None:
    evaluate(NAME, **named, run_id="r", store=address, shard="1/2")
    notes = [str(note) for note in build(database.run("r"), database, ()).notes]
    assert any("shards of it are missing" in note for note in notes)


def test_a_shard_leaves_no_connection_open(
    named: dict[str, Any], database: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(NAME, **named, run_id="r", store=address, shard="1/2")
    monkeypatch.setenv("COUNT", "30")
    with pytest.raises(BadInput):
        evaluate(NAME, **named, run_id="r", store=address, shard="2/2")
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'proctor %%' AND datname = current_database()"
    until = time.monotonic() + 120  # the database notices when it comes to it
    while gc.collect() >= 0 and database._rows(query, {}) != [(1,)]:  # what no thread holds any longer is closed
        assert time.monotonic() < until
        time.sleep(0.05)


async def test_a_shard_is_played_by_one_process_at_a_time(
    named: dict[str, Any], database: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor_adapters.postgresql.shard.CLOSING_SECONDS", 0.0)
    given: dict[str, Any] = {**named, "run_id": "r", "store": address}
    await evaluate_async(NAME, **given, shard="1/2")
    shard, other = (ShardStore(database, Shard(number=number, of=2)) for number in (1, 2))
    await shard.begin(shard.run("r"))
    with pytest.raises(BadInput, match="Shard 1/2 of the run 'r' is being played"):
        await evaluate_async(NAME, **given, shard="1/2")
    shard._client._db.close()  # type: ignore[union-attr]
    await shard.save(shard.run("r"))  # which locks it again
    with pytest.raises(BadInput, match="Shard 1/2 of the run 'r' is being played"):
        await evaluate_async(NAME, **given, shard="1/2")
    await other.begin(other.run("r"))
    await other.end(other.run("r"))
    await shard.end(shard.run("r"))
    await evaluate_async(NAME, **given, shard="1/2")
    for one in (shard, other):
        one.close()


async def test_a_shard_whose_run_was_taken_over_changes_no_record(
    named: dict[str, Any], database: PostgresStore, address: str
) -> None:
    await evaluate_async(NAME, **named, run_id="r", store=address, shard="1/2")
    shard = ShardStore(database, Shard(number=1, of=2))
    await shard.begin(shard.run("r"))
    shard._client._db.close()  # type: ignore[union-attr]
    whole = database.run("r")
    while True:
        with suppress(BadInput):  # the server has not noticed yet that the line was cut
            await database.begin(whole)
            break
    with pytest.raises(BadInput, match="taken over by another process"):
        await shard.save(replace(shard.run("r"), seconds=1e6))
    await database.end(whole)
    assert shard.run("r").seconds < 1e6
    shard.close()


def test_a_finished_run_stays_so_when_a_shard_of_it_is_played_again(
    named: dict[str, Any], database: PostgresStore, address: str
) -> None:
    given: dict[str, Any] = {**named, "run_id": "r", "store": address}
    evaluate(NAME, **given)
    record = database.run("r")

    async def end(record: RunRecord) -> None:
        await database.begin(record)
        await database.end(record)

    warning = say("The run '{run}' is noted.", run="r")
    asyncio.run(end(replace(record, warnings=(warning,), seconds=100.0, unbooked=5)))
    evaluate(NAME, **given, shard="1/3")
    after = database.run("r")
    assert (after.state, after.warnings, after.seconds, after.unbooked) == ("finished", (warning,), 100.0, 5)
    asyncio.run(end(replace(record, state="copying")))
    with pytest.raises(BadInput, match="only half there"):
        evaluate(NAME, **given, shard="1/3")
    assert database.run("r").state == "copying"


def test_a_shard_with_other_samples_is_refused_before_anything_is_called(
    named: dict[str, Any], database: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(NAME, **named, run_id="r", store=address, shard="1/3")
    for count in ("30", "20"):
        monkeypatch.setenv("COUNT", count)
        with pytest.raises(BadInput, match=f"24 → {count} samples"):
            evaluate(NAME, **named, run_id="r", store=address, shard="2/3")
    assert database.outcomes("r") == {"scored": 8}


def test_official_aggregates_are_not_said_to_be_none_where_the_task_cannot_be_made(
    named: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [SqliteStore(tmp_path / f"{number}.db") for number in (1, 2)]
    for number, store in enumerate(stores, start=1):
        evaluate("./capitals.py:official", **named, run_id="r", store=store, shard=f"{number}/2")
    open_now, most_open = set[int](), list[int]()

    class Counted(SqliteStore):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            open_now.add(id(self))
            most_open.append(len(open_now))

        def close(self) -> None:
            open_now.discard(id(self))
            super().close()

    monkeypatch.setattr("proctor.stores.shards.open_store", Counted)
    merged = merge_runs([store.url for store in stores], SqliteStore(tmp_path / "all.db"))
    assert (set(most_open), open_now) == ({1}, set()), "one file after the other"
    assert [one.name for one in merged.record.official or ()] == ["own"]
    (tmp_path / "capitals.py").unlink()
    merged = merge_runs(stores, SqliteStore(tmp_path / "elsewhere.db"))
    assert merged.record.official is None
    assert "keeps no official aggregates" in str(next(one.note for one in merged.estimates if one.name == "official"))


async def test_shards_that_end_at_the_same_time_conclude_the_run_one_after_the_other(
    named: dict[str, Any], database: PostgresStore, address: str
) -> None:
    await evaluate_async(NAME, **named, run_id="r", store=address)
    record = database.run("r")
    await database.begin(record)
    other = PostgresStore(address)
    closing = asyncio.create_task(close(other, "r", None))
    await asyncio.sleep(0.3)
    assert not closing.done()
    await database.end(record)
    assert (await closing).state == "finished"
    other.close()


def test_shards_that_begin_at_the_same_time_with_other_code_are_refused(
    named: dict[str, Any], tmp_path: Path, database: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {**named, "run_id": "r", "store": address}
    evaluate(NAME, **given, shard="1/2")
    (tmp_path / "agent.py").write_text(AGENT.replace('"1"', '"2"'))
    with monkeypatch.context() as before:
        before.setattr(import_module("proctor.api.prepare"), "_stored", lambda *_: None)  # the other one began later
        with pytest.raises(BadInput, match=r"made with other code: agent\.py"):
            evaluate(NAME, **given, shard="2/2")
    assert database.outcomes("r") == {"scored": 12}
    evaluate(NAME, **given, shard="2/2", accept_changes=True)
    assert evaluate(NAME, **given, shard="2/2").record.state == "finished"
