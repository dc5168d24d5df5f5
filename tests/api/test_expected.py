"""What stored runs know of samples when a run begins makes its looks more precise; what is stored later changes nothing."""

import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from msgspec.structs import replace

import proctor
from proctor import Run, Sample, Task
from proctor.core.run import KnownSamples, Looked
from proctor.core.sample import Message
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading
from proctor_ci.looks.expected import expect_differences
from proctor_ci.looks.steps import Between
from proctor_ci.stats.looks import BETTING_WITHOUT_REPLACEMENT

FEW, ALL = {"tokens": 400}, {"tokens": 100_000}
LUCK = 0.35
RULE = "accuracy not worse by 0.08"


def task(version: str = "1") -> Task:
    samples = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(300)]
    return Task(name="quiz", version=version, samples=samples, scorers=["exact"])


def never(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=0, out_of=1)


def system(name: str) -> Callable[[str], list[Step]]:
    """Return a system that fails the last fifth as all do, unless luck decides; an answer takes ten tokens."""

    def answer(question: str) -> list[Step]:
        source = random.Random(f"{name} {question}")
        is_right = source.random() < 0.8 if source.random() < LUCK else int(question) < 240
        return [Step(message=Message.of("assistant", "yes" if is_right else "no"), usage=Usage(output_tokens=10))]

    answer.__qualname__ = answer.__name__ = name
    return answer


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    def start(name: str, **given: object) -> Run:
        given = {"store": str(tmp_path / "runs.db"), "concurrency": 4, "task": task(), "run_id": name, **given}
        return proctor.evaluate(given.pop("task"), agent=system(name), **given)  # type: ignore[arg-type]  # options of each case

    return start


def looked(found: Run) -> Looked:
    assert found.record.looked is not None
    return found.record.looked


def test_stored_runs_decide_sooner_and_it_is_said(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("old", *(f"other{number}" for number in range(6))):
        run(name)
    known = run("new", until=RULE, against="old", run_id="known")
    monkeypatch.setattr(import_module("proctor_ci.looks.rules"), "know_samples", lambda *_: None)
    plain = run("new", until=RULE, against="old", run_id="plain")
    assert known.record.known is not None
    assert sorted(known.record.known.runs) == [f"other{number}" for number in range(6)]
    assert looked(known).decision == looked(plain).decision == "go"
    assert looked(known).steps < looked(plain).steps
    assert looked(known).times > 1.1
    said = f"7 stored runs know these samples: at the last look as good as {looked(known).times:.1f} times as many"
    assert said in str(known)
    assert "know these samples" not in str(plain)


def test_what_is_stored_later_changes_no_number(run: Callable[..., Run], tmp_path: Path) -> None:
    run("old")
    begun = run("new", until=RULE, against="old", budget=FEW)
    assert looked(begun).decision is None
    run("later")
    resumed = run("new", until=RULE, against="old", budget=ALL)
    elsewhere = str(tmp_path / "elsewhere.db")
    run("old", store=elsewhere)
    at_once = run("new", until=RULE, against="old", store=elsewhere)
    assert resumed.record.known == begun.record.known == at_once.record.known == KnownSamples()
    assert replace(looked(resumed), saved=0) == replace(looked(at_once), saved=0)


def test_a_run_that_was_begun_without_such_a_record_stays_as_it_was(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("old")
    with monkeypatch.context() as patch:
        patch.setattr(import_module("proctor_ci.looks.rules"), "know_samples", lambda *_: None)
        run("new", until=RULE, against="old", budget=FEW)
    resumed = run("new", until=RULE, against="old", budget=ALL)
    assert resumed.record.known is None
    assert looked(resumed).times == 1


def test_another_version_knows_nothing_of_these_samples(run: Callable[..., Run]) -> None:
    run("old")
    run("other", task=task(version="2"))
    run("part", limit=100)
    found = run("new", until=RULE, against="old")
    assert found.record.known == KnownSamples()


def test_a_threshold_and_a_suite_are_decided_plainly(run: Callable[..., Run]) -> None:
    run("old")
    assert run("new", until="accuracy >= 0.5", run_id="a").record.known is None
    assert run("new", until=RULE, against="old", target="suite", run_id="b").record.known is None


def test_a_run_that_is_resumed_about_the_suite_is_decided_plainly(run: Callable[..., Run]) -> None:
    run("old")
    run("new", until=RULE, against="old", budget=FEW)
    resumed = run("new", until=RULE, against="old", budget=ALL, target="suite")
    assert looked(resumed).method == BETTING_WITHOUT_REPLACEMENT
    assert looked(resumed).times == 1


def test_what_runs_know_of_few_samples_is_not_counted(run: Callable[..., Run], tmp_path: Path) -> None:
    run("old")
    log = tmp_path / "few.jsonl"
    log.write_text("".join(f'{{"id": "q{number}", "passed": ["x"], "failed": []}}\n' for number in range(100)))
    import_log(log, store=str(tmp_path / "runs.db"), how=LogReading(task="quiz"))
    assert run("new", until=RULE, against="old").record.known == KnownSamples()


def test_only_samples_of_the_baseline_are_recorded_by_the_scorer_of_the_rule(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    scored = replace(task(), scorers=["exact", never])
    run("old", task=scored)
    run("other", task=scored)
    log = tmp_path / "more.jsonl"
    log.write_text("".join(f'{{"id": "{number}", "passed": ["x"], "failed": []}}\n' for number in range(9)))
    import_log(log, store=str(tmp_path / "runs.db"), how=LogReading(task="quiz"))
    known = run("new", until="never not worse by 0.08", against="old", task=scored).record.known
    assert known is not None
    assert known.earned.keys() == {f"q{number}" for number in range(300)}
    assert {*known.earned.values()} == {0.0}


def test_a_baseline_that_was_lucky_is_expected_to_lose() -> None:
    old = {"a": Between(1.0, 1.0), "b": Between(0.0, 0.0), "c": Between(1.0, 1.0)}
    known = KnownSamples(runs=("x",), systems=4, earned={"a": 0.0, "c": 1.0})
    expected = expect_differences(old, known)
    assert expected["a"] < expected["c"] < expected["b"]
    few = KnownSamples(runs=("x",), systems=4, earned={"a": 0.0})
    assert expect_differences(old, few) == expect_differences(old, KnownSamples())
    assert expect_differences({}, known) == {}
