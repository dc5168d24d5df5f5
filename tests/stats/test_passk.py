import math
from collections.abc import Callable
from itertools import combinations

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor.stats.passk import pass_at_k, pass_hat_k, tally_by


def test_three_of_five_attempts_give_the_known_values() -> None:
    assert [pass_at_k(5, 3, k) for k in (1, 2, 3)] == pytest.approx([0.6, 0.9, 1])
    assert [pass_hat_k(5, 3, k) for k in (1, 2, 3)] == pytest.approx([0.6, 0.3, 0.1])


@pytest.mark.parametrize("successes", range(7))
@pytest.mark.parametrize("k", range(1, 7))
def test_both_are_shares_of_all_choices(successes: int, k: int) -> None:
    choices = list(combinations([True] * successes + [False] * (6 - successes), k))
    assert pass_at_k(6, successes, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(6, successes, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@pytest.mark.parametrize(("rate", "attempts", "k"), [(0.5, 5, 3), (0.75, 4, 3), (0.1, 8, 2)])
def test_both_are_right_on_average_where_the_power_of_the_share_is_not(rate: float, attempts: int, k: int) -> None:
    assert _expected(lambda n, c: pass_hat_k(n, c, k), attempts, rate) == pytest.approx(rate**k)
    assert _expected(lambda n, c: pass_at_k(n, c, k), attempts, rate) == pytest.approx(1 - (1 - rate) ** k)
    assert _expected(lambda n, c: (c / n) ** k, attempts, rate) > rate**k * 1.2


def test_the_power_of_the_share_gives_200_instead_of_125() -> None:
    assert _expected(lambda n, c: (c / n) ** 3, 5, 0.5) == pytest.approx(0.200, abs=1e-3)


@pytest.mark.parametrize("formula", [pass_at_k, pass_hat_k])
def test_more_choices_than_attempts_are_refused(formula: Callable[[int, int, int], float]) -> None:
    with pytest.raises(BadInput, match="4 attempts cannot be chosen out of 3"):
        formula(3, 3, 4)
    with pytest.raises(BadInput, match="at least 1"):
        formula(3, 3, 0)
    with pytest.raises(ValueError, match="successes"):
        formula(3, 4, 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_samples_of_their_own_and_in_clusters_are_added_up_alike(k: int) -> None:
    """A cluster of one sample is a sample of its own, whichever way the sums are made."""
    alone = [Case(cluster=str(i), values=(1.0,) * (i % 4) + (0.0,) * (3 - i % 4), planned=3) for i in range(20)]
    pair = [Case(cluster="pair", values=(1.0, 0.0, 1.0), planned=3)] * 2
    plain = tally(
        Case(cluster=one.cluster, values=(pass_hat_k(3, int(sum(one.values)), k),), planned=1) for one in alone
    )
    expected, made = estimate(f"pass^{k}", plain), _hat(alone, k)
    assert (made.value, made.low, made.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert _hat([*alone, *pair], k).clusters == 21


def test_the_mean_over_samples_has_an_interval_over_samples() -> None:
    cases = [
        Case(cluster=str(i), values=values, planned=3) for i, values in enumerate([(1, 1, 0), (1, 1, 1), (0, 0, 0)])
    ]
    at, hat = estimate("pass@2", tally_by(pass_at_k, cases, 2)), _hat(cases, 2)
    assert (at.name, at.method, at.scored) == ("pass@2", "Wilson", 3)
    assert at.value == pytest.approx(2 / 3)
    assert (hat.name, hat.method) == ("pass^2", "Wilson with t over samples")
    assert hat.value == pytest.approx((1 / 3 + 1) / 3)


def test_a_reward_of_almost_one_is_a_success() -> None:
    cases = [Case(cluster="a", values=(1 - 1e-7,), planned=1), Case(cluster="b", values=(1 - 1e-5,), planned=1)]
    assert _hat(cases, 1).value == 0.5


def test_a_sample_with_too_few_scored_attempts_is_missing_and_not_wrong() -> None:
    cases = [Case(cluster="a", values=(1, 1), planned=2), Case(cluster="b", values=(1,), planned=2)]
    hat = _hat(cases, 2)
    assert (hat.value, hat.scored, hat.planned, hat.floor, hat.ceiling) == (1, 1, 2, 0.5, 1)


def test_more_attempts_than_were_planned_are_refused() -> None:
    with pytest.raises(BadInput, match="3 attempts cannot be chosen out of 2"):
        tally_by(pass_at_k, [Case(cluster="a", values=(1, 1), planned=2)], 3)


def _hat(cases: list[Case], k: int) -> Estimate:
    return estimate(f"pass^{k}", tally_by(pass_hat_k, cases, k))


def _expected(formula: Callable[[int, int], float], attempts: int, rate: float) -> float:
    return sum(
        math.comb(attempts, c) * rate**c * (1 - rate) ** (attempts - c) * formula(attempts, c)
        for c in range(attempts + 1)
    )
