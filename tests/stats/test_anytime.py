"""Bounds that hold however it was decided when to stop."""

import random

import pytest

from proctor.core.errors import BadInput
from proctor.stats.anytime import bounds, p_value
from proctor.stats.distributions import beta_quantile

ROUNDS = 120


def test_the_bounds_of_no_step_are_those_of_the_values() -> None:
    found = bounds([], 0.05, low=-1)
    assert (found.low, found.high) == (-1, 1)


def test_they_are_wider_than_those_of_a_fixed_number_and_hold_the_mean() -> None:
    found = bounds([(1.0, 1)] * 80 + [(0.0, 1)] * 20, 0.025)
    low, high = beta_quantile(0.025, 80, 21), beta_quantile(0.975, 81, 20)  # Clopper and Pearson's
    assert found.low < low < 0.8 < high < found.high
    assert 1.3 < (found.high - found.low) / (high - low) < 2


def test_the_order_of_steps_is_irrelevant_and_a_weight_counts_like_as_many_samples() -> None:
    steps = [(0.25, 1.0), (1.0, 4.0), (0.0, 2.0), (0.5, 3.0)] * 10
    shuffled = random.Random(1).sample(steps, len(steps))
    assert bounds(steps, 0.05) == bounds(shuffled, 0.05)
    assert bounds([(value, 2 * weight) for value, weight in steps], 0.05) == bounds(steps, 0.05)


def test_the_interval_leaves_out_a_mean_exactly_when_the_p_value_is_small() -> None:
    steps = [(1.0, 1.0)] * 30 + [(0.0, 1.0)] * 60 + [(-1.0, 1.0)] * 10
    level = p_value(steps)
    assert bounds(steps, level * 0.51, low=-1).low > 0 > bounds(steps, level * 0.49, low=-1).low


def test_a_value_out_of_bounds_is_refused() -> None:
    with pytest.raises(BadInput, match=r"between -1\.0 and 1\.0"):
        bounds([(1.5, 1)], 0.05, low=-1.0)


@pytest.mark.parametrize(
    "values", [(0.0, 1.0), (0.0, 0.5, 1.0, 1.0), (0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)]
)
def test_stopping_when_it_looks_best_errs_as_rarely_as_stated(values: tuple[float, ...]) -> None:
    draw, truth, missed = random.Random(3), sum(values) / len(values), 0
    for _ in range(ROUNDS):
        steps: list[tuple[float, float]] = []
        for count in (20, 60, 120):
            steps += [(draw.choice(values), 1.0) for _ in range(count - len(steps))]
            if bounds(steps, 0.05).low > truth:
                missed += 1
                break
    assert missed <= 0.08 * ROUNDS
