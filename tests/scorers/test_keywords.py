"""The scorer `keywords`."""

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers import keywords


def score(answer: str, target: object = None, **options: object) -> Score:
    result = keywords.make(options)(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


def test_each_keyword_is_a_point() -> None:
    found = score("Water and light", "light, water, carbon dioxide")
    assert (found.points, found.out_of) == (2, 3)
    assert found.details["missing"] == ["carbon dioxide"]
    assert str(found.reason) == "Found 2 of 3 keywords. Missing: carbon dioxide."


def test_a_target_is_split_at_chinese_signs_too_and_a_list_is_taken_as_it_is() -> None:
    assert score("光、水", "光，水；二氧化碳").points == 2
    assert score("a, b", ["a, b", "c"]).points == 1


def test_the_same_keyword_twice_counts_once() -> None:
    assert score("a", "a, a").out_of == 1


def test_a_keyword_may_have_several_forms() -> None:
    assert score("the United States", "USA|United States").points == 1


def test_whole_words_and_case() -> None:
    assert score("category", "cat").points == 1
    assert score("category", "cat", whole_words=True).points == 0
    assert score("a Cat.", "cat", whole_words=True).points == 1
    assert score("a Cat.", "cat", case_sensitive=True).points == 0
    assert score("costs $5 (net)", "$5", whole_words=True).points == 1


def test_below_the_minimum_nothing_is_given() -> None:
    assert score("a", "a, b, c", minimum=0.5).points == 0
    assert score("a b", "a, b, c", minimum=0.5).points == 2


def test_a_forbidden_word_makes_it_zero() -> None:
    assert score("a, as an AI", "a", forbidden=["as an ai"]).points == 0


def test_keywords_of_the_options_need_no_target() -> None:
    assert score("yes", keywords=["yes", "no"]).points == 1


@pytest.mark.parametrize("target", [None, "", " , ", []])
def test_without_keywords_there_is_no_score(target: object) -> None:
    result = keywords.keywords(Sample.ask("a", "?", target=target), Trajectory.of("x"))
    assert isinstance(result, Unscored)


def test_a_minimum_is_a_share() -> None:
    with pytest.raises(BadInput, match="share from 0 to 1"):
        keywords.make({"minimum": 60})
