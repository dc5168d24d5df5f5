"""Scorers made of scorers: `combine`, `adaptive`, `turns`, `by_type`."""

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.scorers import combine, turns
from proctor_compat.multi import adaptive
from proctor_judging.scorers import by_type

SAMPLE = Sample.ask("a", "?", target="Paris")


def fixed(value: float) -> Any:
    return lambda sample, trajectory: Score(points=value, reason=f"always {value}")


def silent(sample: Sample, trajectory: Trajectory) -> Unscored:
    return Unscored(why="judge_failed", reason="no judge")


def run(scorer: Any, answer: str = "Paris", sample: Sample = SAMPLE) -> Score:
    result = scorer(sample, Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


def test_the_combination_is_the_weighted_mean() -> None:
    scorer = combine.make({"parts": [{"scorer": fixed(1.0), "weight": 3}, {"scorer": fixed(0.5), "weight": 1}]})
    assert run(scorer).points == 0.875


def test_parts_are_found_by_name_and_told_with_their_reasons() -> None:
    found = run(combine.make({"parts": [{"scorer": "exact"}, {"scorer": "exact:contains"}]}), "in Paris")
    assert found.points == 0.5
    assert (
        str(found.reason)
        == "Weighted mean of the parts: exact 0.00 × 1 (Expected Paris, got in Paris.); exact:contains 1.00 × 1 (-)"
    )
    assert found.details["parts"]["exact"]["value"] == 0


def test_a_part_below_its_minimum_makes_all_zero() -> None:
    parts = [{"scorer": fixed(0.9)}, {"scorer": fixed(0.4), "minimum": 0.5}]
    found = run(combine.make({"parts": parts}))
    assert found.points == 0
    assert "0.40 < 0.5" in str(found.reason)
    assert run(combine.make({"parts": [{"scorer": fixed(0.5), "minimum": 0.5}]})).points == 0.5


def test_a_part_without_a_score_leaves_the_whole_without_one_unless_it_is_said() -> None:
    parts = [{"scorer": fixed(1.0)}, {"scorer": silent}]
    result = combine.make({"parts": parts})(SAMPLE, Trajectory.of("x"))
    assert isinstance(result, Unscored)
    assert result.why == "judge_failed"
    assert run(combine.make({"parts": parts, "missing": "left_out"})).points == 1
    assert isinstance(
        combine.make({"parts": [{"scorer": silent}], "missing": "left_out"})(SAMPLE, Trajectory.of("x")), Unscored
    )


def test_parts_may_count_for_some_kinds_of_questions_only() -> None:
    scorer = combine.make({"parts": [{"scorer": fixed(1.0), "types": ["翻译"]}, {"scorer": fixed(0.0)}]})
    assert run(scorer, sample=Sample.ask("a", "?", meta={"type": "翻译"})).points == 0.5
    assert run(scorer, sample=Sample.ask("a", "?", meta={"type": "摘要"})).points == 0


async def test_a_part_that_must_be_awaited_is() -> None:
    async def slow(sample: Sample, trajectory: Trajectory) -> bool:
        return True

    result = combine.make({"parts": [{"scorer": slow}, {"scorer": fixed(0.0)}]})(SAMPLE, Trajectory.of("x"))
    assert inspect.isawaitable(result)
    found = await result
    assert isinstance(found, Score)
    assert found.points == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 10)), min_size=1, max_size=6))
def test_the_combination_lies_between_its_parts(parts: list[tuple[float, float]]) -> None:
    scorer = combine.make({"parts": [{"scorer": fixed(value), "weight": weight} for value, weight in parts]})
    values = [value for value, _ in parts]
    assert min(values) - 1e-9 <= run(scorer).points <= max(values) + 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give the parts"),
        ({"parts": []}, "give the parts"),
        ({"parts": [{"scorer": "exakt"}]}, "Did you mean 'exact'"),
        ({"parts": [{"scorer": "exact", "weigth": 2}]}, r"'parts\[0\]': there is no 'weigth'"),
        ({"parts": [{"scorer": "exact", "weight": 0}]}, "weights are 0 or more"),
        ({"parts": [{"scorer": 3}]}, "is no scorer"),
        ({"parts": [{"scorer": "exact"}], "missing": "zero"}, "combine"),
    ],
)
def test_a_combination_that_cannot_be_made_says_why(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        combine.make(options)


def similarities(values: list[float], **options: Any) -> list[Score]:
    given_values = iter(values)
    scorer = adaptive.make({"scorer": lambda sample, trajectory: Score(points=next(given_values)), **options})
    return [run(scorer) for _ in values]


def test_the_threshold_is_a_half_until_ten_answers_were_seen() -> None:
    found = similarities([0.49, 0.5] * 5)
    assert [score.points for score in found] == [0, 0.5] * 5
    assert {score.details["threshold"] for score in found} == {0.5}


def test_good_answers_raise_the_threshold_to_nine_tenths_and_bad_ones_lower_it_to_three() -> None:
    up = [score.details["threshold"] for score in similarities([1.0] * 25)]
    assert up[9:13] == [0.5, 0.55, 0.6, 0.65]
    assert up[-1] == 0.9
    down = [score.details["threshold"] for score in similarities([0.1] * 25)]
    assert down[9:12] == [0.5, 0.45, 0.4]
    assert down[-1] == 0.3


def test_a_middling_history_leaves_the_threshold_and_kinds_are_apart() -> None:
    assert {score.details["threshold"] for score in similarities([0.6] * 20)} == {0.5}
    scorer = adaptive.make({"scorer": fixed(1.0)})
    for _ in range(15):
        run(scorer, sample=Sample.ask("a", "?", meta={"type": "x"}))
    assert run(scorer, sample=Sample.ask("a", "?", meta={"type": "y"})).details["threshold"] == 0.5


def test_two_runs_do_not_share_a_history() -> None:
    first, second = adaptive.make({"scorer": fixed(1.0)}), adaptive.make({"scorer": fixed(1.0)})
    for _ in range(20):
        run(first)
    assert run(second).details["threshold"] == 0.5


def conversation(*references: object) -> Sample:
    asked = tuple(Turn(messages=(Message.of("user", "?"),), reference=reference) for reference in references)
    return Sample(id="a", turns=asked)


def replies(*answers: str) -> Trajectory:
    return Trajectory(
        steps=tuple(Step(message=Message.of("assistant", text), turn=at) for at, text in enumerate(answers))
    )


def test_each_turn_is_scored_with_its_own_reference() -> None:
    found = turns.make({})(conversation("a", "b", None, "d"), replies("a", "x", "c", "d"))
    assert isinstance(found, Score)
    assert (found.points, found.out_of) == (2, 3)
    assert found.details["turns"] == {"1": 1, "2": 0, "4": 1}


def test_a_bonus_never_lifts_the_points_above_the_maximum() -> None:
    scorer = turns.make({"consistency": fixed(1.0), "bonus": 0.3})
    full = scorer(conversation("a", "b"), replies("a", "b"))
    half = scorer(conversation("a", "b"), replies("a", "x"))
    assert isinstance(full, Score)
    assert isinstance(half, Score)
    assert (full.points, half.points) == (2, 1.3)


def test_consistency_is_asked_from_the_second_turn_on_with_all_turns_so_far() -> None:
    seen: list[tuple[int, int]] = []

    def consistent(sample: Sample, trajectory: Trajectory) -> Score:
        seen.append((len(sample.turns), len(trajectory.steps)))
        return Score(points=0)

    turns.make({"consistency": consistent})(conversation("a", "b", "c"), replies("a", "b", "c"))
    assert seen == [(2, 2), (3, 3)]


def test_a_conversation_without_references_has_no_score() -> None:
    assert isinstance(turns.make({})(conversation(None), replies("a")), Unscored)


@pytest.mark.parametrize(
    ("kind", "target", "answer", "points"),
    [
        ("单选", "B", "答案是 B", 1),
        ("单选题", "B", "答案是 C", 0),
        ("Multiple Choice", "AC", "A and C", 2),
        ("填空", "北京或京", "京", 1),
        ("exact:contains", "Paris", "in Paris", 1),
        ("json", {"a": 1}, '{"a": 1}', 1),
    ],
)
def test_a_sample_is_scored_by_its_own_kind(kind: str, target: object, answer: str, points: float) -> None:
    assert run(by_type.by_type, answer, Sample.ask("a", "?", target=target, meta={"type": kind})).points == points


@pytest.mark.parametrize(
    "kind", ["看图", "", "./evil.py:f", "os:system", "by_type", "exact:Callable", "json:make", "scorer_file:load"]
)
def test_a_kind_nobody_knows_gives_no_score(kind: str) -> None:
    result = by_type.by_type(Sample.ask("a", "?", target="x", meta={"type": kind}), Trajectory.of("x"))
    assert isinstance(result, Unscored)
    assert result.why == "not_applicable"
    assert not kind or kind in str(result.reason)


def test_kinds_can_be_given_scorers_and_one_for_the_rest() -> None:
    scorer = by_type.make({"types": {"看图题": "exact", "default": fixed(0.25)}})
    assert run(scorer, sample=Sample.ask("a", "?", target="Paris", meta={"type": "看图"})).points == 1
    assert run(scorer, sample=Sample.ask("a", "?", target="Paris", meta={"type": "new"})).points == 0.25
    assert run(scorer).points == 0.25
    with pytest.raises(BadInput, match="Did you mean 'exact'"):
        by_type.make({"types": {"x": "exat"}})
