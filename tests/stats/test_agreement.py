import random
from collections.abc import Callable, Sequence

import pytest
from simulated import chance, rounds

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor_judging.stats.agreement import (
    Scale,
    cohen_kappa,
    krippendorff_alpha,
    share_equal,
)

OBSERVERS = (  # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": 4 observers, 12 units
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
UNITS = list(zip(*([None if one == "." else int(one) for one in row.split()] for row in OBSERVERS), strict=True))
TABLE = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
PAIRS = [pair for pair, count in TABLE.items() for _ in range(count)]
CHANCE = chance(0.05, 500)
WIDE = 0.03 + CHANCE  # of a coverage around 0.95, in 500 rounds


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)]
)
def test_the_standard_example_of_alpha_has_its_published_values(scale: Scale, published: float) -> None:
    found = krippendorff_alpha(UNITS, scale=scale)
    assert found.value == pytest.approx(published, abs=1e-6)
    assert (found.scored, found.planned) == (11, 12)  # one unit has a single rating


def test_kappa_of_the_textbook_table_is_two_fifths() -> None:
    first, second = zip(*PAIRS, strict=True)
    assert cohen_kappa(first, second).value == pytest.approx(0.4)


def test_the_error_of_kappa_is_about_that_of_fleiss_cohen_and_everitt() -> None:
    """Table 2 of Fleiss, Cohen and Everitt 1969: kappa 0.429, standard error 0.0537 for n = 200."""
    shares = [[0.53, 0.05, 0.02], [0.11, 0.14, 0.05], [0.01, 0.06, 0.03]]
    pairs = [(a, b) for a, row in enumerate(shares) for b, share in enumerate(row) for _ in range(round(200 * share))]
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    assert found.value == pytest.approx(0.429, abs=5e-4)
    assert found.standard_error == pytest.approx(0.0537, abs=2e-3)


def test_weighted_kappa_counts_near_ratings_as_nearly_the_same() -> None:
    first, second = [1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 4, 5]
    plain, linear, quadratic = (
        _value(cohen_kappa(first, second, weights=weights)) for weights in (None, "linear", "quadratic")
    )
    assert plain < linear < quadratic < 1
    assert linear == pytest.approx(1 - (1 / 6) / (58 / 36))  # mean distance 1/6, by chance 58/36
    assert quadratic == pytest.approx(1 - (1 / 6) / (146 / 36))


def test_weighted_kappa_of_two_categories_is_kappa() -> None:
    first, second = zip(*[(int(a == "y"), int(b == "y")) for a, b in PAIRS], strict=True)
    for weights in ("linear", "quadratic"):
        assert cohen_kappa(first, second, weights=weights).value == pytest.approx(0.4)


def test_the_share_that_says_the_same_has_wilsons_interval_for_two_raters() -> None:
    found = share_equal([(1, 1)] * 18 + [(1, 2)] * 2 + [(1, None)])
    assert (found.value, found.scored, found.planned) == (0.9, 20, 21)
    assert [_low(found), _high(found)] == pytest.approx([0.698966, 0.972134], abs=1e-6)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_without_variation_is_undefined_and_says_so(scale: Scale) -> None:
    found = krippendorff_alpha([(3, 3, 3)] * 10, scale=scale)
    assert found.value is None
    assert found.low is None
    assert "always gave the same rating" in str(found.note)


def test_kappa_without_variation_is_undefined_and_says_so() -> None:
    found = cohen_kappa(["pass"] * 10, ["pass"] * 10)
    assert found.value is None
    assert "always gave the same rating" in str(found.note)


def test_nothing_rated_twice_is_undefined_and_says_so() -> None:
    for found in (krippendorff_alpha([(1, None), (None, 2)]), cohen_kappa([1, None], [None, 2])):
        assert found.value is None
        assert "rated by two" in str(found.note)
        assert found.scored == 0
    assert share_equal([(1, None)]).value is None


def test_one_item_gives_a_value_without_an_interval() -> None:
    found = cohen_kappa(["y"], ["n"])
    assert found.value == 0
    assert found.low is None
    assert "One item" in str(found.note)


def test_perfect_agreement_of_few_items_is_not_taken_for_certain() -> None:
    few, many = (krippendorff_alpha([(1, 1), (2, 2)] * half) for half in (5, 500))
    assert few.value == many.value == 1
    assert _low(few) < 0.5 < 0.95 < _low(many)
    assert _high(few) == 1


def test_a_value_that_hangs_on_one_item_has_a_wide_interval() -> None:
    found = cohen_kappa(["pass"] * 20, ["pass"] * 19 + ["fail"])
    assert found.value == pytest.approx(0)
    assert _low(found) == -1
    assert _high(found) > 0.5


def test_total_disagreement_is_below_zero() -> None:
    found = cohen_kappa(["y", "n"] * 5, ["n", "y"] * 5)
    assert found.value == -1
    assert (found.low, _high(found) < 0) == (-1, True)


def test_texts_are_categories_and_no_numbers() -> None:
    assert krippendorff_alpha([("a", "a"), ("b", "b"), ("a", 1)]).value is not None
    with pytest.raises(BadInput, match="no number"):
        krippendorff_alpha([("a", "b")], scale="ordinal")
    with pytest.raises(BadInput, match="no number"):
        cohen_kappa(["a"], ["b"], weights="linear")


@pytest.mark.parametrize("rating", [float("nan"), float("inf")])
def test_a_rating_that_is_no_finite_number_is_refused(rating: float) -> None:
    with pytest.raises(BadInput, match="number or a text"):
        krippendorff_alpha([(1, rating)])


def test_a_ratio_scale_has_no_ratings_below_zero_and_not_too_many() -> None:
    with pytest.raises(BadInput, match="0 or more"):
        krippendorff_alpha([(-1, 2)], scale="ratio")
    with pytest.raises(BadInput, match="at most 500"):
        krippendorff_alpha([(one, one + 0.5) for one in range(1000)], scale="ratio")


def test_raters_of_different_items_are_refused() -> None:
    with pytest.raises(BadInput, match="one has 2, the other 3"):
        cohen_kappa([1, 2], [1, 2, 3])


def test_an_impossible_level_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        cohen_kappa([1, 2], [1, 2], level=95)


@pytest.mark.parametrize(("count", "cells"), [(20, (0.4, 0.1, 0.2)), (50, (0.5, 0.05, 0.05)), (200, (0.8, 0.05, 0.05))])
def test_kappa_is_covered(count: int, cells: tuple[float, float, float]) -> None:
    both, first_only, second_only = cells
    neither = 1 - sum(cells)
    chance = (both + first_only) * (both + second_only) + (neither + first_only) * (neither + second_only)
    truth = (both + neither - chance) / (1 - chance)

    def rate(source: random.Random) -> tuple[int, int]:
        return source.choices([(1, 1), (1, 0), (0, 1), (0, 0)], (*cells, neither))[0]

    covered = _coverage(lambda pairs: cohen_kappa(*zip(*pairs, strict=True)), rate, count, truth)
    assert 0.92 - CHANCE <= covered <= 0.985 + CHANCE


@pytest.mark.parametrize(("scale", "count"), [("nominal", 30), ("ordinal", 30), ("interval", 60)])
def test_alpha_is_covered(scale: Scale, count: int) -> None:
    source = random.Random(5)
    truth = _value(krippendorff_alpha([_three_opinions(source) for _ in range(40_000)], scale=scale))
    hits = _coverage(lambda units: krippendorff_alpha(units, scale=scale), _three_opinions, count, truth)
    assert hits == pytest.approx(0.95, abs=WIDE)


def _coverage(
    estimate: Callable[[Sequence[tuple[int, ...]]], Estimate],
    rate: Callable[[random.Random], tuple[int, ...]],
    count: int,
    truth: float,
) -> float:
    source = random.Random(1)
    found = [estimate([rate(source) for _ in range(count)]) for _ in range(rounds(500))]
    told = [one for one in found if one.value is not None]
    return sum(_low(one) <= truth <= _high(one) for one in told) / len(told)


def _three_opinions(source: random.Random) -> tuple[int, ...]:
    quality = source.gauss(0, 1)
    return tuple(max(1, min(5, round(3 + quality + source.gauss(0, 0.7)))) for _ in range(3))


def _value(one: Estimate) -> float:
    assert one.value is not None
    return one.value


def _low(one: Estimate) -> float:
    assert one.low is not None
    return one.low


def _high(one: Estimate) -> float:
    assert one.high is not None
    return one.high


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 20, 50])
def test_agreement_on_what_nearly_always_passes_is_covered(count: int) -> None:
    """90 % pass, two raters who are right nine times in ten: the jackknife alone covered 73, 84 and 93 %."""
    source = random.Random(2)

    def rated() -> tuple[int, int]:
        truth = source.random() < 0.9
        first, second = (int(truth == (source.random() < 0.9)) for _ in range(2))
        return first, second

    both_right, agree = 0.9 * 0.9 + 0.1 * 0.1, 0.9 * 0.9 + 0.1 * 0.1
    truth = (agree - (0.82**2 + 0.18**2)) / (1 - (0.82**2 + 0.18**2))
    assert both_right == pytest.approx(0.82)  # as often as each of them says pass
    hits = counted = 0
    for _ in range(rounds(400)):
        found = krippendorff_alpha([rated() for _ in range(count)])
        if found.low is not None and found.high is not None:
            counted += 1
            hits += found.low <= truth <= found.high
    assert hits / counted >= 0.94 - chance(0.05, 400)
