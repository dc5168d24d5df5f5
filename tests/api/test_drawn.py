"""Runs that are not all of their task: what the numbers are of, what is said of them, what old runs say."""

import asyncio
import gzip
from pathlib import Path

import pytest

from proctor import Sample, Task, evaluate
from proctor.api import compare, open_run, rescore
from proctor.api.options import RunOptions
from proctor.api.prepare import prepare, resumable
from proctor.core.errors import ProviderFailed
from proctor.core.run import Estimate, Selection
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.engine.selection import choose
from proctor.reports.build import build
from proctor.stores import open_store

OLD = Path(__file__).parents[1] / "data" / "store_2026_11.db.gz"  # written by the version before strata were recorded


def sample(place: int) -> Sample:
    """900 easy ones, of which one in nine is wrong, and 100 hard ones, of which half are."""
    tags = {"level": "hard" if place % 10 == 0 else "easy", "parity": "even" if place % 2 == 0 else "odd"}
    return Sample.ask(f"s{place}", str(place), target="yes", tags=tags)


SAMPLES = [sample(place) for place in range(1000)]
TASK = Task(name="levels", samples=SAMPLES, scorers=["exact"], spread_by="level")


def agent(question: str) -> str:
    place = int(question)
    right = place % 20 == 0 if place % 10 == 0 else place % 9 != 0
    return "yes" if right else "no"


WHOLE = sum(agent(one.question) == "yes" for one in SAMPLES) / 1000


def notes(run: object) -> str:
    return " ".join(map(str, build(run.record, run.store, run.estimates).notes))  # type: ignore[attr-defined]


def test_a_limited_run_estimates_the_task_and_says_so() -> None:
    run = evaluate(TASK, agent=agent, limit=100, store=":memory:")
    whole = run.estimate("accuracy")
    assert whole.low is not None
    assert whole.high is not None
    assert whole.low < WHOLE < whole.high
    assert run.record.strata is not None
    assert dict(run.record.strata.sizes) == {"easy": 900, "hard": 100}
    assert whole.method == "weighted by stratum size, Wilson with t"
    assert "100 of 1,000 samples were drawn, in proportion to the tag 'level'" in notes(run)
    again = evaluate(TASK, agent=agent, limit=100, store=":memory:")
    assert [one.sample_id for one in again.trials()] == [one.sample_id for one in run.trials()]


def test_few_samples_of_many_categories_are_weighted_by_what_the_task_has() -> None:
    tags = ["big"] * 97 + ["a", "b", "c"]
    samples = [Sample.ask(f"{tag}{place}", tag, target="big", tags={"of": tag}) for place, tag in enumerate(tags)]
    task = Task(name="t", samples=samples, scorers=["exact"], spread_by="of")
    run = evaluate(task, agent=lambda question: question, limit=8, store=":memory:")
    assert {one.slice for one in run.estimates if one.slice} == {"of=big", "of=a", "of=b", "of=c"}
    assert run.estimate("accuracy").value == pytest.approx(0.97)


def test_of_another_tag_each_sample_counts_for_as_many_as_it_was_drawn_from() -> None:
    made = [Sample.ask(f"b{n}", "yes", target="yes", tags={"of": "big", "kind": "k"}) for n in range(90)]
    made += [Sample.ask(f"s{n}", "no", target="yes", tags={"of": f"small{n}", "kind": "k"}) for n in range(10)]
    task = Task(name="t", samples=made, scorers=["exact"], spread_by="of")
    run = evaluate(task, agent=lambda question: question, limit=20, store=":memory:")
    assert run.estimate("accuracy", slice="kind=k").value == pytest.approx(0.9)


def test_a_run_of_all_samples_is_the_plain_mean() -> None:
    run = evaluate(TASK, agent=agent, store=":memory:")
    assert run.estimate("accuracy").value == pytest.approx(WHOLE)
    assert run.estimate("accuracy").method == "Wilson"
    assert "drawn" not in notes(run)


def test_a_run_that_its_budget_stopped_is_a_fair_part() -> None:
    run = evaluate(TASK, agent=agent, store=":memory:", budget={"minutes": 60}, concurrency=1, limit=400, seed=3)
    stop = asyncio.Event()
    assert run.record.state == "finished"

    async def stopped() -> Estimate:
        count = 0

        async def some(question: str) -> str:
            nonlocal count
            count += 1
            if count == 200:
                stop.set()
            return agent(question)

        from proctor.engine.evaluate import evaluate as run_job
        from proctor.engine.progress import Progress

        prepared = prepare(TASK, RunOptions(agent=some, store=open_store(":memory:"), run_id="r", concurrency=1))
        record = await run_job(prepared.job, prepared.store, Progress(), stop)
        assert record.state == "stopped"
        found = open_run("r", store=prepared.store)
        assert "what was run is a draw too" in notes(found)
        return found.estimate("accuracy")

    part = asyncio.run(stopped())
    assert part.scored == 200
    assert part.low is not None
    assert part.high is not None
    assert part.low < WHOLE < part.high


def test_in_the_official_order_a_stopped_run_says_that_it_may_not_be_like_the_rest() -> None:
    run = evaluate(TASK, agent=agent, store=":memory:", order="official", budget={"minutes": 1e-9})
    assert run.record.state == "inconclusive"
    assert "may not be like the rest" in notes(run)


def test_the_interval_is_about_this_suite_where_that_is_asked() -> None:
    like_these = evaluate(TASK, agent=agent, limit=500, store=":memory:")
    this_suite = evaluate(TASK, agent=agent, limit=500, target="suite", store=":memory:")
    wide, narrow = like_these.estimate("accuracy"), this_suite.estimate("accuracy")
    assert wide.value == narrow.value
    assert wide.standard_error is not None
    assert narrow.standard_error is not None
    assert narrow.standard_error == pytest.approx(wide.standard_error * 0.5**0.5, rel=1e-6)
    target = build(this_suite.record, this_suite.store, this_suite.estimates).target
    assert "these very 1,000 samples" in str(target)
    whole = evaluate(TASK, agent=agent, target="suite", store=":memory:").estimate("accuracy")
    assert (whole.low, whole.high) == (whole.value, whole.value)


def test_the_main_number_of_a_list_of_runs_is_weighted_too() -> None:
    run = evaluate(TASK, agent=agent, limit=7, store=":memory:")
    assert run.headline == run.estimate("accuracy")


def test_a_comparison_of_draws_is_of_the_task_as_its_runs_are() -> None:
    made = [Sample.ask(f"b{n}", "big", target="big", tags={"of": "big"}) for n in range(90)]
    made += [Sample.ask(f"s{n}", "small", target="big", tags={"of": f"small{n}"}) for n in range(10)]
    task = Task(name="t", samples=made, scorers=["exact"], spread_by="of")
    store = open_store(":memory:")
    first = evaluate(task, agent=lambda question: question, limit=20, store=store, run_id="a")
    second = evaluate(task, agent=lambda question: "big", limit=20, store=store, run_id="b")
    found = compare(first, second)
    row = found.rows[0]
    assert row.first == pytest.approx(first.estimate("accuracy").value)
    assert [row.second, row.floor, row.ceiling] == pytest.approx([1.0, row.difference.value, 0.1])
    assert row.difference.value == pytest.approx(0.1), "half of the pairs drawn, a tenth of the task"
    assert (row.difference.wins, row.difference.pairs, row.difference.test) == (10, 20, "Bonett-Price")
    assert (row.difference.low or 0) < 0, "ten pairs that did not move stand for nine tenths"
    assert (row.difference.p_value > 0.05, row.outcome) == (True, "inconclusive")
    assert any("counts by its size in the task" in str(one) for one in found.notes)
    assert {one.slice: one.first for one in found.rows}["of=big"] == 1.0


def test_pairs_of_two_whole_runs_or_of_equal_parts_count_once() -> None:
    for limit, name in ((None, "whole"), (100, "part")):
        store = open_store(":memory:")  # of its own: whole runs would adjust a comparison of parts
        runs = (
            evaluate(TASK, agent=one, limit=limit, store=store, run_id=f"{name}{n}")
            for n, one in enumerate((agent, lambda question: "yes"))
        )
        found = compare(*runs)
        assert found.rows[0].difference.test in ("unconditional exact", "Bonett-Price")  # not sign flips
        assert any("counts by its size" in str(one) for one in found.notes) == (limit is not None)


def test_pairs_with_missing_scores_are_bounded_by_the_sizes_of_their_strata() -> None:
    def failing(question: str) -> str:
        if int(question) % 20 == 10:  # about half of the hard ones
            raise ProviderFailed("Overloaded.", kind="http_503")
        return "yes"

    store = open_store(":memory:")
    first = evaluate(TASK, agent=lambda question: "no", limit=100, store=store, run_id="a")
    second = evaluate(TASK, agent=failing, limit=100, store=store, run_id="b", max_failed=1.0)
    row = compare(first, second).rows[0]
    missing = row.missing
    assert 0 < missing < 10
    assert [row.first, row.second] == pytest.approx([0.0, 1.0])
    assert [row.floor, row.ceiling] == pytest.approx([1 - missing / 100, 1.0])


def test_what_a_scorer_has_nothing_to_say_about_stands_for_nothing() -> None:
    def only_hard(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        if sample.tags["level"] == "easy":
            return Unscored(why="not_applicable", reason="easy")
        return Score(points=trajectory.answer == "yes")

    task = Task(name="t", samples=SAMPLES, scorers=[only_hard], spread_by="level")
    assert evaluate(task, agent=agent, store=":memory:").estimate("accuracy").value == 0.5
    drawn = evaluate(task, agent=agent, limit=200, store=":memory:").estimate("accuracy")
    assert (drawn.scored, drawn.note) == (20, "")


def test_repeated_attempts_and_clusters_are_kept_apart_in_a_draw() -> None:
    samples = [
        Sample.ask(f"s{n}", str(n), target="yes", cluster=f"c{n // 10}", tags={"level": "hard" if n >= 90 else "easy"})
        for n in range(100)
    ]
    task = Task(name="t", samples=(one for one in samples), scorers=["exact"], spread_by="level")
    run = evaluate(
        task, agent=lambda question: "yes" if int(question) < 45 else "no", limit=40, attempts=2, store=":memory:"
    )
    whole = run.estimate("accuracy")
    assert whole.low is not None
    assert whole.high is not None
    assert (whole.scored, whole.planned) == (80, 80)
    assert whole.low < 0.45 < whole.high
    assert whole.high - whole.low > 0.3, "samples of a cluster move together"


def test_official_aggregates_are_kept_when_a_run_ends_and_reading_makes_no_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(
        "from proctor import Sample, Task\n"
        "from proctor.core.run import Estimate\n"
        "def mean(found, judged):\n"
        "    return [Estimate(name='official_mean', value=found[0].value, scored=len(list(judged())))]\n"
        "def task():\n"
        "    return Task(name='mine', samples=[Sample.ask('a', 'a', target='a')], scorers=['exact'], summarise=mean)\n"
    )
    monkeypatch.chdir(tmp_path)
    evaluate("./mine.py:task", agent=lambda question: "a", store="runs.db", run_id="r")
    (tmp_path / "mine.py").unlink()
    run = open_run("r", store="runs.db")
    assert (run.estimate("official_mean").value, run.estimate("official_mean").scored) == (1.0, 1)
    again = rescore(run, scorers=["exact:contains"])
    lost = again.estimate("official")
    assert lost.value is None
    assert "keeps no official aggregates" in str(lost.note)


def test_rescoring_computes_the_official_aggregates_again() -> None:
    task = Task(
        name="t",
        samples=[Sample.ask("a", "a", target="a")],
        scorers=["exact"],
        summarise=lambda found, judged: [Estimate(name="official_count", value=1.0, scored=len(list(judged())))],
    )
    run = evaluate(task, agent=lambda question: "a", store=":memory:")
    assert run.estimate("official_count").scored == 1
    assert rescore(run, scorers=["exact:contains"]).estimate("official_count").scored == 2


def test_a_summary_that_fails_loses_no_trial() -> None:
    def broken(found: object, judged: object) -> list[Estimate]:
        raise ZeroDivisionError("nothing")

    task = Task(name="t", samples=[Sample.ask("a", "a", target="a")], scorers=["exact"], summarise=broken)
    run = evaluate(task, agent=lambda question: "a", store=":memory:")
    assert run.estimate("accuracy").value == 1
    assert "could not be computed: ZeroDivisionError: nothing" in notes(run)


@pytest.fixture
def old(tmp_path: Path) -> str:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return str(path)


def test_a_store_of_the_old_version_is_read_and_says_nothing_false(old: str) -> None:
    drawn = open_run("file-drawn", store=old)
    assert drawn.record.strata is None
    assert drawn.estimate("accuracy").method == "Wilson"
    assert "its numbers are those of the samples drawn, not of the task" in notes(drawn)
    assert "at random" not in notes(open_run("stopped", store=old))


def test_old_official_aggregates_are_computed_where_no_task_is_needed_and_else_missed_in_words(old: str) -> None:
    assert open_run("gaia-drawn", store=old).estimate("steps_of_correct").value == 4.5
    lost = open_run("mine", store=old).estimate("official")
    assert str(lost.note).endswith("proctor score --run mine --scorer exact")


def test_an_old_run_goes_on_with_the_samples_that_it_drew(old: str) -> None:
    store = open_store(old)
    before = [one.id for one in store.planned("gaia-drawn")]
    prepared = prepare(*resumable("gaia-drawn", store))
    assert [one.id for one in prepared.job.samples()] == before
    assert prepared.job.record.strata is None
    today = choose(prepared.job.task, Selection(limit=6), 0)
    assert [one.id for one in today.read()] != before


def test_pass_at_k_of_a_draw_is_of_the_task() -> None:
    """Ten samples of strata of their own are a tenth of the task and half of the draw."""
    made = [Sample.ask(f"b{n}", "big", target="yes", tags={"of": "big"}) for n in range(90)]
    made += [Sample.ask(f"s{n}", "small", target="yes", tags={"of": f"small{n}"}) for n in range(10)]
    task = Task(name="t", samples=made, scorers=["exact"], spread_by="of")
    asked: dict[str, int] = {}

    def agent(question: str) -> str:
        asked[question] = asked.get(question, 0) + 1
        return "yes" if question == "big" and asked[question] % 2 else "no"

    run = evaluate(task, agent=agent, limit=20, attempts=2, store=":memory:", concurrency=1)
    found = {name: run.estimate(name) for name in ("pass@2", "pass^2", "accuracy")}
    assert found["pass@2"].value == pytest.approx(0.9)
    assert found["accuracy"].value == pytest.approx(0.45)
    assert (found["pass^2"].value, found["pass@2"].method) == (0.0, "weighted by stratum size, Wilson with t")
    for one in found.values():
        assert one.low is not None
        assert (one.note, one.high is not None) == ("", True)
    assert (found["pass@2"].scored, found["pass@2"].planned) == (20, 20)
