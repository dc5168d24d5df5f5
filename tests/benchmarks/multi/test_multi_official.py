"""The official rules with their oddities, and ours beside them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.multi import official
from proctor_benchmarks.multi.scorer import fair, improvement, multi, rejected


@pytest.mark.parametrize(
    ("prediction", "label", "position", "score"),
    [
        ("C", "C", "start", 1),
        ("The answer is C", "C", "start", 0),
        ("The answer is C", "C", "end", 1),
        ("answer: b", "B", "start", 0),
        ("e", "e", "start", 0),
        ("一", "C", "start", 0),
        ("a b c", "B", "middle", 1),
        ("B, b", "B", "all", 1),
        ("A B", "A", "all", 0),
        ("Ｃ", "C", "start", 0),
    ],
)
def test_a_single_choice_is_one_letter(prediction: str, label: str, position: official.Position, score: int) -> None:
    assert official.single(prediction, label, position) == official.Marks(score, 1)


@pytest.mark.parametrize(
    ("prediction", "label", "position", "score", "total"),
    [
        ("AC", "AC", "start", 2, 2),
        ("A, C", "AC", "start", 2, 2),
        ("A、C", "AC", "start", 1, 2),
        ("A、C", "AC", "end", 1, 2),
        ("A、C", "AC", "all", 2, 2),
        ("A;B;C", "B", "middle", 1, 1),
        ("A", "AC", "start", 1, 2),
        ("AB", "AC", "start", 0, 2),
        ("AAC", "AC", "start", 2, 2),
        ("The answer is AC", "AC", "start", 0, 2),
        ("A,C", "A,C", "start", 2, 3),
        ("A", "", "start", 0, 0),
        (" , ", "AC", "start", 0, 2),
    ],
)
def test_a_multiple_choice_is_one_run(
    prediction: str, label: str, position: official.Position, score: int, total: int
) -> None:
    assert official.multiple(prediction, label, position) == official.Marks(score, total)


@pytest.mark.parametrize(
    ("prediction", "label", "score", "total"),
    [
        ("5", "5", 1, 1),
        ("\n5", "5", 0, 1),
        ("$5 $", "5", 1, 1),
        ("甲；丙", "甲\n丙", 2, 2),
        ("甲\n\n丙", "甲\n丙", 2, 2),
        ("", "或者", 1, 1),
        ("者", "或者", 1, 1),
        ("京", "北京或京", 1, 1),
        ("0.5", "1/2", 0, 1),
        ("　5", "5", 1, 1),
        ("", "", 1, 1),
        ("x;y", "x;y", 0, 1),
    ],
)
def test_blanks_are_compared_line_by_line(prediction: str, label: str, score: int, total: int) -> None:
    assert official.blanks(prediction, label) == official.Marks(score, total)


def test_a_discussion_never_gets_all_and_white_space_raises() -> None:
    assert official.discussion("发展经济", "发展经济") == official.Marks(0.999999995, 1)
    assert official.discussion("x", "") == official.Marks(0, 0)
    assert official.discussion("", "x") == official.Marks(0, 1)
    with pytest.raises(ValueError, match="Hypothesis"):
        official.discussion(" \n", "x")
    with pytest.raises(ValueError, match="Reference"):
        official.discussion("x", " ")


def test_an_unknown_position_is_named() -> None:
    with pytest.raises(BadInput, match="start, end, middle, all, not 'last'"):
        official.checked_position("last")


@pytest.mark.parametrize(
    ("prediction", "cleaned"),
    [
        (" B \n", "B"),
        ("想\n\n甲\n\n丙", "丙"),
        ("Thought，持续 12 秒\nB", "B"),
        ("所以这道题的答案为：{AC}", "{AC}"),
        ("<think>A</think>B", "B"),
        ("Assistant:答案：B", "B"),
        ("我的分析如下：好", "好"),
        (r"\boxed{\text{AC}}", "AC"),
        (r"\boxed{AC}", r"\boxed{AC}"),
        (r"\boxed{\text{AC", r"\boxed{\text{AC"),
        ("", ""),
    ],
)
def test_replies_are_cleaned_as_upstream(prediction: str, cleaned: str) -> None:
    assert official.clean(prediction) == cleaned


@given(st.text(), st.text(), st.sampled_from(official.POSITIONS))
def test_no_reply_makes_a_scorer_raise(reply: str, label: str, position: str) -> None:
    for kind in ("单选", "多选", "填空", "解答", "论述"):
        sample = Sample.ask("q", "?", target=label, meta={"type": kind, "answer_position": position})
        for scorer in (multi, fair):
            assert isinstance(scorer(sample, Trajectory.of(reply)), Score | Unscored)


@pytest.mark.parametrize("piece", ["\\boxed{\\text{", " ,", "\n ", "Thought，持续 1", "中", "......", "？”", "; "])
def test_a_long_reply_is_scored_quickly(piece: str) -> None:
    reply = piece * (600_000 // len(piece))
    started = time.process_time()
    for kind in ("单选", "多选", "填空", "解答"):
        multi(Sample.ask("q", "?", target="AC", meta={"type": kind}), Trajectory.of(reply))
    assert time.process_time() - started < 8


def sample(kind: str, label: str | None, **meta: object) -> Sample:
    return Sample.ask("q", "?", target=label, meta={"type": kind, **meta})


def points(scorer: object, asked: Sample, reply: str) -> float | str:
    result = scorer(asked, Trajectory.of(reply))  # type: ignore[operator]  # a scorer
    return result.points if isinstance(result, Score) else f"{result.why}: {result.reason}"


def test_what_is_worth_nothing_is_not_scored_and_says_why() -> None:
    assert "type '论述'" in str(points(multi, sample("论述", "x"), "x"))
    assert "worth no points" in str(points(multi, sample("多选", ""), "A"))
    assert "worth no points" in str(points(multi, sample("解答", " "), "A"))
    assert "no recorded answer" in str(points(multi, sample("单选", None), "A"))
    assert points(multi, sample("单选", ""), "A") == 0
    assert points(multi, sample("填空", ""), "A") == 0


def test_a_claim_of_a_missing_image_is_nothing_and_counted() -> None:
    asked = sample("填空", "缺少图片信息")
    result = multi(asked, Trajectory.of("缺少图片信息"))
    assert isinstance(result, Score)
    assert (result.points, result.details["error_class"]) == (0, "image_missing")
    assert points(rejected, asked, "缺少图片信息") == 1
    assert points(rejected, asked, "5") == 0


@pytest.mark.parametrize(
    ("kind", "label", "reply", "official_points", "fair_points"),
    [
        ("单选", "C", "The answer is C", 0, 1),
        ("多选", "AC", "A、C", 1, 2),
        ("多选", "AC", r"\boxed{AC}", 0, 2),
        ("填空", "甲\n丙", "甲\n\n丙", 0, 2),
        ("填空", "或者", "者", 1, 0),
        ("填空", "1/2", "0.5", 0, 1),
        ("解答", "发展经济", "发展经济", 0.999999995, 1),
    ],
)
def test_the_fair_scorer_reads_the_whole_answer(
    kind: str, label: str, reply: str, official_points: float, fair_points: float
) -> None:
    asked = sample(kind, label)
    assert (points(multi, asked, reply), points(fair, asked, reply)) == (official_points, fair_points)


def test_the_improvement_of_a_reference_is_never_below_zero() -> None:
    assert points(improvement, sample("多选", "ABC", reference_answer="AB"), "A") == 1
    assert points(improvement, sample("多选", "ABC", reference_answer="A"), "AB") == 0
    assert "did not answer" in str(points(improvement, sample("多选", "ABC"), "AB"))
