"""The power that a plan computes: at known numbers, at the edges, and as simulated runs have it (short form of `bench/planning.py`)."""

from functools import partial

import pytest
from bench.planning import SETTINGS, Setting, power

from proctor.stats.distributions import beta_cdf
from proctor.stats.planning import Spread, least_samples, power_to_compare
from proctor_ci.stats.bounds import exact
from proctor_ci.stats.passing import power_to_pass


def test_as_many_samples_as_published_find_ten_points() -> None:
    """15 % won and 5 % lost: 154.6 samples without the correction for exactness of the test, and 1/δ = 10 more with it."""
    spread = Spread(between=0.2 - 0.1**2, within=0)
    assert least_samples(lambda count: power_to_compare(count, 1, spread, 0.1), 0.8) == 165


def test_a_threshold_is_planned_with_the_exact_power_of_the_bound() -> None:
    spread = Spread(between=0.09, within=0)
    count = least_samples(lambda count: power_to_pass(count, 1, spread, 0.8, 0.9), 0.8)
    assert count is not None
    passing = next(hits for hits in range(count + 1) if exact(hits, count, 0.05).low >= 0.8)
    assert power_to_pass(count, 1, spread, 0.8, 0.9) == pytest.approx(beta_cdf(0.9, passing, count - passing + 1))
    assert power_to_pass(count, 1, spread, 0.8, 0.9) >= 0.8
    assert power_to_pass(count - 1, 1, spread, 0.8, 0.9) < 0.8


def test_attempts_lessen_only_what_comes_from_attempts() -> None:
    spread = Spread(between=0.05, within=0.2, fixed=0.05)
    assert [round(spread.total(attempts), 3) for attempts in (1, 2, 10)] == [0.3, 0.2, 0.12]
    numbers = [
        least_samples(partial(power_to_compare, attempts=attempts, spread=spread, difference=0.1), 0.8) or 0
        for attempts in (2, 4, 8)
    ]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("samples", [2, 4, 5])
def test_too_few_samples_find_nothing_however_clear(samples: int) -> None:
    assert power_to_compare(samples, 1, Spread(between=0.0, within=0.0), 0.9) == 0
    assert power_to_compare(samples, 3, Spread(between=0.0, within=0.0), 0.9) == 0
    assert power_to_pass(samples, 1, Spread(between=0.01, within=0.0), 0.95, 0.99) == 0


def test_clusters_take_more_samples() -> None:
    alone, together = (Spread(between=0.1, within=0.1, clusters=share, is_binary=False) for share in (1.0, 0.1))
    for count in (100, 400):
        assert power_to_compare(count, 2, together, 0.1) < power_to_compare(count, 2, alone, 0.1)
    assert power_to_compare(40, 2, together, 0.5) == 0  # four clusters


def test_what_no_number_finds_is_none() -> None:
    assert least_samples(lambda _: 0.5, 0.8, most=1_000) is None


QUICK = [one for one in SETTINGS if not one.name.startswith(("5 points", "10 points, three", "10 points, a baseline"))]


@pytest.mark.parametrize("setting", QUICK, ids=lambda setting: setting.name)
def test_runs_of_the_planned_size_decide_four_times_in_five(setting: Setting) -> None:
    """150 runs: a power of 80 % comes out below 68 % or above 92 % in fewer than 1 of 1,000 such tests."""
    assert 0.68 <= power(setting, rounds=150) <= 0.92
