import math

import pytest

from proctor.core.errors import BadInput
from proctor.stats.distributions import normal_quantile
from proctor.stats.rate import Interval, wilson


def test_the_interval_of_18_of_20_is_the_known_one() -> None:
    assert _ends(wilson(0.9, 20)) == pytest.approx((0.698966, 0.972134), abs=1e-6)


def test_the_interval_of_0_of_20_starts_at_0_and_is_not_empty() -> None:
    assert _ends(wilson(0, 20)) == pytest.approx((0, 0.161125), abs=1e-6)
    assert wilson(0, 20).low == 0
    assert wilson(1, 20).high == 1


def test_wilson_covers_what_it_says_with_20_samples_where_the_normal_interval_does_not() -> None:
    normal = [_normal(successes / 20, 20) for successes in range(21)]
    assert _coverage(normal, 0.9) == pytest.approx(0.876, abs=5e-4)
    assert _coverage([wilson(successes / 20, 20) for successes in range(21)], 0.9) == pytest.approx(0.957, abs=5e-4)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(BadInput, match=r"for example 0\.95"):
        wilson(1, 2, level)


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _normal(rate: float, count: int) -> Interval:
    half = normal_quantile(0.975) * math.sqrt(rate * (1 - rate) / count)
    return Interval(low=rate - half, high=rate + half)


def _coverage(intervals: list[Interval], rate: float) -> float:
    count = len(intervals) - 1
    return sum(
        math.comb(count, successes) * rate**successes * (1 - rate) ** (count - successes)
        for successes, interval in enumerate(intervals)
        if interval.low <= rate <= interval.high
    )
