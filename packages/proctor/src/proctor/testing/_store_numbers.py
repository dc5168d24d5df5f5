"""What a store promises of what it counts: plans, outcomes, usage, tallies and values."""

import asyncio
from typing import Any

import msgspec
import pytest

from proctor.core.score import Score
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import Outcome
from proctor.testing.loop import in_loop
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun, fill


class NumbersOfStore:
    """Part of `StoreContract`."""

    @in_loop
    async def test_what_is_finished_leaves_out_what_can_be_retried(self, store: Store) -> None:
        outcomes: dict[str, Outcome] = {
            "a": "scored",
            "b": "agent_failed",
            "c": "provider_failed",
            "d": "skipped",
            "e": "cancelled",
        }
        await begun(store, [a_sample(id) for id in outcomes], a_record(attempts=2))
        for id, outcome in outcomes.items():
            await store.add(a_trial(id, 1, outcome))
        assert store.finished("r") == {("a", 1), ("b", 1)}
        assert store.finished("r", failed_too=True) == {("a", 1), ("b", 1), ("c", 1)}
        assert store.finished("r", samples=["b", "c", "d"]) == {("b", 1)}
        assert store.finished("r", failed_too=True, samples=(id for id in ("c", "a"))) == {("a", 1), ("c", 1)}
        assert store.finished("r", samples=()) == set()

    @in_loop
    async def test_what_is_finished_of_some_samples_is_found_by_any_name(self, store: Store) -> None:
        ids = ["a\0b", "a", 'quo"te', "back\\slash", "首都"]
        await begun(store, [a_sample(id) for id in ids])
        for id in ids:
            await store.add(a_trial(id))
        for id in ids:
            assert store.finished("r", samples=[id]) == {(id, 0)}

    @in_loop
    async def test_usage_adds_up_and_costs_nothing_known_without_a_price(self, store: Store) -> None:
        await fill(store, ["fr", "de"])
        usage = store.usage("r")
        assert (usage.input_tokens, usage.requests, usage.cost) == (6, 2, None)

    @in_loop
    async def test_what_judges_and_earlier_tries_used_was_spent_too(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])
        used = Usage(input_tokens=5, requests=1, cost=0.5)
        await store.add(msgspec.structs.replace(a_trial("fr", outcome="provider_failed"), usage=used))
        judged = msgspec.structs.replace(a_verdict("fr"), usage=Usage(output_tokens=2, requests=1))
        await store.add(msgspec.structs.replace(a_trial("fr"), usage=Usage(requests=1, cost=0.25)), [judged])
        await store.judge([msgspec.structs.replace(judged, usage=Usage(output_tokens=4, requests=3, cost=1.0))])
        assert store.usage("r") == Usage(input_tokens=5, output_tokens=6, requests=6, cost=1.75)

    @in_loop
    async def test_trials_come_in_the_order_of_the_plan(self, store: Store) -> None:
        ids = ["z", "a", "m", "10", "9"]
        await begun(store, [a_sample(id) for id in ids], a_record(attempts=2))
        await asyncio.gather(*(store.add(a_trial(id, attempt)) for attempt in (1, 0) for id in reversed(ids)))
        assert [(trial.sample_id, trial.attempt) for trial in store.trials("r")] == [
            (id, n) for id in ids for n in (0, 1)
        ]

    @in_loop
    async def test_more_trials_than_a_page_all_come(self, store: Store) -> None:
        ids = [f"s{number}" for number in range(300)]
        await fill(store, ids)
        assert [trial.sample_id for trial in store.trials("r")] == ids
        assert [verdict.sample_id for verdict in store.verdicts("r", scorer="exact")] == ids
        assert [value.sample_id for value in store.values("r", "exact")] == ids
        assert [sample.id for sample in store.planned("r")] == ids

    @in_loop
    async def test_trials_are_filtered(self, store: Store) -> None:
        await begun(store, [a_sample(id) for id in "abcd"])
        await store.add(a_trial("a"), [a_verdict("a", points=0.2), a_verdict("a", points=1, scorer="other")])
        await store.add(a_trial("b"), [a_verdict("b", points=0.8)])
        await store.add(a_trial("c", outcome="agent_failed"))
        await store.add(a_trial("d"), [a_verdict("d", points=None)])

        def ids(**filters: Any) -> str:
            return "".join(trial.sample_id for trial in store.trials("r", **filters))

        assert ids(outcome="scored") == "abd"
        assert ids(sample_id="b") == "b"
        assert ids(sample_id="nobody") == ""
        assert ids(scorer="exact", max_value=0.5) == "ac"
        assert ids(scorer="exact", outcome="scored", max_value=0.5) == "a"
        assert ids(min_value=0.5) == "ab"
        assert ids(scorer="exact", min_value=0.2, max_value=0.8) == "ab"
        assert ids(scorer="nobody", min_value=0.5) == ""

    @in_loop
    async def test_the_newest_verdict_counts_and_the_earlier_is_kept(self, store: Store) -> None:
        await fill(store, ["fr"])
        await store.begin(a_record())
        await store.judge([a_verdict("fr", points=0), a_verdict("fr", points=0, scorer="other")])
        await store.end(a_record())
        assert {
            (verdict.scorer, verdict.result.points)
            for verdict in store.verdicts("r")
            if isinstance(verdict.result, Score)
        } == {
            ("exact", 0),
            ("other", 0),
        }
        assert store.tallies("r", "exact")[""].total == 0
        assert [verdict.sample_id for verdict in store.verdicts("r", scorer="other", sample_id="fr")] == ["fr"]

    @in_loop
    async def test_a_tally_counts_what_happened(self, store: Store) -> None:
        tags = {"level": "1"}
        await begun(store, [a_sample("a", tags=tags), a_sample("b", tags=tags), a_sample("c"), a_sample("d")])
        await store.add(a_trial("a"), [a_verdict("a", points=3, out_of=4)])
        await store.add(a_trial("b", outcome="agent_failed"))
        await store.add(a_trial("c", outcome="provider_failed"))
        await store.add(a_trial("d"), [a_verdict("d", points=None)])
        tallies = store.tallies("r", "exact")
        assert set(tallies) == {"", "level=1"}
        whole, level = tallies[""], tallies["level=1"]
        assert (whole.scored, whole.planned, whole.total, whole.points, whole.out_of) == (2, 4, 0.75, 3, 5)
        assert (level.scored, level.planned, level.clusters, level.binary) == (2, 2, 2, False)

    @in_loop
    async def test_a_cluster_across_slices_is_one_in_the_whole(self, store: Store) -> None:
        levels = {"a": "1", "b": "2", "c": "2"}
        await begun(store, [a_sample(id, cluster="x", tags={"level": level}) for id, level in levels.items()])
        for id in levels:
            await store.add(a_trial(id), [a_verdict(id)])
        tallies = store.tallies("r", "exact")
        assert {slice: (one.clusters, one.samples, one.squares) for slice, one in tallies.items()} == {
            "": (1, 3, 9.0),
            "level=1": (1, 1, 1.0),
            "level=2": (1, 2, 4.0),
        }

    @in_loop
    async def test_a_sample_is_in_the_cluster_that_has_its_name(self, store: Store) -> None:
        await begun(store, [a_sample("a"), a_sample("b", cluster="a"), a_sample("c")])
        for id in "abc":
            await store.add(a_trial(id), [a_verdict(id)])
        assert store.tallies("r", "exact")[""].clusters == 2

    @in_loop
    async def test_attempts_beyond_those_asked_for_are_not_in_the_tally(self, store: Store) -> None:
        await begun(store, [a_sample("a")], a_record(attempts=2))
        for attempt in range(3):
            await store.add(a_trial("a", attempt), [a_verdict("a", attempt, points=attempt / 2)])
        tally = store.tallies("r", "exact")[""]
        assert (tally.scored, tally.planned, tally.samples, tally.total) == (2, 2, 1, 0.25)

    @pytest.mark.parametrize("kinds", [3, 150])
    @in_loop
    async def test_a_tally_is_that_of_its_samples_whether_few_or_many_points_occur(
        self, store: Store, kinds: int
    ) -> None:
        points = {f"s{number}": float(number % kinds) for number in range(150)}
        await begun(store, [a_sample(id, tags={"odd": str(value % 2)}) for id, value in points.items()])
        await asyncio.gather(
            *(store.add(a_trial(id), [a_verdict(id, points=points[id], out_of=kinds)]) for id in points)
        )
        tallies = store.tallies("r", "exact")
        for slice, chosen in {"": (0, 1), "odd=0.0": (0,), "odd=1.0": (1,)}.items():
            wanted = tally(
                Case(cluster=id, values=(value / kinds,), planned=1, points=value, out_of=kinds)
                for id, value in points.items()
                if value % 2 in chosen
            )
            assert msgspec.structs.asdict(tallies[slice]) == pytest.approx(msgspec.structs.asdict(wanted)), slice

    @in_loop
    async def test_a_plan_that_grew_counts_in_the_tally(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])
        await store.add(a_trial("fr"), [a_verdict("fr")])
        assert store.tallies("r", "exact")[""].planned == 1
        await store.plan("r", [a_sample("fr"), a_sample("de", tags={"level": "1"})])
        assert {slice: one.planned for slice, one in store.tallies("r", "exact").items()} == {"": 2, "level=1": 1}

    @in_loop
    async def test_a_scorer_that_was_never_asked_has_an_empty_tally(self, store: Store) -> None:
        await fill(store, ["fr", "de"])
        assert (store.tallies("r", "nobody")[""].scored, store.tallies("r", "nobody")[""].planned) == (0, 2)

    @in_loop
    async def test_values_say_why_there_is_none(self, store: Store) -> None:
        await begun(store, [a_sample(id, cluster="x" if id == "a" else None, tags={"n": id}) for id in "abcde"])
        await store.add(a_trial("a"), [a_verdict("a", points=0.25)])
        await store.add(a_trial("b", outcome="agent_failed"))
        await store.add(a_trial("c", outcome="user_failed"))
        await store.add(a_trial("d"), [a_verdict("d", points=None)])
        await store.add(a_trial("e"))
        assert [
            (value.sample_id, value.cluster, value.tags["n"], value.value, value.why)
            for value in store.values("r", "exact")
        ] == [
            ("a", "x", "a", 0.25, ""),
            ("b", "b", "b", 0.0, ""),
            ("c", "c", "c", None, "user_failed"),
            ("d", "d", "d", None, "judge_failed"),
            ("e", "e", "e", None, "not_scored"),
        ]

    @in_loop
    async def test_what_was_stored_after_a_mark_comes_with_its_sample_and_verdicts(self, store: Store) -> None:
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
        assert [trial.position for trial in store.stored("r", start=1)] == [1, 2]
        await store.add(a_trial("a", 1))  # its sample came with the first attempt
        assert [trial.sample for trial in store.stored("r", start=1)][:2] == [samples[1], samples[1]]

    @in_loop
    async def test_the_version_of_a_run_changes_with_what_it_holds_only(self, store: Store) -> None:
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
