"""The words in which two texts differ."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor_judging.matching.rouge_figures import common_length
from proctor_web.comparing.word_diff import WordDiffPiece, _subsequence, diff_words, words_of


def marked(pieces: list[WordDiffPiece]) -> str:
    return "".join(f"[{piece.text}]" if piece.changed else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("first", "second", "as_first", "as_second"),
    [
        ("the same", "the same", "the same", "the same"),
        ("", "", "", ""),
        ("", "new", "", "[new]"),
        ("a red cat sat", "a blue cat slept", "a [red] cat [sat]", "a [blue] cat [slept]"),
        ("北京是中国的首都。", "上海是中国的城市。", "[北京]是中国的[首都]。", "[上海]是中国的[城市]。"),
        ("共有 3.5 公里", "共有 35 公里", "共有 [3.5] 公里", "共有 [35] 公里"),
        ("pay(amount=10, to=ann)", "pay(amount=12, to=ann)", "pay(amount=[10], to=ann)", "pay(amount=[12], to=ann)"),
        ("one\ntwo\nthree", "one\nthree", "one\nt[wo\nt]hree".replace("t[wo\nt]", "[two\n]t"), "one\nthree"),
    ],
)
def test_what_differs_is_marked(first: str, second: str, as_first: str, as_second: str) -> None:
    one, other = diff_words(first, second)
    assert (marked(one), marked(other)) == (as_first, as_second)


def test_single_letters_in_common_do_not_cut_a_change_into_pieces() -> None:
    one, other = diff_words("start 一乙丙的丁戊 end", "start 二甲子的寅卯 end")
    assert (marked(one), marked(other)) == ("start [一乙丙的丁戊] end", "start [二甲子的寅卯] end")


texts = st.text(alphabet="ab 你好\n1.é", max_size=40)


@given(first=texts, second=texts)
def test_each_side_is_its_text_and_what_is_not_marked_is_the_same_on_both(first: str, second: str) -> None:
    one, other = diff_words(first, second)
    assert "".join(piece.text for piece in one) == first
    assert "".join(piece.text for piece in other) == second
    kept = ["".join(piece.text for piece in side if not piece.changed) for side in (one, other)]
    assert kept[0] == kept[1]


@given(first=texts, second=texts)
def test_the_subsequence_is_common_and_as_long_as_any(first: str, second: str) -> None:
    one, other = words_of(first), words_of(second)
    matches = _subsequence(one, other)
    assert all(one[at] == other[to] for at, to in matches)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(matches))
    assert len(matches) == common_length(one, other)


def test_hostile_texts_take_no_longer_than_others() -> None:
    for first, second in (
        ("a b " * 30_000, "b a " * 30_000),
        ("你" * 50_000, "好你" * 50_000),
        ("\u0301" * 9_000, "é" * 9_000),
    ):
        began = time.thread_time()
        one, other = diff_words(first, second)
        assert time.thread_time() - began < 2
        assert "".join(piece.text for piece in one) == first
        assert "".join(piece.text for piece in other) == second
