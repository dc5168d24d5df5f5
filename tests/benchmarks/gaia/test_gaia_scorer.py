"""The official rule of GAIA, with the table of oddities."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.gaia.answer import final_answer
from proctor_benchmarks.gaia.scorer import gaia, partial, question_score


@pytest.mark.parametrize(
    ("answer", "truth", "right"),
    [
        ("1,234", "1234", True),
        ("$1,234.00", "1234", True),
        ("50%", "50", True),
        ("50,", "50", True),
        ("42.0", "42", True),
        ("420e-1", "42", True),
        ("50 km", "50", False),
        ("fifty", "50", False),
        ("(42)", "42", False),
        ("4 2", "42", False),
        ("0.1000000000000000055", "0.1", True),
        ("cannot tell", "inf", True),
        ("nan", "nan", False),
        ("１７", "17", True),
        ("1_000", "1000", True),
        ("1234", "1,234", False),
        ("1, 234", "1,234", True),
        ("1234", "$1234", True),
        ("34", "3/4", True),
        ("130", "1:30", True),
        ("P-a-r-i-s", "Paris", True),
        ("sea gull", "seagull", True),
        ("the Paris", "Paris", False),
        ("forty-two", "forty two", True),
        ("42", "forty-two", False),
        ("cafe", "café", False),
        ("“Paris”", "Paris", False),
        (None, "None", True),
        ("", "-", True),
        ("a;b;c", "a, b, c", True),
        ("c, b, a", "a, b, c", False),
        ("a, b, c,", "a, b, c", False),
        ("St Louis, Reno", "St. Louis, Reno", False),
        ("$1, 2%, 3", "1, 2, 3", True),
        ("1,000, 2,000", "1000, 2000", False),
        ("3.0, Apples", "3, apples", True),
        ("August 3; 1987", "August 3, 1987", True),
        ("北京，上海", "北京,上海", False),
        ("北京, 上海", "北京,上海", True),
    ],
)
def test_the_ground_truth_decides_how_answers_are_compared(answer: str | None, truth: str, right: bool) -> None:
    assert question_score(answer, truth).right is right


@given(st.text() | st.none(), st.text())
def test_the_rule_never_raises_and_always_gives_a_reason(answer: str | None, truth: str) -> None:
    assert str(question_score(answer, truth).reason)


@given(st.text(alphabet="abc ,.-", min_size=1))
def test_a_ground_truth_answers_itself(truth: str) -> None:
    assert question_score(truth, truth).right


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("FINAL ANSWER: 17", "17"),
        ("final answer： 巴黎", "巴黎"),
        ("**FINAL ANSWER:** 17", "17"),
        ("**FINAL ANSWER: 17**", "17"),
        ("FINAL ANSWER:\n\n  17\nmore", "17"),
        ("FINAL ANSWER: 1\nNo. FINAL ANSWER: 2", "2"),
        ("FINAL ANSWER: [a, b]", "a, b"),
        ("FINAL ANSWER: [a] and [b]", "[a] and [b]"),
        ("FINAL ANSWER: 3\nI end with FINAL ANSWER: [YOUR FINAL ANSWER].", "3"),
        ("FINAL ANSWER:", ""),
        ("Paris", None),
        ("", None),
    ],
)
def test_the_last_final_answer_counts(reply: str, answer: str | None) -> None:
    assert final_answer(reply) == answer


def test_other_markers_count_only_when_asked_for() -> None:
    assert final_answer("最终答案：巴黎") is None
    assert final_answer("最终答案：巴黎", fallback="markers") == "巴黎"
    assert final_answer("# Heading\nParis\n# End", fallback="markers") is None
    assert final_answer("# Heading\nParis\n# End", fallback="last_line") == "Paris"


def test_a_reply_of_ten_megabytes_is_read_quickly() -> None:
    started = time.process_time()
    for reply in (
        "FINAL ANSWER" * 900_000,
        "final answer*" * 800_000,
        "FINAL ANSWER: " + "(" * 10_000_000,
        " " * 10_000_000,
    ):
        final_answer(reply, fallback="last_line")
    assert time.process_time() - started < 20


def test_a_reply_without_the_marker_is_wrong_and_says_so() -> None:
    score = gaia(Sample.ask("a", "?", target="Paris"), Trajectory.of("Paris"))
    assert isinstance(score, Score)
    assert (score.points, score.answer) == (0, None)
    assert "FINAL ANSWER" in str(score.reason)


def test_the_test_split_stays_unscored() -> None:
    result = gaia(Sample.ask("a", "?"), Trajectory.of("FINAL ANSWER: Paris"))
    assert isinstance(result, Unscored)
    assert result.why == "not_applicable"


@pytest.mark.parametrize(("answer", "points"), [("Paris", 1), ("Paris, France", 0.5), ("Rome", 0)])
def test_the_partial_match_is_an_extra(answer: str, points: float) -> None:
    score = partial(Sample.ask("a", "?", target="Paris"), Trajectory.of(f"FINAL ANSWER: {answer}"))
    assert isinstance(score, Score)
    assert score.points == points
