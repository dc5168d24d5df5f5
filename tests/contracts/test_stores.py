"""What every store promises, and what a copy from one to another does. A new store joins with a class, and one line in STORES."""

from collections.abc import Callable, Iterator
from pathlib import Path

import postgres_server
import pytest
from memory_store import MemoryStore

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial
from proctor.stores.copy import check_whole, copy
from proctor.stores.sqlite import SqliteStore
from proctor.testing import StoreContract
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun, fill

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "runs.db"),
    "memory": lambda _: MemoryStore(),
    "postgresql": postgres_server.store_at,
}


class TestSqlite(StoreContract):
    def open(self, folder: Path) -> Store:
        return STORES["sqlite"](folder)


class TestMemory(StoreContract):
    outlives_process = False

    def open(self, folder: Path) -> Store:
        return STORES["memory"](folder)


class TestPostgresql(StoreContract):
    def open(self, folder: Path) -> Store:
        return STORES["postgresql"](folder)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("target_name", STORES)
async def test_a_copy_is_the_whole_run(store: Store, target_name: str, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    target = STORES[target_name](tmp_path / "target")
    samples = [a_sample("a", tags={"k": "v"}), a_sample("b", cluster="x"), a_sample("c", cluster="x")]
    await begun(store, samples, a_record(attempts=2))
    await store.add(a_trial("b", outcome="skipped"))
    await store.add(a_trial("b"), [a_verdict("b", points=0)], samples[1])
    await store.judge([a_verdict("b", points=1)])
    await store.add(a_trial("a", 1, outcome="agent_failed"), (), samples[0])
    await store.end(a_record(attempts=2, state="stopped"))
    said = [Annotation(run_id="r", kind="baseline", name="b"), Annotation(run_id="r", sample_id="a", kind="review")]
    store.annotate([*said, Annotation(run_id="r", kind="baseline", name="taken")])
    await fill(target, [], a_record("other"))
    target.annotate([Annotation(run_id="other", kind="baseline", name="taken")])
    await copy(store, target, "r")
    assert sorted(target.annotations("r"), key=lambda one: one.kind) == said
    assert list(target.history("r")) == list(store.history("r"))
    assert target.run("r") == store.run("r")
    assert target.tallies("r", "exact") == store.tallies("r", "exact")
    assert [(one.id, one.cluster or one.id, one.tags) for one in target.planned("r")] == [
        (one.id, one.cluster or one.id, one.tags) for one in store.planned("r")
    ]
    with pytest.raises(BadInput, match="has a run 'r' already"):
        await copy(store, target, "r")
    target.close()


async def test_a_copy_that_fails_leaves_nothing(store: Store) -> None:
    class Torn(MemoryStore):
        async def add(self, trial: Trial, verdicts: object = (), sample: Sample | None = None) -> None:
            raise OSError("the line is cut")

    await fill(store, ["fr"])
    target = Torn()
    with pytest.raises(OSError, match="the line is cut"):
        await copy(store, target, "r")
    assert target.runs() == []


async def test_half_a_copy_is_begun_anew(store: Store) -> None:
    class Killed(MemoryStore):
        async def judge(self, verdicts: object) -> None:
            raise OSError("killed")  # what follows is not done either

        async def end(self, record: RunRecord) -> None:
            raise OSError("killed")

    await fill(store, ["fr", "es"])
    target = Killed()
    with pytest.raises(OSError, match="killed"):
        await copy(store, target, "r")
    assert target.run("r").state == "copying"
    with pytest.raises(BadInput, match="only half there"):
        check_whole(target.run("r"))
    half = MemoryStore()
    await half.begin(target.run("r"))
    await half.end(target.run("r"))
    await copy(store, half, "r")
    assert list(half.history("r")) == list(store.history("r"))
    assert half.run("r") == store.run("r")
