"""A run that is looked at: steps along the plan, what is missing, and the order of clusters."""

from array import array

import pytest

from proctor import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trial import Outcome, Trial, Verdict
from proctor.engine.order import shuffle, together
from proctor_ci.looks.steps import Between, Decider, Steps, earned
from proctor_ci.stats.looks import LooksQuestion


def planned(*clusters: str) -> list[Sample]:
    return [Sample.ask(str(at), "", cluster=cluster or None) for at, cluster in enumerate(clusters)]


def test_a_step_counts_only_when_all_before_it_are_complete() -> None:
    steps = Steps(planned("", "", ""), attempts=2)
    for id, attempt in (("1", 0), ("1", 1), ("2", 0), ("0", 1)):
        steps.add(id, attempt, 1.0)
    assert steps.complete == 0
    steps.add("0", 0, 0.0)
    assert (steps.complete, steps.step(0), steps.step(1)) == (2, {"0": (0.5, 0.5)}, {"1": (1.0, 1.0)})
    steps.add("0", 0, 1.0)  # a second record of the same attempt changes nothing
    assert steps.step(0) == {"0": (0.5, 0.5)}


def test_a_cluster_is_one_step_and_a_preparation_is_none() -> None:
    preparation = Sample.ask("p", "", tags={"preparation": "1"})
    steps = Steps([preparation, *planned("a", "a", "b")], attempts=1)
    assert [*steps.ids] == [["0", "1"], ["2"]]
    steps.add("p", 0, None, "skipped")
    steps.add("1", 0, 1.0)
    assert steps.complete == 0
    steps.add("0", 0, 0.0)
    assert steps.complete == 1


def test_what_is_missing_is_no_zero_and_what_does_not_apply_is_not_missing() -> None:
    steps = Steps(planned("a", "a", "a"), attempts=2)
    for attempt in (0, 1):
        steps.add("0", attempt, None, "not_applicable")
        steps.add("1", attempt, 1.0)
    steps.add("2", 0, 1.0)
    steps.add("2", 1, None, "provider_failed")
    part = steps.step(0)
    assert part == {"1": (1.0, 1.0), "2": (0.5, 1.0)}
    assert Between.mean([*part.values()]) == (0.75, 1.0)
    assert part["2"].less(part["1"]) == (-0.5, 0.0)


@pytest.mark.parametrize(
    ("outcome", "result", "value"),
    [
        ("scored", Score(points=1, out_of=2), (0.5, "")),
        ("agent_failed", None, (0.0, "")),
        ("provider_failed", None, (None, "provider_failed")),
        ("scored", Unscored(why="judge_failed", reason="r"), (None, "judge_failed")),
    ],
)
def test_a_trial_earns_what_a_store_says(
    outcome: Outcome, result: Score | Unscored | None, value: tuple[float | None, str]
) -> None:
    trial = Trial(run_id="r", sample_id="s", outcome=outcome)
    verdicts = [] if result is None else [Verdict(run_id="r", sample_id="s", scorer="exact", result=result)]
    assert earned(trial, verdicts, "exact") == value


def decided(question: LooksQuestion, *steps: tuple[float, float]) -> str | None:
    decider = Decider(question)
    for step in steps:
        decider.add(Between(*step))
    return decider.decision


def test_go_has_to_hold_though_all_that_is_missing_were_wrong() -> None:
    question = LooksQuestion(limit=0.5, most=60, binary=True)
    assert decided(question, *[(1.0, 1.0)] * 60) == "go"
    assert decided(question, *[(0.0, 0.0)] * 60) == "no_go"
    assert decided(question, *[(0.0, 1.0)] * 60) == "futile"
    assert decided(question, *[(1.0, 1.0)] * 50, *[(0.0, 1.0)] * 10) == "go"
    falling = LooksQuestion(limit=0.5, higher=False, most=60, binary=True)
    assert decided(falling, *[(0.0, 0.0)] * 60) == "go"
    assert decided(falling, *[(1.0, 1.0)] * 60) == "no_go"
    assert decided(falling, *[(0.0, 1.0)] * 60) == "futile"


def test_a_scorer_that_gives_parts_of_points_is_no_yes_or_no() -> None:
    decider = Decider(LooksQuestion(limit=0.5, most=300, binary=True))
    for value in (1.0, 0.5, 1.0):
        decider.add(Between(value, value))
    found = decider.looked(300, 0)
    assert decider.steps == 3
    assert found.value == pytest.approx(2.5 / 3)


def test_clusters_come_in_an_order_that_does_not_favour_large_ones() -> None:
    clusters = dict.fromkeys(range(10), "large")
    first = 0
    for seed in range(400):
        order = together(shuffle(array("Q", range(11)), "", seed), clusters)
        assert sorted(order) == list(range(11))
        first += order[0] != 10
    assert 160 < first < 240  # in ten of eleven it would be first where any of its samples counted
