"""What every store promises."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Text, ToolResult
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Outcome, Trial, TrialFailure, Verdict
from proctor.testing._store_numbers import NumbersOfStore
from proctor.testing.loop import in_loop
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun, fill

FOUND, HALF = "Found: {why}", "half of {what}"  # sentences whose values a store keeps apart


def _with_files(data: bytes) -> Trajectory:
    """Return an answer with a file, after a result of a tool with others of the same bytes."""
    shot = File(name="a.png", media_type="image/png", data=data)
    files = (shot, File(name="no bytes"), msgspec.structs.replace(shot, name="again.png"))
    result = ToolResult(name="shoot", content="Done.", id="1", files=files)
    answer = Message(role="assistant", parts=(Text(text="See:"), shot))
    return Trajectory(steps=(Step(message=Message(role="tool", parts=(result,))), Step(message=answer)))


class StoreContract(NumbersOfStore, ABC):
    """Tests of a store; a subclass says how it is opened.

        class TestMyStore(StoreContract):
            def open(self, folder):
                return open_mine(folder / "runs")

    Attributes:
        outlives_process: False for a store that is empty when it is opened again.
    """

    outlives_process = True

    @abstractmethod
    def open(self, folder: Path) -> Store:
        """Open the store that is in `folder`, or make it there."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        opened = self.open(tmp_path)
        yield opened
        opened.close()

    @in_loop
    async def test_a_run_comes_back_with_its_trials_verdicts_and_samples(self, store: Store) -> None:
        sample = a_sample("fr", tags={"level": "1"})
        trial, verdict = a_trial("fr"), a_verdict("fr", points=0.5, reason=say(HALF, what="it"))
        await begun(store, [sample], a_record(scorers=("exact",)))
        await store.add(trial, [verdict], sample)
        await store.end(a_record(scorers=("exact",), planned=1, state="finished"))
        assert store.run("r") == a_record(scorers=("exact",), planned=1, state="finished")
        assert [record.id for record in store.runs()] == ["r"]
        assert list(store.trials("r")) == [trial]
        assert list(store.verdicts("r")) == [verdict]
        assert store.sample("r", "fr") == sample
        assert store.sample("r", "xx") is None

    @in_loop
    async def test_the_files_of_a_trial_come_back_byte_for_byte_and_go_with_their_run(self, store: Store) -> None:
        trials = [
            a_trial(id, trajectory=_with_files(data)) for id, data in zip("abc", (b"1" * 5_000, b"2", b""), strict=True)
        ]
        for run in ("r", "other"):
            await begun(store, [a_sample(id) for id in "abc"], a_record(run))
            for trial in trials:
                await store.add(msgspec.structs.replace(trial, run_id=run), [a_verdict(trial.sample_id, run=run)])
            await store.end(a_record(run))
        store.delete("other")
        assert list(store.trials("r")) == trials
        assert [kept for kept in store.history("r") if isinstance(kept, Trial)] == trials
        assert [stored.trial for stored in store.stored("r")] == trials

    @in_loop
    async def test_the_process_that_writes_a_run_is_known_until_it_ends(self, store: Store) -> None:
        assert store.writer("r") is None
        await begun(store, [a_sample("fr")])
        assert store.writer("r") == os.getpid()
        await store.end(a_record())
        assert store.writer("r") is None

    @in_loop
    async def test_a_trial_added_twice_is_there_once_after_reopening(self, tmp_path: Path) -> None:
        if not self.outlives_process:
            return
        store = self.open(tmp_path)
        await begun(store, [a_sample("fr")])
        await asyncio.gather(store.add(a_trial("fr", seconds=1.0)), store.add(a_trial("fr", seconds=2.0)))
        await store.add(a_trial("fr", seconds=3.0))
        await store.end(a_record())
        store.close()
        again = self.open(tmp_path)
        assert [trial.seconds for trial in again.trials("r")] == [1.0]
        again.close()

    @in_loop
    async def test_the_newest_runs_come_first(self, store: Store) -> None:
        for id, created in (("old", 1.0), ("new", 3.0), ("middle", 2.0)):
            await fill(store, [], a_record(id, created=created))
        assert [record.id for record in store.runs()] == ["new", "middle", "old"]

    @pytest.mark.parametrize("outcome", ["scored", "agent_failed"])
    @in_loop
    async def test_a_final_outcome_is_not_replaced(self, store: Store, outcome: Outcome) -> None:
        await begun(store, [a_sample("fr")])
        first = a_trial("fr", outcome=outcome)
        await store.add(first)
        await store.add(a_trial("fr", outcome="scored", seconds=5.0), [a_verdict("fr")])
        assert list(store.trials("r")) == [first]
        assert list(store.verdicts("r")) == []

    @in_loop
    async def test_a_retried_failure_is_replaced_and_kept_beside(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])
        lost = a_trial("fr", outcome="provider_failed", failure=TrialFailure(kind="timeout", reason="no reply"))
        await store.add(lost)
        await store.add(a_trial("fr"), [a_verdict("fr")], a_sample("fr"))
        assert list(store.trials("r")) == [a_trial("fr")]
        assert store.outcomes("r") == {"scored": 1}
        assert list(store.history("r")) == [lost, a_trial("fr"), a_verdict("fr")]

    @in_loop
    async def test_a_failure_retried_in_the_same_moment_is_replaced(self, store: Store) -> None:
        await begun(store, [a_sample("fr"), a_sample("de")])
        await asyncio.gather(
            store.add(a_trial("fr", outcome="provider_failed")),
            store.add(a_trial("de"), [a_verdict("de")]),
            store.add(a_trial("fr"), [a_verdict("fr", points=0)]),
        )
        assert [(trial.sample_id, trial.outcome) for trial in store.trials("r")] == [("fr", "scored"), ("de", "scored")]
        assert [verdict.sample_id for verdict in store.verdicts("r")] == ["fr", "de"]

    @in_loop
    async def test_a_plan_with_an_id_twice_is_refused(self, store: Store) -> None:
        await store.begin(a_record())
        with pytest.raises(BadInput, match="The sample id 'fr' is there twice"):
            await store.plan("r", [a_sample("fr"), a_sample("de"), a_sample("fr")])

    @in_loop
    async def test_planning_again_after_a_stop_is_the_same_plan(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])  # stopped half-way
        samples = [a_sample("fr"), a_sample("de")]
        assert await store.plan("r", samples) == 2
        await store.add(a_trial("de"))
        assert await store.plan("r", samples) == 2
        assert store.finished("r") == {("de", 0)}

    @in_loop
    async def test_a_trial_of_no_planned_sample_is_refused_alone(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])
        results = await asyncio.gather(store.add(a_trial("xx")), store.add(a_trial("fr")), return_exceptions=True)
        assert isinstance(results[0], BadInput)
        assert "'xx' is not in the plan" in str(results[0])
        assert [trial.sample_id for trial in store.trials("r")] == ["fr"]

    @in_loop
    async def test_an_open_run_is_not_opened_again(self, store: Store) -> None:
        await store.begin(a_record())
        with pytest.raises(BadInput, match="is open in"):
            await store.begin(a_record())
        await store.end(a_record())
        await store.begin(a_record())

    @in_loop
    async def test_a_record_saved_in_between_leaves_the_run_open(self, store: Store) -> None:
        await begun(store, [a_sample("fr")])
        await store.save(a_record(seconds=7.0))
        assert store.run("r").seconds == 7.0
        await store.add(a_trial("fr"))
        await store.end(a_record(seconds=8.0))
        assert (store.run("r").seconds, store.finished("r")) == (8.0, {("fr", 0)})

    @in_loop
    async def test_an_unknown_run_names_the_nearest(self, store: Store) -> None:
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

    @in_loop
    async def test_a_deleted_run_leaves_the_others(self, store: Store) -> None:
        await fill(store, ["fr", "de"], a_record("one"))
        await fill(store, ["fr", "it"], a_record("two"))
        store.delete("one")
        assert [record.id for record in store.runs()] == ["two"]
        assert [trial.sample_id for trial in store.trials("two")] == ["fr", "it"]
        assert store.sample("two", "fr") == a_sample("fr")
        await fill(store, ["es"], a_record("one"))
        assert [trial.sample_id for trial in store.trials("one")] == ["es"]

    @in_loop
    async def test_what_people_say_is_kept_with_the_run_and_the_newest_of_a_key_counts(self, store: Store) -> None:
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
        assert [annotation.value for annotation in store.annotations("one")] == [1.0]
        assert list(store.verdicts("one", sample_id="fr")) == [a_verdict("fr", run="one")]
        for id in ("three", "one"):
            with pytest.raises(BadInput):
                store.annotate([tag, Annotation(run_id=id, sample_id="xx", kind="review")], [label])
        assert [annotation.value for annotation in store.annotations("one")] == [1.0]

    @in_loop
    async def test_what_people_say_about_an_open_run_is_there_after_reopening(self, tmp_path: Path) -> None:
        if not self.outlives_process:
            return
        writing, saying = self.open(tmp_path), self.open(tmp_path)
        await begun(writing, [a_sample("fr")])
        tag = Annotation(run_id="r", kind="tag", name="good", created=1.0)
        saying.annotate([tag])
        saying.close()
        await writing.end(a_record())
        writing.close()
        again = self.open(tmp_path)
        assert again.annotations() == [tag]
        again.close()

    @in_loop
    async def test_what_people_said_goes_with_a_deleted_run(self, store: Store) -> None:
        await fill(store, ["fr"])
        store.annotate(
            [Annotation(run_id="r", kind="tag", name="good"), Annotation(run_id="r", kind="baseline", name="b")]
        )
        store.delete("r")
        assert store.annotations() == []
        await fill(store, ["fr"])
        assert store.annotations("r") == []

    @in_loop
    async def test_hostile_text_is_kept(self, store: Store) -> None:
        hostile = "nul \x00 escape \x1b[31m quote ' \" </script> 试 😀"
        await begun(store, [a_sample(hostile, tags={hostile: hostile}, cluster=hostile)])
        trial = a_trial(hostile, notes={hostile: [hostile]})
        verdict = a_verdict(hostile, scorer=hostile, reason=hostile)
        await store.add(trial, [verdict], a_sample(hostile))
        assert list(store.trials("r", sample_id=hostile)) == [trial]
        assert list(store.verdicts("r", scorer=hostile)) == [verdict]
        assert store.tallies("r", hostile)[f"{hostile}={hostile}"].scored == 1
        assert next(store.values("r", hostile)).cluster == hostile

    @in_loop
    async def test_two_runs_are_written_side_by_side(self, store: Store) -> None:
        await asyncio.gather(fill(store, ["fr"] * 1, a_record("one")), fill(store, ["fr"], a_record("two")))
        assert {trial.run_id for run in ("one", "two") for trial in store.trials(run)} == {"one", "two"}

    def test_a_verdict_in_a_sentence_comes_back_as_one(self, store: Store) -> None:
        reason = say(FOUND, why=say(HALF, what="it"))
        verdict = Verdict(run_id="r", sample_id="fr", scorer="exact", result=Score(points=0, reason=reason))

        async def keep() -> None:
            await begun(store, [a_sample("fr")])
            await store.add(a_trial("fr"), [verdict])

        asyncio.run(keep())
        assert list(store.verdicts("r")) == [verdict]
