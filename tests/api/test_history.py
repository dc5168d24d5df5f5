"""What stored runs know of samples decides which are drawn together, and how sure the mean of the draw is."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor import Sample, Task, evaluate
from proctor.api import compare
from proctor.api.run import Run
from proctor.reports.history import read_history
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


@pytest.mark.parametrize("wrong", [shuffled, lambda question: "no" if old(question) == "yes" else "yes"])
def test_a_wrong_history_keeps_the_interval_and_the_truth_in_it(
    store: str, alone: Run, wrong: Callable[[str], str]
) -> None:
    evaluate(task(), agent=wrong, store=store)
    truth = sum(new(str(number)) == "yes" for number in range(200)) / 200
    held = []
    for seed in range(10):
        run = evaluate(task(), agent=new, store=store, limit=40, seed=seed)
        found = run.estimate("accuracy")
        assert width(run) <= 1.1 * width(alone)
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= truth <= found.high)
    assert sum(held) >= 9


def test_the_same_limit_and_seed_draw_what_a_stored_run_drew(store: str) -> None:
    before = evaluate(task(), agent=old, store=store, limit=40)
    evaluate(task(), agent=old, store=store)
    assert drawn(evaluate(task(), agent=new, store=store, limit=40)) == drawn(before)
    spread = evaluate(task(), agent=old, store=store, limit=50)
    evaluate(task(), agent=shuffled, store=store)
    assert drawn(evaluate(task(), agent=new, store=store, limit=50)) == drawn(spread)


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


def test_many_runs_of_an_agent_count_as_one(store: str) -> None:
    for _ in range(4):
        evaluate(task(), agent=lambda question: "yes" if int(question) % 2 else "no", store=store)
    kept = evaluate(task(), agent=old, store=store)
    history = read_history(replace(kept.record, id="new"), kept.store)
    assert len(history.runs) == 5
    assert {history.expected[f"q{number}"] for number in range(200)} == {0.0, 0.5, 1.0}


def test_a_run_that_finds_other_samples_hard_than_all_before_is_told(store: str) -> None:
    def known(seed: int) -> Callable[[str], str]:
        def answer(question: str) -> str:
            return "yes" if int(question) < 110 or random.Random(f"{seed}{question}").random() < 0.1 else "no"

        answer.__name__ = answer.__qualname__ = f"answer_{seed}"
        return answer

    for seed in range(4):
        evaluate(task(), agent=known(seed), store=store)
    like, unlike = (evaluate(task(), agent=agent, store=store, limit=40) for agent in (new, shuffled))
    assert "no longer fits" not in str(like.estimate("accuracy").note)
    assert "no longer fits" in str(unlike.estimate("accuracy").note)


def test_a_comparison_is_adjusted_by_complete_runs_and_shows_the_plain_difference_too(store: str) -> None:
    first = evaluate(task(), agent=old, store=store)
    second = evaluate(task(), agent=far, store=store, limit=60)
    found = compare(first, second)
    plain = compare(first, evaluate(task(), agent=far, store=":memory:", limit=60, tags={}))
    note = next(str(one) for one in found.notes if "knows these samples" in str(one))
    assert note.startswith("A stored run knows these samples: the difference is as good as that of ")
    row = found.rows[0]
    assert row.second - row.first == pytest.approx(row.difference.value)
    ruling = gate(second, against=first).rulings[0]
    assert ruling.value == pytest.approx(row.difference.value)
    assert plain.rows[0].difference.value != row.difference.value


def test_a_comparison_of_complete_runs_stays_plain(store: str) -> None:
    first, second = (evaluate(task(), agent=agent, store=store) for agent in (old, far))
    evaluate(task(), agent=new, store=store)
    assert not any("know" in str(one) for one in compare(first, second).notes)
    assert not any("adjusted" in str(one) for one in gate(second, against=first).notes)


@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_history_does_not_adjust_a_comparison(store: str, seed: int) -> None:
    first = evaluate(task(), agent=old, store=":memory:")
    evaluate(task(), agent=shuffled, store=store)
    second = evaluate(task(), agent=far, store=store, limit=60, seed=seed)
    truth = sum((far(str(number)) == "yes") - (old(str(number)) == "yes") for number in range(200)) / 200
    difference = compare(first, second).rows[0].difference
    assert difference.low is not None
    assert difference.high is not None
    assert difference.low <= truth <= difference.high
