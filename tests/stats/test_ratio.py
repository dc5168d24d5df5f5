import random

import pytest

from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor_benchmarks.gaia.ratio import ratio


def _rate(right: int, count: int) -> Estimate:
    return estimate("", tally(Case(cluster=str(i), values=(float(i < right),), planned=1) for i in range(count)))


def test_the_ends_are_those_at_which_the_difference_of_over_and_ratio_times_under_may_be_nothing() -> None:
    """The definition of the method: at an end r, over - r·under is as far from 0 as the limits of both allow."""
    over, under = _rate(12, 40), _rate(30, 50)
    found = ratio(over, under)
    assert found is not None
    for end, of_over, of_under in ((found.low, over.low, under.high), (found.high, over.high, under.low)):
        assert over.value is not None
        assert under.value is not None
        assert of_over is not None
        assert of_under is not None
        gap = (over.value - end * under.value) ** 2
        assert gap == pytest.approx((over.value - of_over) ** 2 + end**2 * (of_under - under.value) ** 2)


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.4), (0.9, 0.3), (0.5, 0.1)])
def test_the_ratio_of_two_rates_is_covered(first: float, second: float) -> None:
    source = random.Random(1)
    rates = {count: [_rate(right, count) for right in range(count + 1)] for count in (53, 86)}
    rounds, hits = 2000, 0
    for _ in range(rounds):
        under, over = (
            rates[count][sum(source.random() < rate for _ in range(count))]
            for count, rate in ((53, first), (86, second))
        )
        found = ratio(over, under)
        assert found is not None
        hits += found.low <= second / first <= found.high
    assert 0.93 <= hits / rounds <= 0.985


def test_nothing_right_on_both_sides_has_no_ratio_and_none_above_has_one() -> None:
    assert ratio(_rate(0, 10), _rate(0, 10)) is None
    found = ratio(_rate(0, 10), _rate(5, 10))
    assert found is not None
    assert found.low == 0
    assert 0 < found.high < 1
