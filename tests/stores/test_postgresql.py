"""What a store in PostgreSQL promises beyond the contract: nothing lost or doubled when a server, a line or a client goes away."""

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from postgres_server import PostgresServer, server

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor.core.trajectory import Usage
from proctor.stores import open_store
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun, fill
from proctor_adapters.postgresql import PostgresStore, accept, deletion
from proctor_adapters.postgresql.connection import RUN_LOCK

FAKES = Path(__file__).parent.parent / "fakes"
PAID = Usage(input_tokens=10, requests=1, cost=0.5)


@pytest.fixture
def address() -> str:
    return server().database()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(address)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def durable() -> Iterator[PostgresServer]:
    started = PostgresServer(durable=True)
    yield started
    started.stop()


def cut(address: str) -> None:
    """End every other connection to a database, as a firewall or a restart does."""
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_the_registry_finds_it_by_either_name(address: str) -> None:
    for url in (address, address.replace("postgresql://", "postgres://")):
        store = open_store(url)
        assert isinstance(store, PostgresStore)
        store.close()


async def test_a_password_is_not_shown(address: str) -> None:
    store = PostgresStore(address.replace("tester@", "tester:hunter22@"))
    assert "hunter22" not in store.url + repr(store)
    store.close()
    with pytest.raises(BadInput) as refused:
        PostgresStore("postgresql://me:hunter22@127.0.0.1:1/none", patience=0.1)
    assert "cannot be reached" in str(refused.value)
    assert "hunter22" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://me:hunter22@h/d?nonsense=1", "postgresql://me:hunter22@[::1/d"])
def test_what_is_no_address_is_named(url: str) -> None:
    with pytest.raises(BadInput, match="is no address of a PostgreSQL database") as refused:
        PostgresStore(url)
    assert "hunter22" not in str(refused.value)


def test_many_clients_that_start_at_once_make_the_tables_once(address: str) -> None:
    with ThreadPoolExecutor(12) as pool:
        stores = list(pool.map(lambda _: PostgresStore(address), range(12)))
    for store in stores:
        assert store.runs() == []
        store.close()


async def test_tables_of_an_older_version_are_brought_up_once_by_many_clients(
    address: str, store: PostgresStore
) -> None:
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr"), [a_verdict("fr")])
    await store.end(a_record())
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE proctor.runs DROP plan_tags, DROP plan_samples, DROP plan_clustered")
        db.execute("DROP TABLE proctor.shards; DROP TABLE proctor.files; UPDATE proctor.layout SET version = 1")
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: PostgresStore(address), range(6)))
    for opened in stores:
        assert opened.outcomes("r") == {"scored": 1}
        assert opened.tallies("r", "exact")[""].planned == 1
        opened.close()
    with psycopg.connect(address) as db:
        assert db.execute("SELECT version FROM proctor.layout").fetchall() == [(4,)]
        assert db.execute("SELECT count(*) FROM proctor.shards").fetchone() == (0,)


def test_tables_of_a_newer_version_are_refused(address: str, store: PostgresStore) -> None:
    with psycopg.connect(address) as db:
        db.execute("UPDATE proctor.layout SET version = 99")
    with pytest.raises(BadInput, match=r"newer version.*layout 99"):
        PostgresStore(address)


async def test_a_role_that_only_reads_can(address: str, store: PostgresStore) -> None:
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr"), [a_verdict("fr")])
    with psycopg.connect(address, autocommit=True) as db:
        name = f"reader_{RUN_LOCK}_{time.time_ns()}"
        db.execute(f"CREATE ROLE {name} LOGIN; GRANT USAGE ON SCHEMA proctor TO {name}")
        db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA proctor TO {name}")
    reading = PostgresStore(address.replace("tester@", f"{name}@"))
    assert reading.tallies("r", "exact")[""].scored == 1
    assert reading.writer("r") is not None
    with pytest.raises(BadInput, match="may not do that"):
        await reading.begin(a_record("other"))
    reading.close()


async def test_two_clients_write_two_runs_and_one_run_is_open_once(address: str, store: PostgresStore) -> None:
    other = PostgresStore(address)
    await begun(store, [a_sample("fr")])
    with pytest.raises(BadInput, match="is open in"):
        await other.begin(a_record())
    await begun(other, [a_sample("fr")], a_record("two"))
    await asyncio.gather(store.add(a_trial("fr")), other.add(a_trial("fr", run="two")))
    assert store.finished("two") == other.finished("r") == {("fr", 0)}
    await store.end(a_record())
    await other.begin(a_record())
    other.close()


async def test_a_cut_line_is_mended_while_a_run_goes_on(address: str, store: PostgresStore) -> None:
    ids = [f"s{number}" for number in range(300)]
    await begun(store, [a_sample(id) for id in ids])
    stop = threading.Event()

    def cutting() -> None:
        pause = 0.02
        while not stop.wait(pause):
            started = time.monotonic()
            cut(address)
            pause = 0.02 + 3 * (time.monotonic() - started)  # on a busy machine others take as long to connect again

    thread = threading.Thread(target=cutting)
    thread.start()
    try:
        for start in range(0, len(ids), 10):
            group = ids[start : start + 10]
            await asyncio.gather(*(store.add(replace(a_trial(id), usage=PAID), [a_verdict(id)]) for id in group))
            await store.judge([replace(a_verdict(id, points=0), usage=PAID) for id in group[:2]])
            assert len(store.finished("r")) >= start + 10
    finally:
        stop.set()
        thread.join()
    await store.end(a_record())
    assert store.outcomes("r") == {"scored": 300}
    usage = store.usage("r")
    assert (usage.requests, usage.cost) == (360, 180.0)  # each was paid for once
    assert sum(1 for _ in store.history("r")) == 660


async def test_a_run_that_another_process_took_over_is_written_no_more(address: str, store: PostgresStore) -> None:
    await begun(store, [a_sample("fr"), a_sample("de")])
    await store.add(a_trial("fr"))
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("UPDATE proctor.runs SET epoch = epoch + 1")  # as `begin` does elsewhere
    with pytest.raises(BadInput, match="taken over by another process"):
        await store.add(a_trial("de"))
    assert store.finished("r") == {("fr", 0)}


async def test_what_another_process_took_over_is_neither_ended_nor_planned(address: str) -> None:
    store, other = PostgresStore(address, patience=1.0), PostgresStore(address)
    await begun(store, [a_sample("fr")])
    cut(address)
    await begun(other, [a_sample("fr"), a_sample("de")], a_record(seconds=7.0))
    for work in (store.end(a_record(seconds=1.0)), other.end(a_record(seconds=9.0))):
        with suppress(BadInput):
            await work
    assert store.run("r").seconds == 9.0
    assert len(list(store.planned("r"))) == 2
    assert store.writer("r") is None
    other.close()
    store.close()


async def test_clients_that_join_a_run_write_to_it_at_the_same_time(address: str, store: PostgresStore) -> None:
    ids = [f"s{number}" for number in range(120)]
    await begun(store, [a_sample(id) for id in ids])
    helpers = [PostgresStore(address) for _ in range(3)]
    with pytest.raises(BadInput, match="is open in"):  # it is not shared yet
        await helpers[0].join("r", 1)
    epoch = await store.share("r")
    for helper in helpers:
        await helper.join("r", epoch)
    with pytest.raises(BadInput, match="is open in"):
        await helpers[0].join("r", epoch)
    with pytest.raises(BadInput, match="which alone can plan, save and end it"):
        await helpers[0].end(a_record())

    async def write(client: PostgresStore, chosen: list[str]) -> None:
        for id in chosen:
            await client.add(replace(a_trial(id), usage=PAID), [a_verdict(id)])
            await client.judge([replace(a_verdict(id, points=0), usage=PAID)])

    # each has some that another one has too, and the line is cut on the way
    async def cut_now_and_then() -> None:
        for _ in range(3):
            await asyncio.sleep(0.05)
            await asyncio.to_thread(cut, address)

    shares = [ids[at::4] + ids[(at + 1) % 4 :: 40] for at in range(4)]
    await asyncio.gather(cut_now_and_then(), *map(write, [store, *helpers], shares))
    assert store.outcomes("r") == {"scored": 120}
    assert store.usage("r").cost == 0.5 * 120 + 0.5 * sum(map(len, shares))  # of trials one counts, of verdicts each
    other = PostgresStore(address)
    with pytest.raises(BadInput, match="is open in"):
        await other.begin(a_record())
    with pytest.raises(BadInput, match="is open in"):
        other.delete("r")
    await helpers[0].leave("r")
    with pytest.raises(BadInput, match="is not open for writing here"):
        await helpers[0].add(a_trial("s0"))
    await store.end(a_record(state="finished"))
    with pytest.raises(BadInput, match="or ended there"):
        await helpers[1].judge([a_verdict("s0")])
    for client in (*helpers, other):
        client.close()
    assert store.run("r").state == "finished"
    store.delete("r")


async def test_a_run_is_free_as_soon_as_its_store_is_closed(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        for number in range(30):
            store = PostgresStore(address)
            await store.begin(a_record(f"r{number}"))
            store.close()
            assert db.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)


async def test_new_trials_of_a_group_are_found_in_one_pass(
    address: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"s{number}" for number in range(300)]
    await begun(store, [a_sample(id) for id in ids])
    plans: list[str] = []
    accept_new = accept.accept_new

    def explained(db: "psycopg.Connection[Any]", *how: Any) -> set[int]:
        db.add_notice_handler(lambda said: plans.append(said.message_primary or ""))
        db.execute("LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on")
        db.execute("SET client_min_messages = log")
        return accept_new(db, *how)

    monkeypatch.setattr(accept, "accept_new", explained)
    monkeypatch.setattr("proctor.stores.writer.AT_ONCE", 300)
    await asyncio.gather(*(store.add(a_trial(id), [a_verdict(id)]) for id in ids))
    [plan] = [one for one in plans if "INSERT INTO trials" in one]
    assert "rows=300" in plan
    assert max(map(int, re.findall(r"Rows Removed by Join Filter: (\d+)", plan)), default=0) <= 300


async def test_a_verdict_that_waits_for_another_one_is_numbered_after_it(address: str, store: PostgresStore) -> None:
    await begun(store, [a_sample("a")])
    await store.add(a_trial("a"), [a_verdict("a")])
    with psycopg.connect(address) as db:
        db.execute("SELECT FROM proctor.trials FOR UPDATE")
        judging = asyncio.ensure_future(store.judge([a_verdict("a", points=0)]))
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
        async with asyncio.timeout(20):
            while db.execute(waiting).fetchone() is None:  # noqa: ASYNC110 - of the server
                await asyncio.sleep(0.01)
        db.execute(
            "INSERT INTO proctor.records (sample, attempt, number, scorer, data)"
            " SELECT sample, attempt, number + 1, scorer, data FROM proctor.records ORDER BY number DESC LIMIT 1"
        )
    await judging
    assert [verdict.result for verdict in store.verdicts("r")] == [a_verdict("a", points=0).result]
    await store.end(a_record())


async def test_of_two_drivers_the_one_with_the_older_epoch_writes_no_more_nor_do_its_helpers(address: str) -> None:
    old, helper, new = (PostgresStore(address, patience=1.0) for _ in range(3))
    await begun(old, [a_sample("fr"), a_sample("de")])
    epoch = await old.share("r")
    await helper.join("r", epoch)
    cut(address)
    await new.begin(a_record(seconds=7.0))
    for late in (old.add(a_trial("fr")), helper.add(a_trial("de")), old.end(a_record())):
        with pytest.raises(BadInput, match="taken over by another process"):
            await late
    third = PostgresStore(address)
    with pytest.raises(BadInput, match="is open in"):
        await third.join("r", epoch)
    await new.share("r")
    with pytest.raises(BadInput, match="taken over by another process"):
        await third.join("r", epoch)
    assert new.finished("r") == set()
    assert new.run("r").seconds == 7.0
    for client in (old, helper, new, third):
        client.close()


async def test_a_run_is_begun_once_here_too(store: PostgresStore) -> None:
    begun_twice = await asyncio.gather(store.begin(a_record()), store.begin(a_record()), return_exceptions=True)
    assert [type(one) for one in begun_twice] == [type(None), BadInput]


async def test_a_begin_that_was_cancelled_locks_nothing(address: str, store: PostgresStore) -> None:
    task = asyncio.create_task(store.begin(a_record()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    other = PostgresStore(address)
    store.annotate([])  # what was queued before is done
    await other.begin(a_record())
    other.close()


async def test_clients_that_meet_in_opposite_order_both_write(address: str, store: PostgresStore) -> None:
    other = PostgresStore(address)
    ids = [f"s{number}" for number in range(200)]
    await begun(store, [a_sample(id) for id in ids])
    said = [Annotation(run_id="r", sample_id=id, kind="note", value="x") for id in ids]
    for _ in range(4):
        await asyncio.gather(asyncio.to_thread(store.annotate, said), asyncio.to_thread(other.annotate, said[::-1]))
    assert len(store.annotations("r")) == 200
    other.close()


async def test_whole_and_tiny_numbers_are_numbers(store: PostgresStore) -> None:
    await begun(store, [a_sample("fr"), a_sample("de")])
    costs = (Usage(requests=1, cost=1), Usage(requests=1, cost=0.5))
    await asyncio.gather(
        *(
            store.add(replace(a_trial(id), usage=usage), [a_verdict(id, points=1e-200)])
            for id, usage in zip(("fr", "de"), costs, strict=True)
        )
    )
    assert store.usage("r").cost == 1.5
    assert store.tallies("r", "exact")[""].total == 0.0
    assert [verdict.result.points for verdict in store.verdicts("r") if isinstance(verdict.result, Score)] == [
        1e-200
    ] * 2


async def test_rows_that_a_killed_client_left_of_a_deleted_run_go_with_the_next(
    address: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "PIECE", 2)
    await fill(store, ["a", "b", "c", "d", "e"], a_record("one"))
    await fill(store, ["a", "f", "g"], a_record("two"))
    await fill(store, ["b", "f"], a_record("three"))
    await begun(store, [a_sample("e")], a_record("four"))  # it has no trial yet
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET search_path TO proctor")
        deletion.remove(db, store._find("one")[0])
        deletion.purge_contents(db, deletion.pieces(db)[0])
        deletion.purge_rows(db, deletion.pieces(db)[0])  # and here the client was killed
        assert "one" not in {one.id for one in store.runs()}
        store.delete("two")
        assert deletion.pieces(db) == []
    assert _rows(address) == {"samples": 3, "trials": 2, "scores": 2, "records": 4, "contents": 2}
    assert [store.sample("three", id) for id in "bf"] == [a_sample("b"), a_sample("f")]
    await store.end(a_record("four"))


async def test_what_only_removed_runs_have_goes_with_the_first_of_them(address: str, store: PostgresStore) -> None:
    for name in ("one", "two"):
        await fill(store, ["a", "b"], a_record(name))
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET search_path TO proctor")
        for name in ("one", "two"):
            deletion.remove(db, store._find(name)[0])
        deletion.purge_contents(db, deletion.pieces(db)[0])
        assert db.execute("SELECT count(*) FROM contents").fetchall() == [(0,)]


DELETE = """
import sys
from proctor_adapters.postgresql import PostgresStore, deletion

purge_rows, deletion.PIECE = deletion.purge_rows, 2

def wait_to_be_killed(db, piece):
    if piece[0] % 8:
        purge_rows(db, piece)
    else:
        print("contents are deleted, rows are not", flush=True)
        sys.stdin.readline()

deletion.purge_rows = wait_to_be_killed
PostgresStore(sys.argv[1]).delete("one")
"""


async def test_what_a_client_left_that_was_killed_while_it_deleted_harms_nobody_and_goes_with_the_next(
    address: str, store: PostgresStore
) -> None:
    ids = [f"s{number}" for number in range(40)]
    await fill(store, ids, a_record("one"))
    await fill(store, ids[:20], a_record("two"))
    await fill(store, ["other"], a_record("three"))
    await asyncio.to_thread(_delete_until_killed, address)
    assert {one.id for one in store.runs()} == {"two", "three"}
    assert [store.sample("two", id) for id in ids[:20]] == [a_sample(id) for id in ids[:20]]
    assert sum(1 for _ in store.history("two")) == 40
    assert _rows(address)["samples"] > 21
    store.delete("three")
    assert _rows(address) == {"samples": 20, "trials": 20, "scores": 20, "records": 40, "contents": 20}
    store.delete("two")
    assert not any(_rows(address).values())


def _delete_until_killed(address: str) -> None:
    command = [sys.executable, "-c", DELETE, address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert process.stdout.readline()
        process.kill()


async def test_while_two_clients_delete_another_writes_what_both_have(
    address: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "PIECE", 3)
    ids = [f"s{number}" for number in range(60)]
    clients = [PostgresStore(address) for _ in range(2)]
    for name in ("one", "two"):
        await fill(store, ids, a_record(name))
    await begun(store, [a_sample(id) for id in ids], a_record("live"))

    async def write() -> None:
        for id in ids:
            await store.add(a_trial(id, run="live"), [a_verdict(id, run="live")], a_sample(id))

    deleting = [asyncio.to_thread(client.delete, name) for client, name in zip(clients, ("one", "two"), strict=True)]
    await asyncio.gather(write(), *deleting)
    assert [store.sample("live", id) for id in ids] == [a_sample(id) for id in ids]
    assert _rows(address) == {"samples": 60, "trials": 60, "scores": 60, "records": 120, "contents": 60}
    await store.end(a_record("live"))
    for client in clients:
        client.close()


async def test_a_deletion_stands_in_the_queue_of_writers_once(
    address: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "PIECE", 1)
    await fill(store, [f"s{number}" for number in range(10)])
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'proctor.contents'::regclass"
    with psycopg.connect(address) as writer, psycopg.connect(address, autocommit=True) as db:
        writer.execute("LOCK TABLE proctor.contents IN ROW EXCLUSIVE MODE")
        deleting = asyncio.create_task(asyncio.to_thread(store.delete, "r"))
        async with asyncio.timeout(20):
            while db.execute(waiting).fetchone() == (0,):  # noqa: ASYNC110 - of the server
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # the others have had the time to follow
        assert db.execute(waiting).fetchone() == (1,)
        writer.commit()
        await deleting
    assert not any(_rows(address).values())


async def test_a_content_that_an_earlier_try_had_goes_with_its_run(address: str, store: PostgresStore) -> None:
    await begun(store, [a_sample("a")])
    await store.add(a_trial("a", outcome="provider_failed"), [], a_sample("a", tags={"level": "1"}))
    await store.add(a_trial("a"), [a_verdict("a")], a_sample("a"))
    await store.end(a_record())
    assert _rows(address)["contents"] == 2
    store.delete("r")
    assert _rows(address)["contents"] == 0


def _rows(address: str) -> dict[str, int]:
    """Return how many rows the tables have that a run fills."""
    with psycopg.connect(address, autocommit=True) as db:
        tables = ("samples", "trials", "scores", "records", "contents")
        return {table: db.execute(f"SELECT count(*) FROM proctor.{table}").fetchall()[0][0] for table in tables}


WRITE = """
import asyncio, sys
sys.path.insert(0, sys.argv[3])
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict
from proctor_adapters.postgresql import PostgresStore, deletion

async def go():
    store = PostgresStore(sys.argv[1])
    await store.begin(a_record())
    ids = [f"s{number}" for number in range(int(sys.argv[2]))]
    await store.plan("r", [a_sample(id) for id in ids])
    done = store.finished("r")
    left = [id for id in ids if (id, 0) not in done]
    print("begun", len(done), flush=True)
    for start in range(0, len(left), 16):
        group = left[start : start + 16]
        await asyncio.gather(*(store.add(a_trial(id), [a_verdict(id)]) for id in group))
        print(*group, flush=True)
    await store.end(a_record())
    print("ended", flush=True)

asyncio.run(go())
"""


def _writer(address: str, samples: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, address, str(samples), str(FAKES)], stdout=subprocess.PIPE, text=True
    )


def test_a_killed_client_leaves_what_was_acknowledged_and_no_lock(durable: PostgresServer) -> None:
    address, acknowledged = durable.database(), set[str]()
    for kill in range(3):
        with _writer(address, 600) as process:
            assert process.stdout is not None
            for count, line in enumerate(process.stdout):
                if count:
                    acknowledged.update(line.split())
                if count == 6 + kill:
                    process.kill()
                    break
        store = PostgresStore(address)
        assert {(id, 0) for id in acknowledged} <= store.finished("r")
        until = time.monotonic() + 20
        while store.writer("r") is not None:
            assert time.monotonic() < until
            time.sleep(0.01)
        store.close()
    with _writer(address, 600) as process:
        assert process.stdout is not None
        assert process.stdout.read().split()[-1] == "ended"
    store = PostgresStore(address)
    assert store.outcomes("r") == {"scored": 600}
    assert sum(1 for _ in store.history("r")) == 1_200
    store.close()


def test_a_killed_server_is_waited_for(durable: PostgresServer) -> None:
    address = durable.database()
    with _writer(address, 800) as process:
        assert process.stdout is not None
        acknowledged = set[str]()
        for count, line in enumerate(process.stdout):
            if count:
                acknowledged.update(line.split())
            if count in {8, 25}:
                durable.kill()
                time.sleep(0.2)
                durable.start()
                store = PostgresStore(address)
                assert {(id, 0) for id in acknowledged} <= store.finished("r")
                store.close()
    store = PostgresStore(address)
    assert store.outcomes("r") == {"scored": 800}
    assert sum(1 for _ in store.history("r")) == 1_600
    store.close()


async def test_a_server_that_stays_away_ends_the_run_with_a_sentence() -> None:
    gone = PostgresServer()
    store = PostgresStore(gone.database(), patience=0.3)
    await begun(store, [a_sample("fr")])
    gone.stop()
    with pytest.raises(BadInput, match="cannot be reached"):
        await store.add(a_trial("fr"))
    with pytest.raises(BadInput, match="cannot be reached"):
        store.runs()
    store.close()
