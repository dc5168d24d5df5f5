"""Filling in blanks: alternatives, groups in any order, numbers by value."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.filled_blanks import fill_gaps
from proctor_judging.scorers.blanks import blanks


def points(target: Any, reply: str, **options: Any) -> float:
    score = blanks(Sample.ask("q", "?", target=target, meta={"blanks": options}), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score.points


@pytest.mark.parametrize(
    ("target", "reply", "earned"),
    [
        ("5", "\n5", 1),
        ("5", "答案：5", 1),
        ("5", "The answer is 5.0.", 1),
        ("5", "所以 x = 3。\n5", 1),
        ("5", r"\boxed{5}", 1),
        ("甲\n丙", "甲\n\n丙", 2),
        ("甲\n丙", "甲；丙", 2),
        ("甲\n丙", "甲，丙", 2),
        ("甲\n丙", "1. 甲\n2. 丙", 2),
        ("甲\n丙", "(2) 丙\n(1) 甲", 2),
        ("甲\n丙", "①甲；②丙", 2),
        ("甲\n丙", "过程略\n第1空：甲\n第2空：丙", 2),
        ("甲\n丙", "甲", 1),
        ("甲\n丙", "丙\n甲", 0),
        ("7\n12", "答案为：7\n12", 2),
        ("1.5\n2.5", "1.5\n2.5", 2),
        ("北京或京", "京", 1),
        ("北京或京", "北京或京", 1),
        ("或者", "", 0),
        ("或者", "者", 0),
        ("或者", "或者", 1),
        ("1/2", "0.5", 1),
        ("50%", "1/2", 1),
        (r"\frac{1}{2}", "0.50", 1),
        ("1000", "1,000", 1),
        ("-2", "−2", 1),
        ("12", "1２", 1),
        ("5", "6", 0),
        ("Paris", "paris.", 1),
        ([["Paris", "City of Light"], "2"], "city of light\n2", 2),
        ([3, 4], "3, 4", 2),
    ],
)
def test_each_right_blank_is_a_point(target: Any, reply: str, earned: float) -> None:
    assert points(target, reply) == earned


def test_a_group_in_any_order_gives_no_answer_twice() -> None:
    assert points("甲\n丙", "丙\n甲", any_order=True) == 2
    assert points("甲\n丙", "甲\n甲", any_order=True) == 1
    assert points("甲\n乙\n丙", "乙\n甲\n丙", any_order=[[0, 1]]) == 3
    assert points("甲\n乙\n丙", "丙\n甲\n乙", any_order=[[0, 1]]) == 1
    assert points("甲或乙\n甲", "甲\n乙", any_order=True) == 2


def test_options_change_how_texts_are_compared() -> None:
    assert points("Paris", "paris", case_sensitive=True) == 0
    assert points("甲、乙", "甲乙", ignore_punctuation=True) == 1
    assert points("photosynthesis", "fotosynthesis", min_similarity=0.8) == 1
    assert points("12345", "12346", min_similarity=0.7) == 0
    assert points("甲/乙", "乙", separator="/") == 1


@pytest.mark.parametrize(
    ("target", "reply", "earned"),
    [
        ("光合作用", "光和作用", 1),
        ("是氧化反应", "不是氧化反应", 0),
        ("1985年", "1984年", 0),
        ("公元前212年", "公元212年", 0),
    ],
)
def test_similar_texts_with_other_digits_negations_or_opposites_are_not_similar(
    target: str, reply: str, earned: int
) -> None:
    assert points(target, reply, min_similarity=0.7) == earned


@pytest.mark.parametrize("target", [None, "", "\n", []])
def test_without_a_target_nothing_is_scored(target: Any) -> None:
    assert isinstance(blanks(Sample.ask("q", "?", target=target), Trajectory.of("x")), Unscored)


@given(st.text(), st.text(min_size=1))
def test_no_reply_and_no_target_makes_it_raise(reply: str, target: str) -> None:
    assert blanks(Sample.ask("q", "?", target=target), Trajectory.of(reply))


@pytest.mark.parametrize(
    "reply", ["1" * 500_000, "1," * 200_000, "1/" * 200_000, "\n1." * 200_000, "\\frac{" * 100_000]
)
def test_long_replies_are_read_quickly(reply: str) -> None:
    started = time.process_time()
    points("5\n6", reply)
    assert time.process_time() - started < 5


def test_a_reply_that_repeats_itself_is_searched_quickly_for_a_completed_sentence() -> None:
    begun = time.perf_counter()
    fill_gaps("list: " + "a, " * 600, "The list: " + ", ".join(["____"] * 6) + " end.", 6)
    assert time.perf_counter() - begun < 2


def test_a_sentence_is_completed_though_its_words_come_earlier_too() -> None:
    question = "The list has ____, ____ and ____ in it."
    assert fill_gaps("So the list has few. The list has a, b, c and d in it.", question, 3) == ["a", "b, c", "d"]
    assert fill_gaps("The list has a, b\nand c in it.", question, 3) == ["a", "b", "c"]
    assert fill_gaps(f"The list has {'a' * 81}, b and c in it.", question, 3) is None


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("It lies in the ____ range near ____.", "(1) Himalaya(s)\n(2) China", ["Himalayas", "China"]),
        ("酸能使石蕊试液变____，碱能使其变____。", "酸能使石蕊试液变红，碱则使它变蓝。", ["红", "蓝"]),
        (
            "冬奥会的吉祥物是____，冬残奥会的是____。",
            "吉祥物分别是冰墩墩（冬奥会）和雪容融（冬残奥会）。",
            ["冰墩墩", "雪容融"],
        ),
        (
            "The report is ____. I look forward to ____.",
            "Here are the words:\n\n- attached\n- hearing",
            ["attached", "hearing"],
        ),
        (
            "Plants make food by ____ in the ____.",
            "Plants make food by day in the sun. Let me know if you need more.",
            ["day", "sun"],
        ),
    ],
)
def test_what_announces_closes_or_remarks_is_no_part_of_an_answer(question: str, reply: str, target: list[str]) -> None:
    for expected, is_right in ((target, True), (target[::-1], False)):
        score = blanks(Sample.ask("s", question, target=expected), Trajectory.of(reply))
        assert isinstance(score, Score)
        assert (score.points == score.out_of) is is_right
