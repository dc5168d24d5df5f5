"""The scorer `limits`."""

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Text, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.scorers import limits

CALLED = Message(role="assistant", parts=(Text(text="wait"), ToolCall(name="f"), ToolCall(name="g")))
TRAJECTORY = Trajectory(
    steps=(
        Step(message=CALLED, started=100.0, seconds=1.0, usage=Usage(input_tokens=10, output_tokens=5)),
        Step(message=Message.of("tool", "result"), started=101.0, seconds=1.0),
        Step(
            message=Message.of("assistant", "four words are here"),
            started=102.0,
            seconds=0.5,
            usage=Usage(input_tokens=20, output_tokens=4),
        ),
    )
)
SAMPLE = Sample.ask("a", "?")


def score(trajectory: Trajectory = TRAJECTORY, **options: object) -> Score:
    result = limits.make(options)(SAMPLE, trajectory)
    assert isinstance(result, Score), result
    return result


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("characters", 19),
        ("words", 4),
        ("steps", 2),
        ("calls", 2),
        ("tokens", 39),
        ("output_tokens", 9),
        ("seconds", 2.5),
    ],
)
def test_a_limit_may_be_reached_but_not_passed(limit: str, found: float) -> None:
    kept = limits.make({limit: found if limit == "seconds" else int(found)})(SAMPLE, TRAJECTORY)
    broken = limits.make({limit: found - 0.5 if limit == "seconds" else int(found) - 1})(SAMPLE, TRAJECTORY)
    assert isinstance(kept, Score)
    assert isinstance(broken, Score)
    assert (kept.points, broken.points) == (1, 0)
    assert kept.details == {limit: found}


def test_each_limit_is_a_point_and_the_broken_ones_are_told() -> None:
    found = score(steps=1, tokens=100, least_characters=20)
    assert (found.points, found.out_of) == (1, 3)
    assert str(found.reason) == "Outside the limits: least_characters 19 < 20, steps 2 > 1."


def test_a_limit_on_what_was_not_measured_is_not_taken_for_kept() -> None:
    recorded = Trajectory.of("x")
    assert score(recorded, characters=1).out_of == 1
    missing = limits.make({"characters": 1, "tokens": 5, "seconds": 5})(SAMPLE, recorded)
    assert isinstance(missing, Unscored)
    assert (missing.why, str(missing.reason)) == ("no_evidence", "Not measured: tokens, seconds.")


def test_a_sample_may_bring_its_own_limits() -> None:
    own = Sample.ask("a", "?", meta={"limits": {"words": 3}})
    result = limits.limits(own, TRAJECTORY)
    assert isinstance(result, Score)
    assert result.points == 0
    assert isinstance(limits.limits(SAMPLE, TRAJECTORY), Unscored)


def test_a_limit_nobody_knows_is_an_error() -> None:
    with pytest.raises(BadInput, match="Did you mean 'steps'"):
        limits.make({"step": 3})
    wrong = limits.limits(Sample.ask("a", "?", meta={"limits": {"step": 3}}), TRAJECTORY)
    assert isinstance(wrong, Unscored)
    assert wrong.why == "scorer_failed"
