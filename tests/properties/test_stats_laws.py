"""Laws that hold for every input."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats.distributions import beta_cdf, beta_quantile, t_cdf, t_quantile
from proctor.stats.estimate import combine, estimate, metrics
from proctor.stats.multiple import holm
from proctor.stats.paired import PairedSample, compare, mcnemar_exact, mcnemar_mid_p, sign_flips
from proctor.stats.passk import pass_at_k, pass_hat_k
from proctor.stats.rate import wilson

values = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), max_size=3).map(tuple)
planned = st.integers(min_value=0, max_value=2)
cases = st.lists(
    st.builds(
        lambda cluster, earned, more: Case(
            cluster=cluster, values=earned, planned=len(earned) + more, points=sum(earned), out_of=len(earned)
        ),
        st.sampled_from("abcdef"),
        values,
        planned,
    ),
    max_size=12,
)
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
differences = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=10)
p_values = st.lists(st.floats(0, 1), max_size=8)
chances = st.floats(1e-6, 1 - 1e-6)


@given(cases, levels)
def test_a_value_lies_in_its_interval_and_its_bounds_and_all_of_them_in_0_to_1(some: list[Case], level: float) -> None:
    for one in metrics(tally(some), level=level):
        _check_order(one)


@given(st.lists(st.tuples(st.floats(0.01, 5), cases), min_size=1, max_size=4), levels)
def test_combined_values_keep_the_same_order(some: list[tuple[float, list[Case]]], level: float) -> None:
    parts = [(weight, estimate("", tally(part))) for weight, part in some]
    whole = combine("", "", parts, level=level)
    _check_order(whole)
    assert (whole.value is None) == any(part.value is None for _, part in parts)


@given(cases, st.randoms())
def test_the_order_of_samples_and_the_names_of_clusters_do_not_matter(some: list[Case], source: random.Random) -> None:
    shuffled = list(some)
    source.shuffle(shuffled)
    renamed = [
        Case(
            cluster=f"x{case.cluster}", values=case.values, planned=case.planned, points=case.points, out_of=case.out_of
        )
        for case in shuffled
    ]
    _check_same(estimate("", tally(some)), estimate("", tally(renamed)))


@given(cases)
def test_a_higher_level_is_never_narrower(some: list[Case]) -> None:
    narrow, wide = (estimate("", tally(some), level=level) for level in (0.8, 0.99))
    if narrow.low is not None and narrow.high is not None and wide.low is not None and wide.high is not None:
        assert wide.low <= narrow.low
        assert wide.high >= narrow.high


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(2, 4))
@example([0.0, 5e-324], 2)  # a mean so small that what it leaves is 1
def test_copies_within_a_cluster_add_no_certainty(earned: list[float], copies: int) -> None:
    single = [Case(cluster=str(i), values=(value,), planned=1) for i, value in enumerate(earned)]
    one, copied = estimate("", tally(single)), estimate("", tally(single * copies))
    assert copied.value == pytest.approx(one.value)
    if one.method == "Wilson with t over samples" and copied.method == "Wilson with t over clusters":
        assert copied.standard_error == pytest.approx(one.standard_error, rel=1e-6, abs=1e-9)
        assert (copied.low, copied.high) == pytest.approx((one.low, one.high), rel=1e-6, abs=1e-6)


@given(cases)
def test_a_whole_of_one_part_has_its_value_and_bounds(some: list[Case]) -> None:
    part = estimate("", tally(some))
    whole = combine("", "", [(3, part)])
    assert whole.value == part.value
    assert whole.standard_error == part.standard_error
    if part.floor is not None:
        assert (whole.floor, whole.ceiling) == (part.floor, part.ceiling)


@given(st.integers(1, 200), st.data())
def test_one_success_more_moves_the_interval_up(count: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, count - 1))
    fewer, more = wilson(successes / count, count), wilson((successes + 1) / count, count)
    assert fewer.low < more.low
    assert fewer.high <= more.high


@given(differences)
def test_swapping_two_runs_only_turns_the_sign(some: list[tuple[str, float, float]]) -> None:
    there = compare([PairedSample(cluster=cluster, first=a, second=b) for cluster, a, b in some])
    back = compare([PairedSample(cluster=cluster, first=b, second=a) for cluster, a, b in reversed(some)])
    assert back.value == pytest.approx(-there.value)
    assert back.p_value == pytest.approx(there.p_value, rel=1e-9)  # t of sums in another order
    assert (back.wins, back.losses, back.ties) == (there.losses, there.wins, there.ties)
    assert 0 < there.p_value <= 1
    if there.low is not None and there.high is not None:
        assert back.low is not None
        assert back.low == pytest.approx(-there.high, abs=1e-9)
        assert -1 <= there.low <= there.value <= there.high <= 1


@given(st.lists(st.sampled_from([1.0, -1.0, 0.0]), max_size=14))
def test_flipping_signs_of_wins_and_losses_is_the_exact_mcnemar_test(signs: list[float]) -> None:
    assert sign_flips(signs) == pytest.approx(mcnemar_exact(signs.count(1), signs.count(-1)))


@given(st.integers(0, 300), st.integers(0, 300))
def test_mid_p_is_below_the_exact_value_by_half_an_outcome_at_most(wins: int, losses: int) -> None:
    exact, mid = mcnemar_exact(wins, losses), mcnemar_mid_p(wins, losses)
    assert 0 < mid <= exact <= 1
    assert wins + losses == 0 or mid >= exact / 2 - 1e-9


@given(p_values)
def test_corrected_p_values_are_never_smaller(asked: list[float]) -> None:
    for p, bound in zip(asked, holm(asked), strict=True):
        assert p <= bound * (1 + 1e-12)
        assert bound <= 1


@given(st.integers(1, 12), st.data())
def test_more_tries_help_one_success_and_hurt_all(attempts: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, attempts))
    any_, all_ = (
        [formula(attempts, successes, k) for k in range(1, attempts + 1)] for formula in (pass_at_k, pass_hat_k)
    )
    assert any_ == sorted(any_)
    assert all_ == sorted(all_, reverse=True)
    assert any_[0] == pytest.approx(all_[0])


@given(chances, st.floats(0.5, 1000), st.floats(0.5, 1000))
def test_quantiles_undo_probabilities(probability: float, a: float, b: float) -> None:
    assert t_cdf(t_quantile(probability, a), a) == pytest.approx(probability, rel=1e-7)
    assert beta_cdf(beta_quantile(probability, a, b), a, b) == pytest.approx(probability, rel=1e-7)


def _check_order(one: Estimate) -> None:
    if one.value is None:
        assert one.low is one.high is None
    else:
        assert 0 <= one.value <= 1
    if one.low is not None and one.high is not None and one.value is not None:
        assert 0 <= one.low <= one.value <= one.high <= 1
    if one.floor is not None and one.ceiling is not None:
        assert 0 <= one.floor <= one.ceiling <= 1
        if one.value is not None:
            assert one.floor <= one.value <= one.ceiling


def _check_same(one: Estimate, other: Estimate) -> None:
    assert (one.method, one.scored, one.planned, one.clusters) == (
        other.method,
        other.scored,
        other.planned,
        other.clusters,
    )
    for field in ("value", "low", "high", "floor", "ceiling", "standard_error"):
        assert getattr(one, field) == pytest.approx(getattr(other, field), abs=1e-9)
