"""Order and number of calls in several turns, which the official rule leaves free."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from proctor.core.sample import Message, Sample, Text
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks import bfcl

TASK = bfcl.task("multi_turn_base", mode="native", calls=True)
SAMPLES: list[Sample] = list(TASK.samples)[::20]  # type: ignore[arg-type]  # a list
SCORERS = {scorer.name: scorer for scorer in TASK.scorers[1:]}  # type: ignore[union-attr]


def values(sample: Sample, trajectory: Trajectory) -> dict[str, float | None]:
    found = {name: scorer(sample, trajectory) for name, scorer in SCORERS.items()}  # type: ignore[operator]
    return {name: one.value if isinstance(one, Score) else None for name, one in found.items()}


def right(sample: Sample) -> Trajectory:
    assert TASK.oracle is not None
    return TASK.oracle(sample)


def changed(trajectory: Trajectory, change: Callable[[tuple[Step, ...]], tuple[Step, ...]]) -> Trajectory:
    return replace(trajectory, steps=change(trajectory.steps))


@pytest.mark.parametrize("mode", ["native", "prompt"])
def test_the_recorded_calls_are_in_order_and_as_few_as_needed(mode: str) -> None:
    task = bfcl.task("multi_turn_base", mode=mode, calls=True)  # type: ignore[arg-type]
    assert task.oracle is not None
    for sample in SAMPLES:
        assert values(sample, task.oracle(sample)) == {"order": 1, "efficiency": 1}


def test_calls_made_twice_keep_the_order_and_halve_the_efficiency() -> None:
    for sample in SAMPLES:
        twice = changed(right(sample), lambda steps: tuple(step for step in steps for _ in range(2)))
        assert values(sample, twice) == {"order": 1, "efficiency": 0.5}


def test_calls_in_another_order_are_seen() -> None:
    def backwards(step: Step) -> Step:
        return replace(step, message=replace(step.message, parts=step.message.parts[::-1]))

    found = [values(one, changed(right(one), lambda steps: tuple(map(backwards, steps)))) for one in SAMPLES]
    assert {one["efficiency"] for one in found} == {1}
    assert sum(one["order"] == 0 for one in found) >= 5  # some turns have one call only


def test_silence_is_not_in_order() -> None:
    said = Message(role="assistant", parts=(Text(text="No."),))
    silent = Trajectory(steps=(Step(message=said),), tools="native")
    assert values(SAMPLES[0], silent) == {"order": 0, "efficiency": 0}


def test_a_sample_of_one_turn_has_no_order() -> None:
    sample = replace(SAMPLES[0], meta={"category": "simple_python"})
    for scorer in SCORERS.values():
        result = scorer(sample, right(SAMPLES[0]))  # type: ignore[operator]
        assert isinstance(result, Unscored)
        assert result.why == "not_applicable"
