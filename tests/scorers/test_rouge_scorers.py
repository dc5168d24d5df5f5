"""ROUGE and the scorer of open answers: the same text is 1 in every script."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import MissingExtra
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching import chinese_words
from proctor_judging.scorers.open import open as discussion
from proctor_judging.scorers.rouge import one, rouge, two

SCRIPTS = [
    "The cat sat.",
    "提高效率，保护环境。",
    "ขอบคุณมากครับ",
    "ありがとう、世界",
    "Привет, мир",
    "شكرا جزيلا",
    "धन्यवाद",
    "한국어 문장",
    "😀 …",
    "x",
]


def value(scorer: object, target: object, reply: str) -> float:
    score = scorer(Sample.ask("q", "?", target=target), Trajectory.of(reply))  # type: ignore[operator]  # a scorer
    assert isinstance(score, Score)
    return score.value


@pytest.mark.parametrize("text", SCRIPTS)
@pytest.mark.parametrize("scorer", [rouge, one, two, discussion])
def test_the_same_text_is_one(scorer: object, text: str) -> None:
    assert value(scorer, text, text) == 1


@given(st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_any_text_answers_itself(text: str) -> None:
    assert value(rouge, text, text) == 1


def test_order_matters_for_some_and_not_for_others() -> None:
    assert value(one, "the cat", "cat the") == 1
    assert value(two, "the cat", "cat the") == 0
    assert value(rouge, "the cat", "cat the") == 0.5


def test_a_chinese_answer_with_one_word_changed_keeps_most_of_its_value() -> None:
    assert 0.5 < value(rouge, "提高效率，降低成本，保护环境", "提高质量，降低成本，保护环境") < 1


def test_the_closest_of_several_references_counts() -> None:
    assert value(rouge, ["no", "the cat"], "the cat") == 1


def test_a_lead_in_is_no_part_of_an_open_answer() -> None:
    assert value(discussion, "保护环境", "我的分析如下：保护环境") == 1
    assert value(discussion, "clean air", "<think>hm</think>Answer: clean air") == 1


def test_an_open_answer_below_the_least_similarity_is_nothing() -> None:
    sample = Sample.ask("q", "?", target="a b c d", meta={"open": {"min_similarity": 0.5}})
    low, high = discussion(sample, Trajectory.of("a x y z")), discussion(sample, Trajectory.of("a b c z"))
    assert isinstance(low, Score)
    assert isinstance(high, Score)
    assert (low.points, high.points) == (0, 0.75)


@pytest.mark.parametrize("target", [None, "", " ", []])
def test_without_a_reference_nothing_is_scored(target: object) -> None:
    assert isinstance(rouge(Sample.ask("q", "?", target=target), Trajectory.of("x")), Unscored)


def test_chinese_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    chinese_words.cutter.cache_clear()
    with pytest.raises(MissingExtra, match="the extra 'zh'"):
        value(rouge, "中文", "中文")
    assert value(rouge, "plain", "plain") == 1
    monkeypatch.undo()
    chinese_words.cutter.cache_clear()
