"""What every store promises. A new store joins with one line in STORES."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import postgres_server
import pytest
from memory_store import MemoryStore
from stored_runs import a_record, a_sample, a_trial, a_verdict, begun, fill

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import Failure, Trial, Verdict
from proctor.stores.copy import check_whole, copy
from proctor.stores.sqlite import SqliteStore

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "runs.db"),
    "memory": lambda _: MemoryStore(),
    "postgresql": postgres_server.store_at,
}
REOPENED = {"sqlite", "postgresql"}  # those that outlive the process


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


async def test_a_run_comes_back_with_its_trials_verdicts_and_samples(store: Store) -> None:
    sample = a_sample("fr", tags={"level": "1"})
    trial, verdict = a_trial("fr"), a_verdict("fr", points=0.5, reason=say("half of {what}", what="it"))
    await begun(store, [sample], a_record(scorers=("exact",)))
    await store.add(trial, [verdict], sample)
    await store.end(a_record(scorers=("exact",), planned=1, state="finished"))
    assert store.run("r") == a_record(scorers=("exact",), planned=1, state="finished")
    assert [record.id for record in store.runs()] == ["r"]
    assert list(store.trials("r")) == [trial]
    assert list(store.verdicts("r")) == [verdict]
    assert store.sample("r", "fr") == sample
    assert store.sample("r", "xx") is None


async def test_the_process_that_writes_a_run_is_known_until_it_ends(store: Store) -> None:
    assert store.writer("r") is None
    await begun(store, [a_sample("fr")])
    assert store.writer("r") == os.getpid()
    await store.end(a_record())
    assert store.writer("r") is None


@pytest.mark.parametrize("name", sorted(REOPENED))
async def test_a_trial_added_twice_is_there_once_after_reopening(name: str, tmp_path: Path) -> None:
    store = STORES[name](tmp_path)
    await begun(store, [a_sample("fr")])
    await asyncio.gather(store.add(a_trial("fr", seconds=1.0)), store.add(a_trial("fr", seconds=2.0)))
    await store.add(a_trial("fr", seconds=3.0))
    await store.end(a_record())
    store.close()
    again = STORES[name](tmp_path)
    assert [trial.seconds for trial in again.trials("r")] == [1.0]
    again.close()


async def test_the_newest_runs_come_first(store: Store) -> None:
    for id, created in (("old", 1.0), ("new", 3.0), ("middle", 2.0)):
        await fill(store, [], a_record(id, created=created))
    assert [record.id for record in store.runs()] == ["new", "middle", "old"]


@pytest.mark.parametrize("outcome", ["scored", "agent_failed"])
async def test_a_final_outcome_is_not_replaced(store: Store, outcome: str) -> None:
    await begun(store, [a_sample("fr")])
    first = a_trial("fr", outcome=outcome)  # type: ignore[arg-type]
    await store.add(first)
    await store.add(a_trial("fr", outcome="scored", seconds=5.0), [a_verdict("fr")])
    assert list(store.trials("r")) == [first]
    assert list(store.verdicts("r")) == []


async def test_a_retried_failure_is_replaced_and_kept_beside(store: Store) -> None:
    await begun(store, [a_sample("fr")])
    lost = a_trial("fr", outcome="provider_failed", failure=Failure(kind="timeout", reason="no reply"))
    await store.add(lost)
    await store.add(a_trial("fr"), [a_verdict("fr")], a_sample("fr"))
    assert list(store.trials("r")) == [a_trial("fr")]
    assert store.outcomes("r") == {"scored": 1}
    assert list(store.history("r")) == [lost, a_trial("fr"), a_verdict("fr")]


async def test_a_failure_retried_in_the_same_moment_is_replaced(store: Store) -> None:
    await begun(store, [a_sample("fr"), a_sample("de")])
    await asyncio.gather(
        store.add(a_trial("fr", outcome="provider_failed")),
        store.add(a_trial("de"), [a_verdict("de")]),
        store.add(a_trial("fr"), [a_verdict("fr", points=0)]),
    )
    assert [(trial.sample_id, trial.outcome) for trial in store.trials("r")] == [("fr", "scored"), ("de", "scored")]
    assert [verdict.sample_id for verdict in store.verdicts("r")] == ["fr", "de"]


async def test_what_is_finished_leaves_out_what_can_be_retried(store: Store) -> None:
    outcomes = {"a": "scored", "b": "agent_failed", "c": "provider_failed", "d": "skipped", "e": "cancelled"}
    await begun(store, [a_sample(id) for id in outcomes], a_record(attempts=2))
    for id, outcome in outcomes.items():
        await store.add(a_trial(id, 1, outcome))  # type: ignore[arg-type]
    assert store.finished("r") == {("a", 1), ("b", 1)}
    assert store.finished("r", failed_too=True) == {("a", 1), ("b", 1), ("c", 1)}
    assert store.finished("r", samples=["b", "c", "d"]) == {("b", 1)}
    assert store.finished("r", failed_too=True, samples=(id for id in ("c", "a"))) == {("a", 1), ("c", 1)}
    assert store.finished("r", samples=()) == set()


async def test_what_is_finished_of_some_samples_is_found_by_any_name(store: Store) -> None:
    ids = ["a\0b", "a", 'quo"te', "back\\slash", "首都"]
    await begun(store, [a_sample(id) for id in ids])
    for id in ids:
        await store.add(a_trial(id))
    for id in ids:
        assert store.finished("r", samples=[id]) == {(id, 0)}


async def test_usage_adds_up_and_costs_nothing_known_without_a_price(store: Store) -> None:
    await fill(store, ["fr", "de"])
    usage = store.usage("r")
    assert (usage.input_tokens, usage.requests, usage.cost) == (6, 2, None)


async def test_what_judges_and_earlier_tries_used_was_spent_too(store: Store) -> None:
    await begun(store, [a_sample("fr")])
    used = Usage(input_tokens=5, requests=1, cost=0.5)
    await store.add(msgspec.structs.replace(a_trial("fr", outcome="provider_failed"), usage=used))
    judged = msgspec.structs.replace(a_verdict("fr"), usage=Usage(output_tokens=2, requests=1))
    await store.add(msgspec.structs.replace(a_trial("fr"), usage=Usage(requests=1, cost=0.25)), [judged])
    await store.judge([msgspec.structs.replace(judged, usage=Usage(output_tokens=4, requests=3, cost=1.0))])
    assert store.usage("r") == Usage(input_tokens=5, output_tokens=6, requests=6, cost=1.75)


async def test_trials_come_in_the_order_of_the_plan(store: Store) -> None:
    ids = ["z", "a", "m", "10", "9"]
    await begun(store, [a_sample(id) for id in ids], a_record(attempts=2))
    await asyncio.gather(*(store.add(a_trial(id, attempt)) for attempt in (1, 0) for id in reversed(ids)))
    assert [(one.sample_id, one.attempt) for one in store.trials("r")] == [(id, n) for id in ids for n in (0, 1)]


async def test_more_trials_than_a_page_all_come(store: Store) -> None:
    ids = [f"s{number}" for number in range(300)]
    await fill(store, ids)
    assert [trial.sample_id for trial in store.trials("r")] == ids
    assert [verdict.sample_id for verdict in store.verdicts("r", scorer="exact")] == ids
    assert [value.sample_id for value in store.values("r", "exact")] == ids
    assert [sample.id for sample in store.planned("r")] == ids


async def test_trials_are_filtered(store: Store) -> None:
    await begun(store, [a_sample(id) for id in "abcd"])
    await store.add(a_trial("a"), [a_verdict("a", points=0.2), a_verdict("a", points=1, scorer="other")])
    await store.add(a_trial("b"), [a_verdict("b", points=0.8)])
    await store.add(a_trial("c", outcome="agent_failed"))
    await store.add(a_trial("d"), [a_verdict("d", points=None)])

    def ids(**filters: object) -> str:
        return "".join(trial.sample_id for trial in store.trials("r", **filters))  # type: ignore[arg-type]

    assert ids(outcome="scored") == "abd"
    assert ids(sample_id="b") == "b"
    assert ids(sample_id="nobody") == ""
    assert ids(scorer="exact", max_value=0.5) == "ac"
    assert ids(scorer="exact", outcome="scored", max_value=0.5) == "a"
    assert ids(min_value=0.5) == "ab"
    assert ids(scorer="exact", min_value=0.2, max_value=0.8) == "ab"
    assert ids(scorer="nobody", min_value=0.5) == ""


async def test_the_newest_verdict_counts_and_the_earlier_is_kept(store: Store) -> None:
    await fill(store, ["fr"])
    await store.begin(a_record())
    await store.judge([a_verdict("fr", points=0), a_verdict("fr", points=0, scorer="other")])
    await store.end(a_record())
    assert {(one.scorer, one.result.points) for one in store.verdicts("r") if isinstance(one.result, Score)} == {
        ("exact", 0),
        ("other", 0),
    }
    assert store.tallies("r", "exact")[""].total == 0
    assert [one.sample_id for one in store.verdicts("r", scorer="other", sample_id="fr")] == ["fr"]


async def test_a_tally_counts_what_happened(store: Store) -> None:
    tags = {"level": "1"}
    await begun(store, [a_sample("a", tags=tags), a_sample("b", tags=tags), a_sample("c"), a_sample("d")])
    await store.add(a_trial("a"), [a_verdict("a", points=3, out_of=4)])
    await store.add(a_trial("b", outcome="agent_failed"))
    await store.add(a_trial("c", outcome="provider_failed"))
    await store.add(a_trial("d"), [a_verdict("d", points=None)])
    found = store.tallies("r", "exact")
    assert set(found) == {"", "level=1"}
    whole, level = found[""], found["level=1"]
    assert (whole.scored, whole.planned, whole.total, whole.points, whole.out_of) == (2, 4, 0.75, 3, 5)
    assert (level.scored, level.planned, level.clusters, level.binary) == (2, 2, 2, False)


async def test_a_cluster_across_slices_is_one_in_the_whole(store: Store) -> None:
    levels = {"a": "1", "b": "2", "c": "2"}
    await begun(store, [a_sample(id, cluster="x", tags={"level": level}) for id, level in levels.items()])
    for id in levels:
        await store.add(a_trial(id), [a_verdict(id)])
    found = store.tallies("r", "exact")
    assert {slice: (one.clusters, one.samples, one.squares) for slice, one in found.items()} == {
        "": (1, 3, 9.0),
        "level=1": (1, 1, 1.0),
        "level=2": (1, 2, 4.0),
    }


async def test_a_sample_is_in_the_cluster_that_has_its_name(store: Store) -> None:
    await begun(store, [a_sample("a"), a_sample("b", cluster="a"), a_sample("c")])
    for id in "abc":
        await store.add(a_trial(id), [a_verdict(id)])
    assert store.tallies("r", "exact")[""].clusters == 2


async def test_attempts_beyond_those_asked_for_are_not_in_the_tally(store: Store) -> None:
    await begun(store, [a_sample("a")], a_record(attempts=2))
    for attempt in range(3):
        await store.add(a_trial("a", attempt), [a_verdict("a", attempt, points=attempt / 2)])
    tally = store.tallies("r", "exact")[""]
    assert (tally.scored, tally.planned, tally.samples, tally.total) == (2, 2, 1, 0.25)


@pytest.mark.parametrize("kinds", [3, 150])
async def test_a_tally_is_that_of_its_samples_whether_few_or_many_points_occur(store: Store, kinds: int) -> None:
    points = {f"s{number}": float(number % kinds) for number in range(150)}
    await begun(store, [a_sample(id, tags={"odd": str(value % 2)}) for id, value in points.items()])
    await asyncio.gather(*(store.add(a_trial(id), [a_verdict(id, points=points[id], out_of=kinds)]) for id in points))
    found = store.tallies("r", "exact")
    for slice, chosen in {"": (0, 1), "odd=0.0": (0,), "odd=1.0": (1,)}.items():
        wanted = tally(
            Case(cluster=id, values=(value / kinds,), planned=1, points=value, out_of=kinds)
            for id, value in points.items()
            if value % 2 in chosen
        )
        assert msgspec.structs.asdict(found[slice]) == pytest.approx(msgspec.structs.asdict(wanted)), slice


async def test_a_plan_that_grew_counts_in_the_tally(store: Store) -> None:
    await begun(store, [a_sample("fr")])
    await store.add(a_trial("fr"), [a_verdict("fr")])
    assert store.tallies("r", "exact")[""].planned == 1
    await store.plan("r", [a_sample("fr"), a_sample("de", tags={"level": "1"})])
    assert {slice: one.planned for slice, one in store.tallies("r", "exact").items()} == {"": 2, "level=1": 1}


async def test_a_scorer_that_was_never_asked_has_an_empty_tally(store: Store) -> None:
    await fill(store, ["fr", "de"])
    assert (store.tallies("r", "nobody")[""].scored, store.tallies("r", "nobody")[""].planned) == (0, 2)


async def test_values_say_why_there_is_none(store: Store) -> None:
    await begun(store, [a_sample(id, cluster="x" if id == "a" else None, tags={"n": id}) for id in "abcde"])
    await store.add(a_trial("a"), [a_verdict("a", points=0.25)])
    await store.add(a_trial("b", outcome="agent_failed"))
    await store.add(a_trial("c", outcome="user_failed"))
    await store.add(a_trial("d"), [a_verdict("d", points=None)])
    await store.add(a_trial("e"))
    assert [(one.sample_id, one.cluster, one.tags["n"], one.value, one.why) for one in store.values("r", "exact")] == [
        ("a", "x", "a", 0.25, ""),
        ("b", "b", "b", 0.0, ""),
        ("c", "c", "c", None, "user_failed"),
        ("d", "d", "d", None, "judge_failed"),
        ("e", "e", "e", None, "not_scored"),
    ]


async def test_a_plan_with_an_id_twice_is_refused(store: Store) -> None:
    await store.begin(a_record())
    with pytest.raises(BadInput, match="The sample id 'fr' is there twice"):
        await store.plan("r", [a_sample("fr"), a_sample("de"), a_sample("fr")])


async def test_planning_again_after_a_stop_is_the_same_plan(store: Store) -> None:
    await begun(store, [a_sample("fr")])  # stopped half-way
    samples = [a_sample("fr"), a_sample("de")]
    assert await store.plan("r", samples) == 2
    await store.add(a_trial("de"))
    assert await store.plan("r", samples) == 2
    assert store.finished("r") == {("de", 0)}


async def test_a_trial_of_no_planned_sample_is_refused_alone(store: Store) -> None:
    await begun(store, [a_sample("fr")])
    results = await asyncio.gather(store.add(a_trial("xx")), store.add(a_trial("fr")), return_exceptions=True)
    assert isinstance(results[0], BadInput)
    assert "'xx' is not in the plan" in str(results[0])
    assert [trial.sample_id for trial in store.trials("r")] == ["fr"]


async def test_an_open_run_is_not_opened_again(store: Store) -> None:
    await store.begin(a_record())
    with pytest.raises(BadInput, match="is open in"):
        await store.begin(a_record())
    await store.end(a_record())
    await store.begin(a_record())


async def test_a_record_saved_in_between_leaves_the_run_open(store: Store) -> None:
    await begun(store, [a_sample("fr")])
    await store.save(a_record(seconds=7.0))
    assert store.run("r").seconds == 7.0
    await store.add(a_trial("fr"))
    await store.end(a_record(seconds=8.0))
    assert (store.run("r").seconds, store.finished("r")) == (8.0, {("fr", 0)})


async def test_an_unknown_run_names_the_nearest(store: Store) -> None:
    await fill(store, [], a_record("capitals-0101"))
    asked: list[Callable[[str], object]] = [
        store.run,
        store.finished,
        store.outcomes,
        store.usage,
        store.annotations,
        store.version,
        store.delete,
    ]
    lazy: list[Callable[[str], Iterator[object]]] = [
        store.trials,
        store.verdicts,
        store.planned,
        store.history,
        store.stored,
    ]
    for read in (*asked, *(lambda name, read=read: list(read(name)) for read in lazy)):
        with pytest.raises(BadInput, match=r"capitals-0102.*Did you mean 'capitals-0101'"):
            read("capitals-0102")


async def test_a_deleted_run_leaves_the_others(store: Store) -> None:
    await fill(store, ["fr", "de"], a_record("one"))
    await fill(store, ["fr", "it"], a_record("two"))
    store.delete("one")
    assert [record.id for record in store.runs()] == ["two"]
    assert [trial.sample_id for trial in store.trials("two")] == ["fr", "it"]
    assert store.sample("two", "fr") == a_sample("fr")
    await fill(store, ["es"], a_record("one"))
    assert [trial.sample_id for trial in store.trials("one")] == ["es"]


async def test_what_was_stored_after_a_mark_comes_with_its_sample_and_verdicts(store: Store) -> None:
    samples = [a_sample("z", tags={"level": "1"}), a_sample("a"), a_sample("m")]
    await begun(store, samples, a_record(attempts=2))
    await store.add(a_trial("a"), [a_verdict("a"), a_verdict("a", scorer="b")], samples[1])
    await store.add(a_trial("z"), [a_verdict("z", points=0)], samples[0])
    first, second = store.stored("r")
    assert (first.position, first.sample, first.trial) == (0, samples[0], a_trial("z"))
    assert first.verdicts == (a_verdict("z", points=0),)
    assert [verdict.scorer for verdict in second.verdicts] == ["b", "exact"]
    assert first.mark == second.mark
    assert list(store.stored("r", after=first.mark)) == []
    await store.judge([a_verdict("z", points=1)])
    await store.add(a_trial("m", outcome="agent_failed"))
    again, new = store.stored("r", after=first.mark)
    assert (again.sample.id, again.verdicts) == ("z", (a_verdict("z", points=1),))
    assert (new.position, new.sample.id, new.verdicts) == (2, "m", ())
    assert [one.position for one in store.stored("r", start=1)] == [1, 2]
    await store.add(a_trial("a", 1))  # its sample came with the first attempt
    assert [one.sample for one in store.stored("r", start=1)][:2] == [samples[1], samples[1]]


async def test_the_version_of_a_run_changes_with_what_it_holds_only(store: Store) -> None:
    await fill(store, ["fr"], a_record("other"))
    await begun(store, [a_sample("fr"), a_sample("de")])
    seen = [store.version("r")]
    await store.add(a_trial("fr"), [a_verdict("fr")])
    seen.append(store.version("r"))
    await store.add(a_trial("de"))
    seen.append(store.version("r"))
    await store.judge([a_verdict("fr", points=0)])
    seen.append(store.version("r"))
    await store.end(a_record())
    assert len(set(seen)) == 4
    ended, other = store.version("r"), store.version("other")
    assert store.version("r") == ended
    await store.begin(a_record())
    await store.judge([a_verdict("fr")])
    await store.end(a_record())
    assert store.version("r") != ended
    assert store.version("other") == other
    store.delete("r")
    await fill(store, ["fr", "de"])
    assert store.version("r") != ended


async def test_what_people_say_is_kept_with_the_run_and_the_newest_of_a_key_counts(store: Store) -> None:
    await fill(store, ["fr", "de"], a_record("one"))
    await fill(store, ["fr"], a_record("two"))
    tag = Annotation(run_id="one", kind="tag", name="good", by="ann", created=1.0)
    label = Annotation(
        run_id="one", sample_id="fr", kind="label", name="exact", value=0.5, comment="half", by="bob", created=2.0
    )
    other = Annotation(run_id="two", kind="note", value="看 \x00 </script> \ud800", created=3.0)
    store.annotate([tag, label, other])
    clean = msgspec.structs.replace(other, value="看 \x00 </script> �")
    assert store.annotations("one") == [tag, label]
    assert store.annotations("one", sample_id="") == [tag]
    assert store.annotations("one", kind="label", sample_id="fr") == [label]
    assert store.annotations(kind="note") in ([clean], [other])
    store.annotate([msgspec.structs.replace(label, value=1.0, created=4.0)], [tag])
    assert [one.value for one in store.annotations("one")] == [1.0]
    assert list(store.verdicts("one", sample_id="fr")) == [a_verdict("fr", run="one")]
    for id in ("three", "one"):
        with pytest.raises(BadInput):
            store.annotate([tag, Annotation(run_id=id, sample_id="xx", kind="review")], [label])
    assert [one.value for one in store.annotations("one")] == [1.0]


@pytest.mark.parametrize("name", sorted(REOPENED))
async def test_what_people_say_about_an_open_run_is_there_after_reopening(name: str, tmp_path: Path) -> None:
    writing, saying = STORES[name](tmp_path), STORES[name](tmp_path)
    await begun(writing, [a_sample("fr")])
    tag = Annotation(run_id="r", kind="tag", name="good", created=1.0)
    saying.annotate([tag])
    saying.close()
    await writing.end(a_record())
    writing.close()
    again = STORES[name](tmp_path)
    assert again.annotations() == [tag]
    again.close()


async def test_what_people_said_goes_with_a_deleted_run(store: Store) -> None:
    await fill(store, ["fr"])
    store.annotate([Annotation(run_id="r", kind="tag", name="good"), Annotation(run_id="r", kind="baseline", name="b")])
    store.delete("r")
    assert store.annotations() == []
    await fill(store, ["fr"])
    assert store.annotations("r") == []


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


async def test_hostile_text_is_kept(store: Store) -> None:
    hostile = "nul \x00 escape \x1b[31m quote ' \" </script> 试 😀"
    await begun(store, [a_sample(hostile, tags={hostile: hostile}, cluster=hostile)])
    trial = a_trial(hostile, notes={hostile: [hostile]})
    verdict = a_verdict(hostile, scorer=hostile, reason=hostile)
    await store.add(trial, [verdict], a_sample(hostile))
    assert list(store.trials("r", sample_id=hostile)) == [trial]
    assert list(store.verdicts("r", scorer=hostile)) == [verdict]
    assert store.tallies("r", hostile)[f"{hostile}={hostile}"].scored == 1
    assert next(store.values("r", hostile)).cluster == hostile


async def test_two_runs_are_written_side_by_side(store: Store) -> None:
    await asyncio.gather(fill(store, ["fr"] * 1, a_record("one")), fill(store, ["fr"], a_record("two")))
    assert {trial.run_id for run in ("one", "two") for trial in store.trials(run)} == {"one", "two"}


def test_a_verdict_in_a_sentence_comes_back_as_one(store: Store) -> None:
    reason = say("Found: {why}", why=say("nothing of {name}", name="it"))
    verdict = Verdict(run_id="r", sample_id="fr", scorer="exact", result=Score(points=0, reason=reason))

    async def keep() -> None:
        await begun(store, [a_sample("fr")])
        await store.add(a_trial("fr"), [verdict])

    asyncio.run(keep())
    assert list(store.verdicts("r")) == [verdict]
