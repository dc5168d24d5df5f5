import random
from collections.abc import Mapping

import pytest

from proctor.core.errors import BadInput
from proctor_judging.stats.bootstrap import draws, jackknife, percentiles


def test_the_same_seed_draws_the_same_and_another_draws_otherwise() -> None:
    once, again, other = (draws(range(50), resamples=5, seed=seed) for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert all(drawn.total() == 50 for drawn in once)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    values = [1.0, 2.0, 4.0, 4.0, 9.0]
    found = jackknife(_mean, values)
    assert found is not None
    assert found.standard_error == pytest.approx(1.3784048752090223)  # statistics.stdev(values) / 5 ** 0.5
    assert (found.degrees, found.undefined) == (4, 0)


def test_many_different_items_are_left_out_in_groups() -> None:
    source = random.Random(1)
    values = [source.gauss(0, 1) for _ in range(5_000)]
    found = jackknife(_mean, values)
    assert found is not None
    assert found.degrees == 199
    assert found.standard_error == pytest.approx(5_000**-0.5, rel=0.15)


def test_one_item_has_no_error() -> None:
    assert jackknife(_mean, [1.0]) is None
    assert jackknife(_mean, []) is None


def test_a_statistic_that_is_undefined_without_an_item_is_counted() -> None:
    found = jackknife(lambda times: _mean(times) if len(times) > 1 else None, [1.0, 1.0, 2.0])
    assert found is not None
    assert found.undefined == 1


def test_percentiles_do_not_depend_on_the_order_and_need_a_level() -> None:
    assert percentiles([3, 1, 2]) == percentiles([1, 2, 3])
    with pytest.raises(BadInput, match="between 0 and 1"):
        percentiles([1.0], level=1.0)


def _mean(times: Mapping[float, int]) -> float:
    return sum(value * count for value, count in times.items()) / sum(times.values())
