"""BLEU and chrF: identical texts are 1 in every script and at every length, and the package's numbers otherwise."""

import sys
import time

import pytest
import sacrebleu

from proctor.core.errors import MissingExtra
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.lookup import find_scorer
from proctor_judging.scorers import bleu, chrf
from proctor_judging.scorers._bleu import tokenizer_for

SAME = [
    "Paris",
    "the cat",
    "The cat sat on the mat.",
    "今天天气很好",
    "好",
    "猫はマットの上に座った。",
    "แมวนั่งอยู่บนเสื่อ",
    "고양이가 매트 위에 앉았다",
    "القط جلس على السجادة",
    "Кошка сидит на коврике",
    "!",
    "🙂",
    "42",
]


def score(scorer: str, answer: str, target: object, **options: object) -> Score:
    result = find_scorer(scorer, options)(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


@pytest.mark.parametrize("text", SAME)
@pytest.mark.parametrize("scorer", ["bleu", "chrf"])
def test_an_identical_text_is_one(scorer: str, text: str) -> None:
    assert score(scorer, text, text).points == 1.0


@pytest.mark.parametrize("scorer", ["bleu", "chrf"])
def test_nothing_in_common_is_near_zero(scorer: str) -> None:
    assert score(scorer, "zzz qqq", "the cat sat on the mat").points < 0.1


def test_one_character_of_a_chinese_sentence_changes_a_little() -> None:
    value = score("bleu", "今天天气很坏", "今天天气很好").points
    assert 0.5 < value < 1
    assert value > score("bleu", "完全不同的话", "今天天气很好").points


def test_the_number_is_that_of_the_package() -> None:
    expected = sacrebleu.sentence_bleu("the cat sat on a mat", ["the cat sat on the mat"]).score / 100
    assert score("bleu", "the cat sat on a mat", "the cat sat on the mat").points == pytest.approx(expected, abs=1e-12)
    expected = sacrebleu.sentence_chrf("the cat", ["the hat"]).score / 100
    assert score("chrf", "the cat", "the hat").points == pytest.approx(expected, abs=1e-12)


def test_the_target_chooses_how_to_cut_and_the_reason_tells_it() -> None:
    assert "tok:zh" in str(score("bleu", "today", "今天天气很好").reason)
    assert "tok:13a" in str(score("bleu", "今天", "good weather").reason)
    assert tokenizer_for("ねこ、猫") == "char"
    assert "tok:intl" in str(score("bleu", "a b", "a b c", tokenize="intl").reason)


def test_the_best_of_several_targets_counts() -> None:
    assert score("bleu", "b c d e", ["x y z", "b c d e"]).points == 1
    assert score("chrf", "b c d e", ["x y z", "b c d e"]).points == 1


def test_case_counts_unless_it_is_said() -> None:
    assert score("bleu", "THE CAT", "the cat").points < 1
    assert score("bleu", "THE CAT SAT", "the cat sat", lowercase=True).points == pytest.approx(1)


@pytest.mark.parametrize("scorer", [bleu.bleu, chrf.chrf])
def test_an_empty_answer_is_zero_and_an_empty_target_no_score(scorer: object) -> None:
    assert callable(scorer)
    assert scorer(Sample.ask("a", "?", target="x"), Trajectory.of(" ")).points == 0
    assert isinstance(scorer(Sample.ask("a", "?", target=" "), Trajectory.of("x")), Unscored)


@pytest.mark.parametrize("scorer", ["bleu", "chrf"])
@pytest.mark.parametrize("piece", ["word ", "x", "语", "\x00"])
def test_an_endless_answer_is_quick(scorer: str, piece: str) -> None:
    began = time.process_time()
    assert score(scorer, piece * (10_000_000 // len(piece)), "a short target").points < 0.5
    assert time.process_time() - began < 5


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(MissingExtra, match=r"\[text\]"):
        find_scorer("bleu", {"lowercase": True})
