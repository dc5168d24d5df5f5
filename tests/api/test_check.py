"""A run against thresholds."""

from typing import Any

import pytest

import proctor
from proctor import Sample, Score, Task, Trajectory, Unscored
from proctor.api.check import check, decide
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sample import Message, ToolCall, Turn
from proctor.core.trajectory import Step
from proctor.reports.build import build
from proctor.scorers.trajectory import trajectory


def _run(scorer: Any, *, count: int = 4, attempts: int = 1, agent: Any = None) -> proctor.Run:
    samples = [Sample.ask(str(number), str(number), target="x") for number in range(count)]
    task = Task(name="t", samples=samples, scorers=[scorer])
    return proctor.evaluate(task, agent=agent or (lambda question: question), attempts=attempts, store=":memory:")


def half(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=0.5 if int(sample.id) % 2 else 1)


def lenient(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=0.5, details={"passed": sample.id != "0"})


def _faults(run: proctor.Run, **wanted: Any) -> list[str]:
    return [str(fault) for fault in check(run, **wanted).faults]


def test_without_thresholds_every_trial_has_to_pass() -> None:
    found = check(_run(half))
    assert [trial.passed for trial in found.trials] == [True, False, True, False]
    assert (found.rate.value, len(found.faults)) == (0.5, 1)


def test_a_threshold_is_for_the_mean_and_the_pass_rate_for_trials() -> None:
    run = _run(half)
    assert _faults(run, thresholds=0.75, by="value") == []
    told = "half 75.0%, interval 17.9% to 96.4%, at least 76.0% is wanted"
    assert _faults(run, thresholds={"half": 0.76}, by="value") == [told]
    assert _faults(run, thresholds={"score": 0.7}, pass_rate=0.5, by="value") == []
    assert _faults(run, thresholds={"half": 0.4}, pass_rate=1, by="value") == []


def _estimate(value: float | None, low: float | None, high: float | None, **more: Any) -> Estimate:
    return Estimate(name="accuracy", value=value, low=low, high=high, **{"scored": 20, "planned": 20, **more})


@pytest.mark.parametrize(
    ("one", "least", "decision"),
    [
        (_estimate(0.9, 0.81, 0.95), 0.8, "met"),
        (_estimate(0.9, 0.7, 0.95), 0.8, "inconclusive"),
        (_estimate(0.6, 0.5, 0.7), 0.8, "missed"),
        (_estimate(0.75, None, None), 0.8, "inconclusive"),
        (_estimate(None, None, None), 0.8, "inconclusive"),
        (_estimate(1.0, 0.84, 1.0), 1.0, "met"),
        (_estimate(0.95, 0.76, 1.0), 1.0, "missed"),
        (_estimate(0.9, 0.81, 0.95, scored=15, floor=0.68, ceiling=0.92), 0.8, "inconclusive"),
        (_estimate(0.6, 0.5, 0.7, scored=10, floor=0.3, ceiling=0.8), 0.75, "inconclusive"),
        (_estimate(0.6, 0.5, 0.7, scored=19, floor=0.57, ceiling=0.62), 0.75, "missed"),
    ],
)
def test_a_number_meets_misses_or_leaves_it_open(one: Estimate, least: float, decision: str) -> None:
    assert decide(one, least) == decision


def test_what_is_open_is_no_fault_and_no_pass() -> None:
    found = check(_run(half), thresholds=0.75)
    assert (found.faults, len(found.undecided)) == ((), 1)


def test_a_scorer_has_a_verdict_of_its_own() -> None:
    assert [trial.passed for trial in check(_run(lenient)).trials] == [False, True, True, True]
    assert [trial.passed for trial in check(_run(lenient), thresholds=0.4).trials] == [True] * 4


def test_extra_calls_do_not_pass_unseen() -> None:
    """The scorer `trajectory` gives less than 1 for them, so they are a failure wherever failures are listed."""
    reference = {"calls": [{"name": "f", "arguments": {}}]}
    made = Message(role="assistant", parts=(ToolCall(name="f", arguments={}), ToolCall(name="g", arguments={})))
    sample = Sample(id="0", turns=(Turn(messages=(Message.of("user", "?"),), reference=reference),))
    score = trajectory(sample, Trajectory(steps=(Step(message=made),), tools="native"))
    assert isinstance(score, Score)
    assert (score.details["matches"], score.passed) == (True, False)
    run = _run(lambda sample, trajectory: score, count=1)
    assert [trial.passed for trial in check(run).trials] == [False]
    assert build(run.record, run.store, run.estimates).failed == 1


def test_full_marks_are_no_pass_where_less_is_better() -> None:
    def toxicity(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=1, details={"passed": False})

    run = _run(toxicity, count=1)
    assert [trial.passed for trial in check(run).trials] == [False]
    assert build(run.record, run.store, run.estimates).failed == 1


def test_an_agent_that_fails_fails_and_what_was_not_measured_does_not_pass() -> None:
    def agent(question: str) -> str:
        if question == "0":
            raise ValueError
        return question

    def judge(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return Unscored(why="judge_failed") if sample.id == "1" else Score(points=1)

    found = check(_run(judge, agent=agent), pass_rate=0)
    assert [trial.passed for trial in found.trials] == [False, None, True, True]
    assert [str(one) for one in found.faults] == ["1 of 4 trials could not be measured; what is missing cannot pass."]


def test_one_sample_tried_several_times_has_the_interval_of_its_own_rate() -> None:
    found = check(_run(half, count=1, attempts=5))
    assert [found.rate.value, found.rate.low, found.rate.high] == pytest.approx([1, 0.5655, 1], abs=1e-4)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"thresholds": {"f1": 1}}, "no estimate 'f1'"),
        ({"thresholds": 80}, "share from 0 to 1"),
        ({"pass_rate": -1}, "-1"),
    ],
)
def test_wrong_thresholds_are_refused(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        check(_run(half), **wanted)


def test_a_trial_to_which_a_scorer_does_not_apply_is_not_missing() -> None:
    def short(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        if int(sample.id) % 2:
            return Unscored(why="not_applicable")
        return Score(points=1)

    task = Task(
        name="t", samples=[Sample.ask(str(n), "?", tags={"half": str(n // 20)}) for n in range(40)], scorers=[short]
    )
    run = proctor.evaluate(task, agent=lambda question: "x", store=":memory:")
    for slice_ in ("", "half=1"):
        one = run.estimate("accuracy", slice=slice_)
        assert (one.value, one.floor, one.ceiling) == (1, 1, 1)
    assert (run.estimate("accuracy").scored, run.estimate("accuracy").planned) == (20, 40)
    assert not check(run, thresholds=0.8).undecided
