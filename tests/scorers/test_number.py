"""The scorer for numbers and quantities within a tolerance."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.number import number, the_number


def _score(reply: str, target: object, **meta: object) -> Score:
    score = number(Sample.ask("s", "?", target=target, meta=meta), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score


@pytest.mark.parametrize(
    ("reply", "target", "meta"),
    [
        ("42", 42, {}),
        ("forty-two", "42", {}),
        ("There are 42 of them.", 42, {}),
        ("It is about 1,500 m away.", "1.5 km", {}),
        ("总共 3.5 公里。", "3500 m", {}),
        ("3.1416", 3.14159265, {"tolerance": 0.0001}),
        ("99", "100", {"relative_tolerance": 0.01}),
        ("The answer is 5 km.", "5000", {"unit": "m"}),
        (r"\boxed{\frac{1}{2}}", "0.5", {}),
        ("一半", "50%", {}),
    ],
)
def test_it_is_right(reply: str, target: object, meta: dict[str, object]) -> None:
    assert _score(reply, target, **meta).points == 1


@pytest.mark.parametrize(
    ("reply", "target", "meta"),
    [
        ("43", 42, {}),
        ("42 or 43", 42, {}),
        ("none", 42, {}),
        ("5 miles", "5 km", {}),
        ("5 km", "5", {}),
        ("3.1416", 3.14159265, {}),
        ("98.9", "100", {"relative_tolerance": 0.01}),
        ("a" * 1_000_000, 42, {}),
        ("", 42, {}),
    ],
)
def test_it_is_wrong(reply: str, target: object, meta: dict[str, object]) -> None:
    assert _score(reply, target, **meta).points == 0


def test_the_same_words_without_a_number_do_not_count() -> None:
    assert _score("many", "many").points == 0


def test_the_only_number_of_a_text_is_taken_with_its_unit() -> None:
    assert the_number("It weighs 5 kg, more or less.") == "5 kg"
    assert the_number("It costs $5.") == "$5"
    assert the_number("from 5 to 6") is None


def test_without_a_target_there_is_no_score() -> None:
    assert isinstance(number(Sample.ask("s", "?"), Trajectory.of("42")), Unscored)
