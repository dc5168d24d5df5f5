import random

import pytest

from proctor.core.tally import tally
from proctor.core.trial import Value
from proctor.stats.estimate import estimate
from proctor.stats.repeats import cases, pass_estimates, split_error


def _values(means: list[list[float | None]], clusters: int = 0) -> list[Value]:
    return [
        Value(
            sample_id=str(sample), attempt=attempt, cluster=str(sample % clusters if clusters else sample), value=value
        )
        for sample, values in enumerate(means)
        for attempt, value in enumerate(values)
    ]


def test_values_become_samples_with_their_planned_attempts() -> None:
    first, second = cases(_values([[1, None, 0], [1, 1, 1]]), 3)[""]
    assert (first.values, first.planned, second.values) == ((1, 0), 3, (1, 1, 1))


def test_pass_at_k_and_pass_hat_k_are_there_for_all_k_with_intervals() -> None:
    samples = cases(_values([[1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0]]), 3)
    found = {one.name: one for one in pass_estimates(samples, 3, {"": 5}, prefix="exact.")}
    assert list(found) == ["exact.pass@2", "exact.pass@3", "exact.pass^2", "exact.pass^3"]
    assert found["exact.pass@3"].value == 0.75
    assert found["exact.pass^2"].value == pytest.approx((1 / 3 + 1) / 4)
    assert found["exact.pass^3"].value == 0.25
    for one in found.values():
        assert one.low is not None
        assert one.value is not None
        assert one.low < one.value
        assert (one.scored, one.planned) == (4, 5)
        assert one.floor == pytest.approx(one.value * 4 / 5)


def test_of_many_attempts_a_few_k_are_shown() -> None:
    samples = cases(_values([[1] * 10, [0] * 10]), 10)
    names = [one.name for one in pass_estimates(samples, 10, {"": 2})]
    assert names == ["pass@2", "pass@4", "pass@8", "pass@10", "pass^2", "pass^4", "pass^8", "pass^10"]


def test_the_error_splits_into_samples_and_attempts() -> None:
    """Rates from Beta(2, 2): the variance is 1/20 between samples, and 1/5 within, so 1/25 with five attempts."""
    source = random.Random(1)
    rates = [source.betavariate(2, 2) for _ in range(4000)]
    samples = cases(_values([[float(source.random() < rate) for _ in range(5)] for rate in rates]), 5)[""]
    one = split_error(estimate("accuracy", tally(samples)), samples)
    assert one.error_from_samples is not None
    assert one.error_from_attempts is not None
    assert one.standard_error is not None
    assert one.error_from_samples**2 * 4000 == pytest.approx(1 / 20, rel=0.1)
    assert one.error_from_attempts**2 * 4000 == pytest.approx(1 / 25, rel=0.1)
    assert one.error_from_samples**2 + one.error_from_attempts**2 == pytest.approx(one.standard_error**2)


def test_an_error_that_cannot_be_split_stays_whole() -> None:
    samples = cases(_values([[1, None], [0, 0]]), 2)[""]
    one = estimate("accuracy", tally(samples))
    assert split_error(one, samples) == one
