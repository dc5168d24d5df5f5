"""Laws of agreement, correction and ranking, for any ratings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.run import Estimate
from proctor.stats.anytime import STAKES
from proctor_ci.stats.betting import bet
from proctor_judging.judges.probe import turned
from proctor_judging.judges.rubric import known, rubric
from proctor_judging.stats.agreement import Scale, cohen_kappa, krippendorff_alpha, share_equal
from proctor_judging.stats.correction import Labelled, ppi
from proctor_judging.stats.ranking import RankedBattle, bradley_terry

points = st.integers(1, 5)
pairs = st.lists(st.tuples(points, points), min_size=2, max_size=30)
units = st.lists(st.lists(st.none() | points, min_size=2, max_size=4), min_size=2, max_size=20)
scales = st.sampled_from(["nominal", "ordinal", "interval", "ratio"])
shares = st.floats(0, 1)


@given(units, scales, st.randoms())
def test_neither_the_order_of_items_nor_of_raters_matters(
    rated: list[list[int | None]], scale: Scale, source: object
) -> None:
    mixed = [source.sample(unit, len(unit)) for unit in source.sample(rated, len(rated))]  # type: ignore[attr-defined]  # a Random
    assert _near(krippendorff_alpha(rated, scale=scale), krippendorff_alpha(mixed, scale=scale))


@given(units, scales)
def test_a_number_is_in_its_interval_and_is_there_with_a_note_else(rated: list[list[int | None]], scale: Scale) -> None:
    _check(krippendorff_alpha(rated, scale=scale))
    _check(share_equal(rated))


@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_is_the_same_either_way_round_and_within_its_bounds(
    rated: list[tuple[int, int]], weights: object
) -> None:
    first, second = zip(*rated, strict=True)
    found = cohen_kappa(first, second, weights=weights)  # type: ignore[arg-type]  # one of the three
    _check(found)
    assert _near(found, cohen_kappa(second, first, weights=weights))  # type: ignore[arg-type]  # one of the three
    assert found.value is None or -1 - 1e-9 <= found.value <= 1


@given(st.lists(points, min_size=2, max_size=20).filter(lambda one: len(set(one)) > 1), scales)
def test_raters_who_always_say_the_same_agree_perfectly(said: list[int], scale: Scale) -> None:
    assert krippendorff_alpha([(one, one) for one in said], scale=scale).value == pytest.approx(1)
    assert cohen_kappa(said, said).value == pytest.approx(1)


@given(pairs, st.integers(2, 9), st.integers(-3, 3))
def test_interval_agreement_does_not_depend_on_the_unit(rated: list[tuple[int, int]], factor: int, shift: int) -> None:
    other = [(factor * a + shift, factor * b + shift) for a, b in rated]
    assert _near(krippendorff_alpha(rated, scale="interval"), krippendorff_alpha(other, scale="interval"))


@given(pairs)
def test_ordinal_agreement_depends_on_the_order_of_ratings_alone(rated: list[tuple[int, int]]) -> None:
    stretched = [(a**3, b**3) for a, b in rated]
    assert _near(krippendorff_alpha(rated, scale="ordinal"), krippendorff_alpha(stretched, scale="ordinal"))


@given(units)
def test_alpha_of_two_values_is_the_same_on_every_scale(rated: list[list[int | None]]) -> None:
    binary = [[None if one is None else one % 2 for one in unit] for unit in rated]
    nominal, ordinal, interval = (
        krippendorff_alpha(binary, scale=scale) for scale in ("nominal", "ordinal", "interval")
    )
    assert _near(nominal, ordinal)
    assert _near(nominal, interval)


@given(st.lists(st.tuples(shares, shares), max_size=30), st.lists(shares, max_size=30))
def test_a_corrected_mean_is_a_mean_or_says_why_not(labels: list[tuple[float, float]], judged: list[float]) -> None:
    _check(ppi([Labelled(human=human, judge=judge) for human, judge in labels], judged))


@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=30), st.lists(shares, min_size=2, max_size=30))
def test_a_judge_that_is_right_up_to_a_shift_leaves_the_plain_estimate(said: list[float], judged: list[float]) -> None:
    found = ppi([Labelled(human=one, judge=one - 0.05) for one in said], judged, tuned=False)
    expected = sum(judged) / len(judged) + 0.05
    assert found.value == pytest.approx(min(expected, 1), abs=1e-9)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from([0, 0.5, 1])), max_size=30))
def test_strengths_are_finite_and_sum_to_nothing(results: list[tuple[str, str, float]]) -> None:
    battles = [RankedBattle(item=str(i), first="a", second="b", won=i) for i in (0, 1)]
    battles += [RankedBattle(item=str(i), first="b", second="c", won=i) for i in (0, 1)]
    battles += [
        RankedBattle(item=str(i), first=a, second=b, won=won) for i, (a, b, won) in enumerate(results) if a != b
    ]
    found = bradley_terry(battles, resamples=20)
    assert math.fsum(one.strength for one in found.ratings) == pytest.approx(0, abs=1e-6)
    assert all(math.isfinite(one.elo) for one in found.ratings)
    assert all(one.low is None or one.low <= one.elo + 1e-6 for one in found.ratings)


@given(st.floats(0.01, 0.99), st.lists(st.sampled_from([0.0, 1.0]), max_size=100))
def test_betting_on_a_mean_gains_nothing_on_average_if_it_is_the_mean(mean: float, values: list[float]) -> None:
    wealth = STAKES
    for value in values:
        wealth = bet(wealth, value - mean, mean)
    won, lost = (math.fsum(bet(wealth, value - mean, mean)) for value in (1.0, 0.0))
    assert mean * won + (1 - mean) * lost == pytest.approx(math.fsum(wealth), rel=1e-9)


@pytest.mark.parametrize("name", known())
def test_a_bundled_rubric_turned_round_twice_has_its_anchors_again(name: str) -> None:
    assert turned(turned(rubric(name))).dimensions == rubric(name).dimensions


def _check(one: Estimate) -> None:
    if one.value is None:
        assert str(one.note) or not one.scored
        assert one.low is None
        return
    assert math.isfinite(one.value)
    if one.low is not None:
        assert one.high is not None
        assert -1 - 1e-9 <= one.low <= one.value + 1e-9
        assert one.value - 1e-9 <= one.high <= 1 + 1e-9


def _near(one: Estimate, other: Estimate) -> bool:
    if one.value is None or other.value is None:
        return one.value is other.value
    return math.isclose(one.value, other.value, abs_tol=1e-9)
