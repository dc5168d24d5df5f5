"""Variance components: the split, its intervals at the edges, and their coverage in a short form of `bench/variances.py`."""

import random

import pytest
from bench.variances import SUITES, covered

from proctor.stats.components import AttemptValues, components


def _samples(rows: list[list[float]], clusters: int = 0) -> list[AttemptValues]:
    return [
        AttemptValues(str(at), str(at % clusters if clusters else at), {}, [float(value) for value in row])
        for at, row in enumerate(rows)
    ]


def test_the_split_is_that_of_an_analysis_of_variance() -> None:
    """Means 1, 0.5, 0 and 0.5: their variance is 1/6; within, 0, 0.5, 0, 0.5; half of that is in the means."""
    found = components(_samples([[1, 1], [1, 0], [0, 0], [0, 1]]))
    assert found is not None
    assert found.attempts.variance == pytest.approx(0.25)
    assert found.samples.variance == pytest.approx(1 / 6 - 0.125)
    assert found.judge is None
    assert (found.count, found.clusters) == (4, 4)


@pytest.mark.parametrize("rows", [[], [[1, 0]], [[1], [0], [1]], [[1, 0], [1], [0]]])
def test_less_than_two_samples_with_several_attempts_cannot_be_split(rows: list[list[float]]) -> None:
    assert components(_samples(rows)) is None


def test_one_cluster_shows_no_spread() -> None:
    assert components(_samples([[1, 0], [1, 1], [0, 0]], clusters=1)) is None


def test_attempts_that_never_differ_still_leave_room_for_some_that_would() -> None:
    found = components(_samples([[1, 1, 1]] * 50))
    assert found is not None
    assert (found.samples.variance, found.samples.low) == (0, 0)
    assert (found.attempts.variance, found.attempts.low) == (0, 0)
    assert 0 < found.attempts.high < 0.05
    assert 0 < found.samples.high < 0.1


def test_samples_that_are_all_or_nothing_have_all_the_variance() -> None:
    found = components(_samples([[1, 1], [0, 0]] * 25))
    assert found is not None
    assert found.samples.variance == pytest.approx(0.25 * 50 / 49)
    assert found.samples.low > 0.15
    assert found.attempts.variance == 0


def test_what_a_judge_adds_is_taken_from_the_attempts() -> None:
    source = random.Random(2)
    suite = next(one for one in SUITES if one.judge)
    samples = []
    for at in range(2_000):
        mean = suite.draw(source)
        trials = [suite.attempt(source, mean) for _ in range(3)]
        samples.append(AttemptValues(str(at), str(at), {}, [value for value, _ in trials], [one for _, one in trials]))
    found = components(samples, repeats=3)
    assert found is not None
    assert found.judge is not None
    assert found.judge.variance == pytest.approx(suite.judge, rel=0.05)
    assert found.attempts.variance == pytest.approx(suite.within, rel=0.1)
    assert found.samples.variance == pytest.approx(suite.between, rel=0.1)
    unknown = components(
        [*samples[:999], *(AttemptValues(one.sample_id, one.cluster, {}, one.values) for one in samples[999:])]
    )
    assert unknown is not None
    assert unknown.judge is None


def test_intervals_hold_the_variance_and_narrow_with_more_samples() -> None:
    source = random.Random(3)
    widths = []
    for count in (50, 800):
        rates = [source.betavariate(2, 2) for _ in range(count)]
        found = components(_samples([[float(source.random() < rate) for _ in range(4)] for rate in rates]))
        assert found is not None
        for one in (found.samples, found.attempts):
            assert 0 <= one.low <= one.variance <= one.high <= 0.25
        widths.append(found.samples.high - found.samples.low)
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_the_intervals_cover_the_true_variances(suite: object) -> None:
    """200 suites of 50 samples: a share of 95 % comes out below 90 % in fewer than 1 of 100 such tests."""
    given = next(one for one in SUITES if one is suite)
    for name, share in covered(given, 50, 3, rounds=200).items():
        assert share >= 0.9, name
