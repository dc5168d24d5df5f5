import json
from pathlib import Path
from typing import Any

import example_runs
import msgspec
import pytest
from memory_store import MemoryStore

from proctor import Task, Trajectory, evaluate
from proctor.api.report import write_report
from proctor.core.errors import ProviderFailed
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Usage
from proctor.reports.build import ReportData, build, json_summary


async def small() -> tuple[ReportData, MemoryStore]:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    return build(run, store, estimates), store


async def test_outcomes_are_counted_and_what_was_not_run_yet_is_one_of_them() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    report = build(msgspec.structs.replace(run, planned=10), store, estimates)
    assert report.outcomes == {"scored": 5, "agent_failed": 1, "provider_failed": 1, "not_run": 3}


async def test_errors_are_counted_by_class_and_type() -> None:
    report, _ = await small()
    assert {(error.error_class, error.error_type): error.count for error in report.errors} == {
        ("wrong_param_value", "value_error:others"): 1,
        ("missing_call", "parallel:wrong_count"): 1,
        ("unnecessary_call", ""): 1,
        ("agent_failed", "raised"): 1,
    }
    assert report.failed == 4


async def test_a_failure_of_the_endpoint_and_a_broken_scorer_are_no_failed_samples() -> None:
    report, _ = await small()
    assert {one.sample_id for one in report.failures} == {
        "simple_python_1",
        "parallel_0",
        "irrelevance_0",
        "irrelevance_1",
    }
    assert [(one.what, one.kind, one.count) for one in report.unmeasured] == [
        ("provider_failed", "status_503", 1),
        ("scorer_failed", "bfcl", 1),
    ]


async def test_the_sections_go_from_the_whole_to_the_small() -> None:
    report, _ = await small()
    assert [section.key for section in report.sections] == ["", "official", "group", "category"]
    assert [one.name for one in report.headline] == ["accuracy", "official_overall"]


async def test_the_headline_of_several_scorers_has_one_number_each() -> None:
    store = MemoryStore()
    run, _ = await example_runs.small_run(store)
    names = ("exact.accuracy", "rouge.score", "rouge.points")
    report = build(
        msgspec.structs.replace(run, scorers=("exact", "rouge")),
        store,
        [Estimate(name=name, value=0.5) for name in names],
    )
    assert [one.name for one in report.headline] == ["exact.accuracy", "rouge.score"]
    assert [one.name for one in report.sections[0].estimates] == list(names)


async def test_numbers_beside_the_verdict_are_averaged() -> None:
    report, _ = await small()
    (one,) = report.details
    assert (one.name, one.estimate.value, one.estimate.scored) == ("parameter_accuracy", 0.75, 2)
    assert one.estimate.low is not None


async def test_what_a_reader_must_know_is_noted() -> None:
    report, _ = await small()
    assert [str(note) for note in report.notes] == [
        "Trials without a result: 1 of 7; floor and ceiling say what they could change.",
        "Trials in which the agent failed: 1; they count as 0.",
        "Verdicts that a scorer or judge could not give: 1; they are missing, not 0.",
        "The official overall number counts categories that were not run as 0; compare it with care.",
        "A file differs.",
    ]


@pytest.mark.parametrize(
    ("state", "start"), [("inconclusive", "This run is inconclusive"), ("stopped", "This run is not finished")]
)
async def test_a_run_that_did_not_end_well_says_so(state: Any, start: str) -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    report = build(msgspec.structs.replace(run, state=state), store, estimates)
    assert str(report.notes[0]).startswith(start)


async def test_why_a_run_stopped_is_the_first_note() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    report = build(msgspec.structs.replace(run, note=say("The budget is spent.")), store, estimates)
    assert str(report.notes[0]) == "The budget is spent."


async def test_only_so_many_failures_are_kept_and_every_kind_of_error_has_its_share() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.large_run(store, 600)
    report = build(run, store, estimates, failures=12)
    assert len(report.failures) == 12
    assert report.failed == sum(error.count for error in report.errors) > 100
    assert {one.error for one in report.failures} == {(error.error_class, error.error_type) for error in report.errors}


async def test_many_kinds_of_error_are_kept_in_a_bounded_table() -> None:
    store = MemoryStore()
    run = example_runs.record("many", planned=300)
    rows = [
        example_runs.played(
            "many", Sample.ask(str(n), "?"), Score(points=0, details={"error_class": "x", "error_type": str(n)})
        )
        for n in range(300)
    ]
    report = build(run, store, await example_runs.fill(store, run, rows))
    assert len(report.errors) <= 101
    assert sum(error.count for error in report.errors) == report.failed == 300


async def test_several_attempts_and_scorers_of_one_sample_are_one_failure_for_each_attempt() -> None:
    store = MemoryStore()
    run = example_runs.record("twice", planned=2, spec={"attempts": 2}, scorers=("exact", "short"))
    sample = Sample.ask("a", "?", target="x")
    rows = []
    for attempt in range(2):
        _, trial, verdicts = example_runs.played(
            "twice", sample, Score(points=0, reason="no"), scorer="exact", attempt=attempt
        )
        verdicts.append(msgspec.structs.replace(verdicts[0], scorer="short", result=Score(points=attempt)))
        rows.append((sample, trial, verdicts))
    report = build(run, store, await example_runs.fill(store, run, rows))
    assert report.failed == 2
    assert [(one.attempt, [found.value for found in one.findings]) for one in report.failures] == [
        (0, [0, 0]),
        (1, [0, 1]),
    ]


async def test_an_agent_without_a_verdict_tells_its_failure() -> None:
    report, _ = await small()
    (one,) = (one for one in report.failures if one.outcome == "agent_failed")
    assert one.failure is not None
    assert str(one.failure.reason) == "The agent raised ValueError: no"


async def test_options_that_may_be_secret_are_hidden() -> None:
    report, _ = await small()
    assert {fact.name: fact.text for fact in report.options} == {
        "task.mode": "native",
        "agent.temperature": "0",
        "agent.api_key": "•••",
    }


@pytest.mark.parametrize("name", ["apikey", "x-api-key", "subscription_key", "passwd", "headers", "auth"])
async def test_an_option_that_is_called_like_a_key_is_hidden(name: str) -> None:
    store = MemoryStore()
    run = example_runs.record("empty", planned=0, state="stopped")
    run = msgspec.structs.replace(
        run, spec=msgspec.structs.replace(run.spec, agent_options={name: "abcd", "max_tokens": 5})
    )
    report = build(run, store, await example_runs.fill(store, run, []))
    facts = {fact.name: fact.text for fact in report.options}
    assert (facts[f"agent.{name}"], facts["agent.max_tokens"]) == ("•••", "5")


async def test_an_empty_run_is_a_report_too() -> None:
    store = MemoryStore()
    run = example_runs.record("empty", planned=0, state="stopped")
    report = build(run, store, await example_runs.fill(store, run, []))
    assert report.seconds is None
    assert report.failures == ()


async def test_median_and_percentile_are_those_of_trials_that_were_played() -> None:
    store = MemoryStore()
    run = example_runs.record("times", planned=102)
    rows = [
        example_runs.played("times", Sample.ask(str(n), "?"), Score(points=1), seconds=float(n)) for n in range(101)
    ]
    rows.append(example_runs.played("times", Sample.ask("slow", "?"), outcome="provider_failed", seconds=1e6))
    report = build(run, store, await example_runs.fill(store, run, rows))
    assert report.seconds is not None
    assert (report.seconds.count, report.seconds.median, report.seconds.p95) == (101, 50.0, 95.0)


async def test_the_summary_has_exactly_the_promised_keys_and_is_json() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    summary = json.loads(json.dumps(json_summary(run, store, estimates), allow_nan=False))
    keys = ["run", "task", "agent", "state", "note", "outcomes", "estimates", "usage", "seconds", "target"]
    assert list(summary) == keys
    assert summary["outcomes"] == {"scored": 5, "agent_failed": 1, "provider_failed": 1}
    assert set(summary["estimates"][0]) == set(Estimate.__struct_fields__)
    assert msgspec.convert(summary["usage"], Usage).input_tokens == 7 * 412


async def test_a_report_survives_json() -> None:
    report, _ = await small()
    assert b"parallel_0" in msgspec.json.encode(report.failures)


async def test_a_run_that_is_unscored_throughout_has_no_headline_value() -> None:
    store = MemoryStore()
    run = example_runs.record("unscored", planned=1)
    rows = [
        example_runs.played(
            "unscored", Sample.ask("a", "?"), Unscored(why="judge_failed", reason=Sentence("Why {x}?", {"x": 1}))
        )
    ]
    report = build(run, store, await example_runs.fill(store, run, rows))
    assert report.headline[0].value is None
    assert str(report.unmeasured[0].example) == "Why 1?"


@pytest.mark.parametrize("key", ["code", "files"], ids=["as kept", "as kept for a while"])
async def test_files_of_the_code_are_told_by_name_and_those_of_a_benchmark_with_their_digest(key: str) -> None:
    store = MemoryStore()
    kept: dict[str, dict[str, Any]] = {key: {"agent": {"bot.py": "aa11"}}}
    kept.setdefault("files", {})["data.json"] = "bb22"
    run = example_runs.record("r", planned=1, provenance=kept)
    report = build(run, store, await example_runs.fill(store, run, []))
    assert [(one.name, one.text) for one in report.provenance] == [
        (f"{key} · agent", '["bot.py"]'),
        ("files · data.json", "bb22"),
    ]


def test_a_page_without_content_quotes_nothing_that_was_said(tmp_path: Path) -> None:
    def agent(question: str) -> str:
        if question == "down":
            raise ProviderFailed("the server said: ANSWERED")
        return "ANSWERED"

    def judge(sample: Sample, trajectory: Trajectory) -> Unscored:
        return Unscored(why="judge_failed", reason=f"no verdict in: {trajectory.answer}")

    task = Task(name="t", samples=[Sample.ask(id, id) for id in ("up", "down")], scorers=[judge])
    run = evaluate(task, agent=agent, store=":memory:", max_failed=1.0)
    for suffix in ("html", "json"):
        page = write_report(run.record, run.store, run.estimates, tmp_path / f"r.{suffix}", "en", content=False)
        assert "ANSWERED" not in page.read_text(encoding="utf-8")
    page = write_report(run.record, run.store, run.estimates, tmp_path / "r.html", "en")
    assert "ANSWERED" in page.read_text(encoding="utf-8")
