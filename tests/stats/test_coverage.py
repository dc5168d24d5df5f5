"""Does a 95 % interval cover 95 %, and does a test at 5 % find 5 % where there is nothing? By simulation, seeded."""

import random
from collections.abc import Callable

import pytest

from proctor.core.run import Estimate
from proctor.core.tally import Case, Tally, tally
from proctor.stats.estimate import combine, estimate
from proctor.stats.paired import PairedSample, compare, sign_flips
from proctor.stats.rate import two_sided_z, wilson

ROUNDS = 2000
AS_SAID = pytest.approx(0.95, abs=0.02)


def test_repeats_of_a_sample_are_no_new_samples() -> None:
    """20 samples, 5 attempts, rates from Beta(1/2, 1/2): pooling the 100 trials covers 72 %."""
    source = random.Random(1)
    pooled = ours = 0
    for _ in range(ROUNDS):
        cases = [_attempts(source, str(i), source.betavariate(0.5, 0.5), 5) for i in range(20)]
        trials = [value for case in cases for value in case.values]
        naive = wilson(sum(trials) / 100, 100)
        pooled += naive.low <= 0.5 <= naive.high
        ours += _covers(estimate("", tally(cases)), 0.5)
    assert pooled / ROUNDS == pytest.approx(0.719, abs=0.03)
    assert ours / ROUNDS == AS_SAID
    assert ours / ROUNDS >= 0.93


def test_clusters_taken_for_independent_find_what_is_not_there() -> None:
    """40 clusters of 10 samples, correlation 0.3 within: the naive test rejects 30.7 %, the clustered one 4.3 %."""
    source = random.Random(2)
    rounds = 800
    naive = ours = 0
    for _ in range(rounds):
        shared = [source.gauss(0, 0.3**0.5) for _ in range(40)]
        values = [0.5 + 0.01 * (effect + source.gauss(0, 0.7**0.5)) for effect in shared for _ in range(10)]
        naive += not _covers(estimate("", _tally(values, lambda i: i)), 0.5)
        ours += not _covers(estimate("", _tally(values, lambda i: i // 10)), 0.5)
    assert naive / rounds == pytest.approx(0.307, abs=0.05)
    assert ours / rounds == pytest.approx(0.045, abs=0.02)


@pytest.mark.parametrize("count", [10, 30])
def test_points_are_covered(count: int) -> None:
    source = random.Random(3)
    hits = sum(
        _covers(estimate("", _tally([source.betavariate(2, 2) for _ in range(count)], lambda i: i)), 0.5)
        for _ in range(ROUNDS)
    )
    assert hits / ROUNDS == AS_SAID


def test_right_and_wrong_in_clusters_of_different_size_are_covered() -> None:
    source = random.Random(4)
    sizes = [1, 2, 3, 4] * 10
    hits = 0
    for _ in range(ROUNDS):
        cases = []
        for cluster, size in enumerate(sizes):
            rate = source.betavariate(3, 2)
            cases += [_attempts(source, str(cluster), rate, 1) for _ in range(size)]
        hits += _covers(estimate("", tally(cases)), 0.6)
    assert hits / ROUNDS == AS_SAID


@pytest.mark.parametrize(("strata", "size", "rate"), [(10, 2, 0.8), (10, 20, 0.95), (3, 5, 0.5), (3, 200, 0.8)])
def test_strata_are_covered_even_when_each_is_small(strata: int, size: int, rate: float) -> None:
    source = random.Random(5)
    weights = [1.0 + i % 3 for i in range(strata)]
    plain = ours = 0
    for _ in range(ROUNDS):
        parts = [estimate("", _counts(sum(source.random() < rate for _ in range(size)), size)) for _ in weights]
        whole = combine("", "", list(zip(weights, parts, strict=True)))
        ours += _covers(whole, rate)
        assert whole.value is not None
        assert whole.standard_error is not None
        plain += abs(whole.value - rate) <= two_sided_z(0.95) * whole.standard_error + 1e-12
    assert 0.93 <= ours / ROUNDS <= 0.985
    assert size > 2 or plain / ROUNDS < 0.85


def test_a_difference_of_zero_is_covered_and_rarely_found() -> None:
    source = random.Random(6)
    rounds = 2000
    covered = found = 0
    for _ in range(rounds):
        pairs = []
        for i in range(60):
            rate = source.random()
            first, second = float(source.random() < rate), float(source.random() < rate)
            pairs.append(PairedSample(cluster=str(i), first=first, second=second))
        difference = compare(pairs)
        assert difference.low is not None
        assert difference.high is not None
        covered += difference.low <= 0 <= difference.high
        found += difference.p_value < 0.05
    assert covered / rounds == AS_SAID
    assert found / rounds <= 0.055


def test_sign_flips_by_cluster_rarely_find_what_is_not_there() -> None:
    source = random.Random(7)
    found = sum(sign_flips([source.gauss(0, 1 + i % 3) for i in range(12)]) < 0.05 for _ in range(600))
    assert 0.03 <= found / 600 <= 0.07


def _covers(one: Estimate, truth: float) -> bool:
    assert one.low is not None
    assert one.high is not None
    return one.low <= truth <= one.high


def _attempts(source: random.Random, cluster: str, rate: float, count: int) -> Case:
    values = tuple(float(source.random() < rate) for _ in range(count))
    return Case(cluster=cluster, values=values, planned=count)


def _tally(values: list[float], cluster_of: Callable[[int], int]) -> Tally:
    return tally(Case(cluster=str(cluster_of(i)), values=(value,), planned=1) for i, value in enumerate(values))


def _counts(successes: int, count: int) -> Tally:
    """What `tally` gives for independent samples, without making them."""
    return Tally(
        clusters=count,
        samples=count,
        total=successes,
        squares=successes,
        cross=successes,
        sizes=count,
        sample_squares=successes,
        points=successes,
        out_of=count,
        scored=count,
        planned=count,
    )
