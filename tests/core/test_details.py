"""What others read of a scorer's details."""

from typing import Any

import pytest

from proctor.core.details import KnownDetails, known_details
from proctor.core.score import Score, Unscored


def test_details_are_read_by_their_types() -> None:
    score = Score(points=1, details={"scale": [1, 5], "dimensions": {"clear": 4, "right": None}, "mine": object()})
    assert score.known == KnownDetails(scale=(1, 5), dimensions={"clear": 4, "right": None})
    assert Unscored(why="judge_failed", details={"kind": "budget"}).known.kind == "budget"


@pytest.mark.parametrize(
    ("details", "left"),
    [
        ({"scale": "wide", "error_class": "wrong"}, KnownDetails(error_class="wrong")),
        ({"comparisons": {"a": 1}, "mean": 3}, KnownDetails(mean=3)),
        ({"turns": "three"}, KnownDetails()),
        ({"passed": 1, "threshold": 0.5}, KnownDetails(threshold=0.5)),
    ],
)
def test_a_key_that_a_scorer_uses_for_something_else_is_passed_over(
    details: dict[str, Any], left: KnownDetails
) -> None:
    assert known_details(details) == left


def test_what_a_comparison_holds_beyond_what_others_read_is_no_hindrance() -> None:
    [one] = known_details(
        {"comparisons": [{"rival": "b", "result": "win", "lengths": [1, 2], "replies": ["x"]}]}
    ).comparisons
    assert (one.rival, one.result, one.replies) == ("b", "win", ("x",))
