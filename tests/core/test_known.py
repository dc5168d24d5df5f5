"""What others read of a scorer's details."""

from typing import Any

import pytest

from proctor.core.known import KnownDetails, KnownMeta, Rival, known
from proctor.core.sample import Sample
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
    assert known(KnownDetails, details) == left


def test_what_a_comparison_holds_beyond_what_others_read_is_no_hindrance() -> None:
    [one] = known(
        KnownDetails, {"comparisons": [{"rival": "b", "result": "win", "lengths": [1, 2], "replies": ["x"]}]}
    ).comparisons
    assert (one.rival, one.result, one.replies) == ("b", "win", ("x",))


def test_meta_is_read_by_its_types_and_null_is_as_if_it_were_not_there() -> None:
    sample = Sample.ask(
        "a", "?", meta={"session": None, "type": "choice", "rivals": [{"id": "b", "text": "x"}], "mine": 1}
    )
    assert sample.known == KnownMeta(type="choice", rivals=(Rival(id="b", text="x"),))
    assert Sample.ask("a", "?", meta={"item": "no item", "type": 3}).known == KnownMeta(type=3)
