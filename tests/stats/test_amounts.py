"""Bounds of skewed amounts: one unseen trial takes the most that one can."""

import math
import random
from collections.abc import Callable

import pytest

from proctor_ci.stats.amounts import AmountStep, bounds, chance_below, seen_bounds
from proctor_ci.stats.bounds import exact

ONE = AmountStep(1.0, 1.0)
NONE = AmountStep(0.0, 1.0)


@pytest.mark.parametrize(("successes", "count"), [(0, 5), (0, 20), (3, 20), (19, 20), (10, 500)])
def test_right_and_wrong_get_the_bounds_of_clopper_and_pearson(successes: int, count: int) -> None:
    steps = [ONE] * successes + [NONE] * (count - successes)
    found = bounds(steps, 0.05, least=NONE, most=ONE)
    known = exact(successes, count, 0.05)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.003)


@pytest.mark.parametrize("weights", [[3.0, -1.0], [1.0, 1.0, -1.0], [5.0, -1.0, -1.0, -1.0], [0.1, -3.0], [2.0, -2.0]])
def test_the_chance_is_that_of_many_draws(weights: list[float]) -> None:
    source = random.Random(1)
    draws = 20_000
    below = sum(sum(source.expovariate(1) * one for one in weights) <= 0 for _ in range(draws))
    assert chance_below(weights) == pytest.approx(below / draws, abs=0.015)
    assert chance_below([-one for one in weights]) == pytest.approx(1 - chance_below(weights), abs=1e-9)


def test_a_chance_is_certain_where_all_lie_on_one_side() -> None:
    assert (chance_below([-1.0, 0.0]), chance_below([1.0, 0.0])) == (1.0, 0.0)


def test_more_than_was_seen_counts_less_and_less() -> None:
    highs = []
    for count in (10, 100, 1_000):
        found = bounds([ONE] * count, 0.05, least=NONE, most=AmountStep(60.0, 1.0))
        seen = seen_bounds([ONE] * count, 0.05)
        assert found is not None
        assert seen is not None
        assert found.low < 1 < found.high
        assert (seen.low, seen.high) == pytest.approx((1, 1), abs=1e-3)
        highs.append(found.high)
    assert highs == sorted(highs, reverse=True)
    assert highs[-1] == pytest.approx(1 + 59 * 3 / 1_000, abs=0.02)


def test_without_a_greatest_amount_there_is_no_upper_bound_and_one_cluster_has_none() -> None:
    found = bounds([ONE, AmountStep(2.0, 1.0)] * 20, 0.05, least=NONE, most=None)
    assert found is not None
    assert found.high == math.inf
    assert bounds([ONE], 0.05, least=NONE, most=ONE) is None


def test_a_ratio_of_pairs_that_move_together_is_narrow() -> None:
    source = random.Random(2)
    before = [source.lognormvariate(0, 1) for _ in range(200)]
    steps = [AmountStep(1.2 * one * source.uniform(0.98, 1.02), one) for one in before]
    found = seen_bounds(steps, 0.05)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((1.2, 1.2), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda source: min(source.lognormvariate(0, 1), 70.0),
        lambda source: min(source.lognormvariate(0, 1.5), 70.0),
        lambda source: 60.0 if source.random() < 0.02 else source.uniform(0.8, 1.2),
    ],
    ids=["sigma 1", "sigma 1.5", "one in fifty takes 60 times as long"],
)
@pytest.mark.parametrize("count", [10, 30, 100])
def test_a_mean_at_its_limit_is_seldom_called_lower(draw: Callable[[random.Random], float], count: int) -> None:
    """Student's bound is wrong in 11 to 80 % here."""
    source, rounds = random.Random(count), 600
    truth = math.fsum(draw(source) for _ in range(60_000)) / 60_000
    wrong = 0
    for _ in range(rounds):
        away = [draw(source) - truth for _ in range(count)]
        wrong += chance_below([*away, 70 - truth]) > 0.95
    assert wrong / rounds <= 0.055


def test_no_weights_are_too_far_apart() -> None:
    source = random.Random(3)
    for _ in range(500):
        weights = [source.choice((1, -1)) * 10 ** source.uniform(-12, 6) for _ in range(source.choice((2, 3, 10, 30)))]
        chance = chance_below(weights)
        assert 0 <= chance <= 1
        if min(weights) < 0 < max(weights):
            assert chance_below([-one for one in weights]) == pytest.approx(1 - chance, abs=1e-5)
