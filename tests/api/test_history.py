"""What stored runs know of samples decides which are drawn together, and how sure the mean of the draw is."""

import random
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import fmean

import pytest
from memory_store import MemoryStore
from msgspec.structs import replace

from proctor import Sample, Task, evaluate
from proctor.api import compare
from proctor.api.run import Run
from proctor.core.run import Selection
from proctor.core.shard import Shard
from proctor.reports.history import describe_sample, find_complete_runs, read_history
from proctor.stats.spread import SPREAD
from proctor_adapters.exports.inspect import write
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading
from proctor_ci.gate import gate

SAMPLES = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(200)]


def task(version: str = "1", samples: list[Sample] = SAMPLES) -> Task:
    return Task(name="quiz", version=version, samples=samples, scorers=["exact"])


def old(question: str) -> str:
    return "yes" if int(question) < 110 else "no"


def new(question: str) -> str:
    return "yes" if int(question) < 120 or question.endswith("7") else "no"


def shuffled(question: str) -> str:
    return "yes" if random.Random(question).random() < 0.55 else "no"


def far(question: str) -> str:
    """It fails a third of what the old agent knows, and knows a tenth of the rest."""
    return "yes" if random.Random(f"far {question}").random() < (0.67 if int(question) < 110 else 0.1) else "no"


def drawn(run: Run) -> set[str]:
    return {trial.sample_id for trial in run.trials()}


def width(run: Run) -> float:
    estimate = run.estimate("accuracy")
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


@pytest.fixture
def alone() -> Run:
    return evaluate(task(), agent=new, store=":memory:", limit=40)


def test_a_complete_run_narrows_the_interval_of_a_draw_and_says_so(store: str, alone: Run) -> None:
    evaluate(task(), agent=old, store=store)
    run = evaluate(task(), agent=new, store=store, limit=40)
    found = run.estimate("accuracy")
    assert found.method == SPREAD
    assert width(run) < 0.85 * width(alone)
    assert str(found.note).startswith("a stored run knows these samples: as good as ")
    assert "by themselves [" in str(found.note)


def test_several_runs_are_counted(store: str) -> None:
    for _ in range(3):
        evaluate(task(), agent=old, store=store)
    run = evaluate(task(), agent=new, store=store, limit=40)
    assert str(run.estimate("accuracy").note).startswith("3 stored runs know these samples")


def test_without_history_the_seed_alone_draws(store: str, alone: Run) -> None:
    evaluate(task(), agent=old, store=store, limit=100)  # incomplete
    evaluate(task(version="0"), agent=old, store=store)  # of another version
    run = evaluate(task(), agent=new, store=store, limit=40)
    assert drawn(run) == drawn(alone)
    assert run.estimates == alone.estimates


def test_a_history_that_tells_no_sample_from_another_changes_nothing(store: str, alone: Run) -> None:
    evaluate(task(), agent=lambda _: "no", store=store)
    run = evaluate(task(), agent=new, store=store, limit=40)
    assert drawn(run) == drawn(alone)
    assert run.estimates == alone.estimates


def test_a_wrong_history_narrows_no_interval(store: str, alone: Run) -> None:
    evaluate(task(), agent=shuffled, store=store)
    runs = [evaluate(task(), agent=new, store=store, limit=40, seed=seed) for seed in range(10)]
    assert all(run.record.strata is not None and run.record.strata.spread is not None for run in runs)
    assert fmean(map(width, runs)) > 0.92 * width(alone)


def test_a_history_that_gains_nothing_says_so(store: str) -> None:
    evaluate(task(), agent=shuffled, store=store)
    run = evaluate(task(), agent=lambda _: "yes", store=store, limit=40)
    note = str(run.estimate("accuracy").note)
    assert note.endswith("a stored run knows these samples, which makes the interval no narrower here")


def test_the_hardest_may_be_the_easiest_for_another_agent(store: str, alone: Run) -> None:
    """Only the order of the samples counts, whichever end is the hard one."""
    evaluate(task(), agent=lambda question: "no" if old(question) == "yes" else "yes", store=store)
    assert width(evaluate(task(), agent=new, store=store, limit=40)) < 0.85 * width(alone)


def test_the_same_limit_and_seed_draw_what_a_stored_run_drew(store: str) -> None:
    before = evaluate(task(), agent=old, store=store, limit=40)
    evaluate(task(), agent=old, store=store)
    assert drawn(evaluate(task(), agent=new, store=store, limit=40)) == drawn(before)
    spread = evaluate(task(), agent=old, store=store, limit=50)
    evaluate(task(), agent=shuffled, store=store)
    assert drawn(evaluate(task(), agent=new, store=store, limit=50)) == drawn(spread)


def test_a_larger_limit_contains_what_a_smaller_one_drew(store: str) -> None:
    evaluate(task(), agent=old, store=store)
    small, large = (evaluate(task(), agent=new, store=store, limit=limit) for limit in (20, 50))
    assert large.record.strata is not None
    assert large.record.strata.spread is not None
    assert drawn(small) < drawn(large)


def test_a_run_with_other_task_options_says_nothing_of_these_samples(store: str, alone: Run, tmp_path: Path) -> None:
    path = tmp_path / "quiz.py"
    path.write_text(
        """
from proctor import Sample, Task

def task(kind: str = "a") -> Task:
    samples = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(200)]
    return Task(name="quiz", samples=samples, scorers=["exact"])
"""
    )
    evaluate(f"{path}:task", agent=old, store=store, options={"kind": "b"})
    other = evaluate(f"{path}:task", agent=new, store=store, options={"kind": "b"}, limit=40)
    run = evaluate(f"{path}:task", agent=new, store=store, limit=40)
    assert drawn(run) == drawn(alone)
    assert drawn(run) != drawn(other)


@pytest.mark.parametrize(
    "samples", [SAMPLES[:150], [replace(sample, id=f"p{at}") for at, sample in enumerate(SAMPLES)]]
)
def test_what_was_drawn_from_other_samples_is_not_drawn_again(store: str, samples: list[Sample]) -> None:
    evaluate(task(), agent=old, store=store)
    evaluate(task(), agent=new, store=store, limit=40)
    run = evaluate(task(samples=samples), agent=new, store=store, limit=40)
    plain = evaluate(task(samples=samples), agent=new, store=":memory:", limit=40)
    assert drawn(run) == drawn(plain)


def test_samples_that_can_be_read_only_once_are_drawn_by_history_too(store: str) -> None:
    evaluate(task(), agent=old, store=store)
    listed = evaluate(task(), agent=new, store=store, limit=40)
    run = evaluate(replace(task(), samples=iter(SAMPLES)), agent=new, store=store, limit=30)
    assert len(drawn(run)) == 30
    assert drawn(run) < drawn(listed)


async def test_a_shard_is_no_complete_run(alone: Run) -> None:
    store, spec = MemoryStore(), replace(alone.record.spec, selection=Selection())
    for id, shard in (("whole", None), ("part", Shard(number=1, of=2))):
        await store.begin(replace(alone.record, id=id, spec=replace(spec, shard=shard)))
    assert [run.id for run in find_complete_runs(alone.record, store)] == ["whole"]


def test_no_history_is_read_of_a_task_too_large_to_sort(
    store: str, alone: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(task(), agent=old, store=store)
    monkeypatch.setattr(import_module("proctor.api.prepare"), "MOST_LAZY", 199)
    monkeypatch.setattr("proctor.reports.history.read_history", None)
    assert drawn(evaluate(task(), agent=new, store=store, limit=40)) == drawn(alone)


def test_few_samples_or_a_small_gain_are_given_no_number(store: str) -> None:
    evaluate(task(), agent=old, store=store)
    note = str(evaluate(task(), agent=new, store=store, limit=16).estimate("accuracy").note)
    assert note.startswith("a stored run knows these samples; by themselves [")


def test_samples_in_clusters_are_drawn_by_the_seed_alone(store: str) -> None:
    clustered = [
        Sample.ask(f"q{number}", str(number), target="yes", cluster=f"c{number // 4}") for number in range(200)
    ]
    evaluate(task(samples=clustered), agent=old, store=store)
    run = evaluate(task(samples=clustered), agent=new, store=store, limit=40)
    assert run.record.strata is not None
    assert run.record.strata.spread is None


def test_an_imported_log_feeds_the_draw_like_a_run(store: str, tmp_path: Path) -> None:
    """It may name version and scorer as it likes: only the draw rests on it."""
    kept = evaluate(task(), agent=old, store=":memory:")
    (log,) = write(kept.record, kept.store, tmp_path / "log.eval")
    import_log(log, store=store, run_id="imported", how=LogReading(task="quiz"))
    run = evaluate(task(), agent=new, store=store, limit=40)
    assert run.record.strata is not None
    assert run.record.strata.spread is not None
    assert str(run.estimate("accuracy").note).startswith("a stored run knows these samples")


def odd(question: str) -> str:
    return "yes" if int(question) % 2 else "no"


def test_many_runs_of_an_agent_count_as_one(store: str) -> None:
    for _ in range(4):
        evaluate(task(), agent=odd, store=store)
    kept = evaluate(task(), agent=old, store=store)
    history = read_history(replace(kept.record, id="new", agent="another"), kept.store)
    assert len(history.runs) == 5
    assert {history.expected[f"q{number}"] for number in range(200)} == {0.0, 0.5, 1.0}


def test_what_the_agent_itself_earned_counts_as_much_as_all_others(store: str) -> None:
    for agent in (odd, far, shuffled):
        evaluate(task(), agent=agent, store=store)
    kept = evaluate(task(), agent=old, store=store)
    expected = read_history(replace(kept.record, id="new"), kept.store).expected
    for number in range(200):
        others = fmean(agent(str(number)) == "yes" for agent in (odd, far, shuffled))
        assert expected[f"q{number}"] == pytest.approx((others + (number < 110)) / 2)


@pytest.mark.parametrize("floor", ["baseline:null", "baseline:oracle"])
def test_a_floor_is_no_system_that_knows_how_hard_samples_are(store: str, floor: str) -> None:
    evaluate(task(), agent=old, store=store)
    evaluate(task(), agent=floor, store=store)
    run = evaluate(task(), agent=new, store=store)
    assert [record.agent.rpartition(":")[2] for record in read_history(run.record, run.store).runs] == ["old"]
    known = describe_sample(run.record, run.store, "q0")
    assert known is not None
    assert (known.systems, known.mean) == (1, 1.0)
    again = evaluate(task(), agent=floor, store=store)
    assert len(read_history(again.record, again.store).runs) == 3  # to itself it is the agent


def test_an_agent_that_ran_often_leaves_room_for_others(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.reports.history.MOST_RUNS", 5)
    monkeypatch.setattr("proctor.reports.history.MOST_OWN_RUNS", 3)
    for agent in (far, shuffled, odd, odd, old, old, old, old):
        kept = evaluate(task(), agent=agent, store=store)
    for record, counts in (
        (replace(kept.record, id="new"), {old: 3, odd: 1, shuffled: 1}),
        (replace(kept.record, id="new", agent="another"), {old: 2, odd: 1, far: 1, shuffled: 1}),
    ):
        runs = read_history(record, kept.store).runs
        assert Counter(run.agent for run in runs) == {
            f"{agent.__module__}:{agent.__name__}": count for agent, count in counts.items()
        }


def test_a_run_that_finds_other_samples_hard_than_all_before_is_told(store: str) -> None:
    def known(seed: int) -> Callable[[str], str]:
        def answer(question: str) -> str:
            return "yes" if int(question) < 110 or random.Random(f"{seed}{question}").random() < 0.1 else "no"

        answer.__name__ = answer.__qualname__ = f"answer_{seed}"
        return answer

    for seed in range(8):
        evaluate(task(), agent=known(seed), store=store)
    like, unlike = (evaluate(task(), agent=agent, store=store, limit=40) for agent in (new, shuffled))
    assert "no longer fits" not in str(like.estimate("accuracy").note)
    assert "no longer fits" in str(unlike.estimate("accuracy").note)


def test_a_comparison_stays_what_it_is_when_complete_runs_are_stored(store: str) -> None:
    first = evaluate(task(), agent=old, store=":memory:", run_id="first")
    second = evaluate(task(), agent=far, store=store, limit=60)
    rows, rulings = compare(first, second).rows, gate(second, against=first).rulings
    evaluate(task(), agent=old, store=store)
    assert compare(first, second).rows == rows
    assert gate(second, against=first).rulings == rulings
