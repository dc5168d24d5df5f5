"""Runs that draw further samples where outcomes are uncertain (`more`)."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor import BadInput, Sample, Task, evaluate
from proctor.api import compare, open_run
from proctor.reports.build import build

SAMPLES = [
    Sample.ask(f"q{number}", str(number), target="yes", tags={"level": "hard" if number % 4 == 0 else "easy"})
    for number in range(400)
]
TASK = Task(name="quiz", samples=SAMPLES, scorers=["exact"], spread_by="level")
called: list[str] = []


def agent(question: str) -> str:
    called.append(question)
    number = int(question)
    return "no" if number % 8 == 0 or number % 50 == 1 else "yes"


def test_a_second_stage_goes_where_outcomes_are_uncertain(tmp_path: Path) -> None:
    run = evaluate(TASK, agent=agent, limit=40, more=60, store=str(tmp_path / "runs.db"))
    strata = run.record.strata
    assert strata is not None
    assert dict(strata.stages[0].counts) == {"easy": 30, "hard": 10}
    assert strata.stages[1].counts["hard"] > 20
    assert sum(strata.stages[1].counts.values()) == len(strata.stages[1].ids) == 60
    assert run.record.planned == run.outcomes["scored"] == 100
    levels = Counter(sample.tags["level"] for sample in run.store.planned(run.id))
    assert levels["hard"] == 10 + strata.stages[1].counts["hard"]
    notes = " ".join(map(str, build(run.record, run.store, run.estimates).notes))
    assert "60 of them were drawn later" in notes


def test_each_stage_counts_by_its_number_of_samples(tmp_path: Path) -> None:
    run = evaluate(TASK, agent=agent, limit=40, more=60, store=str(tmp_path / "runs.db"))
    assert run.record.strata is not None
    later = set(run.record.strata.stages[1].ids)
    means = {}
    for stage in (False, True):
        for level in ("easy", "hard"):
            ids = [one.id for one in SAMPLES if one.tags["level"] == level]
            found = [
                value.value
                for value in run.store.values(run.id, "exact")
                if value.sample_id in ids and (value.sample_id in later) is stage
            ]
            means[stage, level] = sum(value or 0.0 for value in found) / len(found)
    first, second = (0.75 * means[stage, "easy"] + 0.25 * means[stage, "hard"] for stage in (False, True))
    assert run.estimate("accuracy").value == pytest.approx(0.4 * first + 0.6 * second)


def test_a_stored_run_takes_more_and_stays_resumable_and_comparable(tmp_path: Path) -> None:
    path = str(tmp_path / "runs.db")
    evaluate(TASK, agent=agent, store=path, run_id="all")
    evaluate(TASK, agent=agent, limit=40, store=path, run_id="some")
    before = len(called)
    run = evaluate(TASK, agent=agent, limit=40, more=20, store=path, run_id="some")
    assert len(called) == before + 20
    again = evaluate(TASK, agent=agent, limit=40, store=path, run_id="some")
    assert len(called) == before + 20
    assert again.estimate("accuracy") == run.estimate("accuracy")
    difference = compare(open_run("all", store=path), again).rows[0].difference
    assert (difference.pairs, difference.value) == (60, 0)


def test_a_stage_that_was_cut_off_is_finished_by_the_same_command(tmp_path: Path) -> None:
    path = str(tmp_path / "runs.db")
    spent = {"minutes": 1e-7}
    first = evaluate(TASK, agent=agent, limit=40, more=60, store=path, run_id="r", budget=spent)
    assert first.record.state == "inconclusive"
    assert first.record.planned == 40  # no second stage while the first has not ended
    evaluate(TASK, agent=agent, limit=40, store=path, run_id="r")
    cut_off = evaluate(TASK, agent=agent, limit=40, more=60, store=path, run_id="r", budget=spent)
    assert (cut_off.record.planned, cut_off.outcomes["skipped"]) == (100, 60)
    resumed = evaluate(TASK, agent=agent, limit=40, more=60, store=path, run_id="r")
    assert resumed.record.planned == resumed.outcomes["scored"] == 100


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"more": 20}, "begin with a part"),
        ({"limit": 40, "more": 1}, "at least 2"),
        ({"limit": 40, "more": 0}, "at least 1"),
    ],
)
def test_a_stage_that_cannot_be_drawn_is_refused_before_the_first_call(
    given: dict[str, Any], why: str, tmp_path: Path
) -> None:
    before = len(called)
    with pytest.raises(BadInput, match=why):
        evaluate(TASK, agent=agent, store=str(tmp_path / "runs.db"), **given)
    assert len(called) == before


def test_a_run_of_all_samples_has_none_left(tmp_path: Path) -> None:
    path = str(tmp_path / "runs.db")
    evaluate(TASK, agent=agent, limit=390, more=50, store=path, run_id="r")
    assert open_run("r", store=path).record.planned == 400
    with pytest.raises(BadInput, match="All 400 samples"):
        evaluate(TASK, agent=agent, limit=390, more=50, store=path, run_id="r")
