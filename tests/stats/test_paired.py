import math
import random
import time
from collections.abc import Sequence
from itertools import product

import msgspec
import pytest

from proctor.core.errors import BadInput
from proctor.stats.distributions import normal_cdf, t_cdf, t_quantile
from proctor.stats.paired import (
    SIGN_FLIPS,
    T_OVER_SAMPLES,
    Difference,
    PairedSample,
    at_level,
    compare,
    mcnemar_exact,
    mcnemar_mid_p,
    non_inferior,
    sign_flips,
)


def test_two_models_on_math_differ_as_published() -> None:
    """MATH, 5,000 samples, 65.5 against 63.0 points, correlation 0.52: +1.2 to +3.8 (arXiv 2411.00640)."""
    both = round(5000 * (0.655 * 0.63 + 0.52 * math.sqrt(0.655 * 0.345 * 0.63 * 0.37)))
    difference = compare(_pairs(both, 3275 - both, 3150 - both, 5000))
    assert difference.value == pytest.approx(0.025)
    assert (difference.low, difference.high) == pytest.approx((0.012, 0.038), abs=5e-4)
    assert difference.correlation == pytest.approx(0.52, abs=1e-3)
    assert difference.p_value < 0.001


def test_two_models_on_humaneval_differ_as_published() -> None:
    """HumanEval, 164 samples, 83.6 against 86.7 points: -7.2 to +1.0 by t; the counts lie between 11 and 13."""
    lows, highs = [], []
    for wins, losses in ((3, 8), (4, 9)):
        difference = compare(_pairs(137 - wins, wins, losses, 164))
        assert difference.value == pytest.approx(-0.031, abs=1e-3)
        low, high = _ends(difference)
        lows.append(low)
        highs.append(high)
    assert max(lows) == pytest.approx(-0.072, abs=0.001)
    assert min(highs) == pytest.approx(0.010, abs=0.003)


def test_the_error_is_that_of_the_two_runs_less_what_they_share() -> None:
    pairs = [
        PairedSample(cluster=str(i), first=x, second=y) for i, (x, y) in enumerate([(0.1, 0.3), (0.9, 0.6), (0.4, 0.4)])
    ]
    difference = compare(pairs)
    a, b = _error([pair.first for pair in pairs]), _error([pair.second for pair in pairs])
    assert difference.correlation is not None
    expected = math.sqrt(a * a + b * b - 2 * difference.correlation * a * b)
    assert difference.standard_error == pytest.approx(expected)
    assert difference.p_value >= 2 * t_cdf(-abs(difference.value) / expected, 2)
    assert difference.degrees == 2
    assert difference.low is not None
    assert difference.low <= difference.value - t_quantile(0.975, 2) * expected


def test_wins_losses_and_ties_are_counted() -> None:
    difference = compare(_pairs(5, 3, 1, 10))
    assert (difference.wins, difference.losses, difference.ties, difference.pairs) == (3, 1, 6, 10)
    assert difference.value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wins", "losses", "exact", "mid"),
    [(1, 9, 0.0214844, 0.0117188), (4, 15, 0.0192108, 0.0118179), (0, 0, 1, 1), (5, 5, 1, 1), (0, 1, 1, 0.5)],
)
def test_mcnemar_gives_the_known_values(wins: int, losses: int, exact: float, mid: float) -> None:
    for one, other in ((wins, losses), (losses, wins)):
        assert mcnemar_exact(one, other) == pytest.approx(exact, abs=1e-7)
        assert mcnemar_mid_p(one, other) == pytest.approx(mid, abs=1e-7)


def test_the_classic_mcnemar_lies_near_the_exact_one() -> None:
    chi_squared = (abs(4 - 15) - 1) ** 2 / 19
    assert chi_squared == pytest.approx(5.263158, abs=1e-6)
    classic = 2 * normal_cdf(-math.sqrt(chi_squared))
    assert classic == pytest.approx(0.0217815, abs=1e-7)
    assert mcnemar_exact(4, 15) == pytest.approx(classic, rel=0.15)


def test_mcnemar_takes_very_many_pairs() -> None:
    expected = 2 * normal_cdf(-500 / math.sqrt(50_500))
    assert mcnemar_mid_p(25_000, 25_500) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("samples", "shift", "discordant", "exact", "mid"),
    [(200, 0.0, 0.375, 0.036, 0.049), (200, 0.05, 0.39, 0.175, 0.202), (500, 0.03, 0.36, 0.178, 0.200)],
)
def test_mcnemar_finds_as_often_as_published(
    samples: int, shift: float, discordant: float, exact: float, mid: float
) -> None:
    """lm-evaluation-harness pull request 3831: 4,000 simulated runs; here summed over all outcomes."""
    wins = (discordant + shift) / 2 / discordant
    found_exact = found_mid = 0.0
    for count in range(1, samples + 1):
        weight = _binomial(samples, count, discordant)
        if weight < 1e-9:
            continue
        limits = [_limit(test, count) for test in (mcnemar_exact, mcnemar_mid_p)]
        found_exact += weight * _outside(count, limits[0], wins)
        found_mid += weight * _outside(count, limits[1], wins)
    assert found_exact == pytest.approx(exact, abs=0.012)
    assert found_mid == pytest.approx(mid, abs=0.012)
    if not shift:
        assert found_exact < found_mid < 0.051


def test_a_small_gap_on_the_same_samples_is_found_where_unpaired_intervals_overlap() -> None:
    difference = compare(_pairs(150, 22, 7, 220))
    unpaired = math.sqrt(sum(rate * (1 - rate) / 220 for rate in (172 / 220, 157 / 220)))
    assert 2 * normal_cdf(-difference.value / unpaired) > 0.08
    assert difference.p_value < 0.01
    assert difference.p_mid is not None
    assert difference.p_mid < difference.p_value


def test_points_and_clusters_are_tested_by_flipping_signs() -> None:
    values = [0.3, -0.1, 0.2, 0.4, 0.1]
    difference = compare([PairedSample(cluster=str(i), first=0.5 + x, second=0.5) for i, x in enumerate(values)])
    sums = [sum(s * x for s, x in zip(signs, values, strict=True)) for signs in product((1, -1), repeat=5)]
    assert difference.p_value == sum(abs(one) >= 0.9 - 1e-9 for one in sums) / 32
    assert (difference.test, difference.p_mid, difference.method) == ("sign flips by cluster", None, "t over samples")


def test_samples_of_a_cluster_flip_together() -> None:
    pairs = [PairedSample(cluster=str(i // 10), first=1, second=0) for i in range(40)]
    difference = compare(pairs)
    assert (difference.pairs, difference.clusters, difference.test) == (40, 4, "sign flips by cluster")
    assert difference.p_value == 2 / 16


def test_clusters_widen_the_interval() -> None:
    values = [1, 1, 1, 0, 0, 0, 0, 1, -1, -1, -1, 0]
    alone = compare([PairedSample(cluster=str(i), first=(1 + x) / 2, second=0.5) for i, x in enumerate(values)])
    together = compare([PairedSample(cluster=str(i // 3), first=(1 + x) / 2, second=0.5) for i, x in enumerate(values)])
    assert (together.method, together.value) == ("t over clusters", alone.value)
    assert together.standard_error is not None
    assert alone.standard_error is not None
    assert together.standard_error > alone.standard_error


def test_several_attempts_are_not_a_coin() -> None:
    assert compare(_pairs(3, 4, 1, 10), single=False).test == "sign flips by cluster"


def test_many_clusters_are_drawn_with_a_seed() -> None:
    sums = [math.sin(i) + 0.2 for i in range(60)]
    drawn = sign_flips(sums, seed=3)
    assert drawn == sign_flips(sums, seed=3)
    assert drawn != sign_flips(sums, seed=4)
    spread = math.sqrt(sum(one * one for one in sums))
    assert drawn == pytest.approx(2 * normal_cdf(-sum(sums) / spread), abs=0.02)


@pytest.mark.parametrize("clusters", [17, 24, 25, 60, 70])
def test_the_signs_are_those_of_one_draw_after_the_other(clusters: int) -> None:
    """Which they were: runs of earlier versions keep their p-values."""
    sums, source, hits = [float(i % 3 - 1) or 1.0 for i in range(clusters)], random.Random(3), 0
    for _ in range(999):
        bits = int.from_bytes(source.randbytes(-(-clusters // 8)), "big") >> -clusters % 8
        hits += abs(clusters - 2 * bits.bit_count()) >= abs(sum(sums))
    assert sign_flips(sums, seed=3, draws=999) == (hits + 1) / 1000


def test_a_drawn_p_value_is_never_zero() -> None:
    assert 0 < sign_flips([1.0] * 100, draws=999) < 1 / 1000


def test_drawing_comes_near_to_trying_all() -> None:
    sums = [1.0] * 11 + [-1.0] * 4
    assert sign_flips(sums, seed=1) == pytest.approx(mcnemar_exact(11, 4), abs=0.015)


def test_runs_that_never_differ_still_leave_doubt() -> None:
    difference = compare(_pairs(20, 0, 0, 20))
    assert (difference.value, difference.p_value, difference.degrees) == (0, 1, None)
    assert difference.method == "Bonett-Price"
    half = 1.959964 * math.sqrt(2) / 22
    assert _ends(difference) == pytest.approx((-half, half), abs=1e-6)
    assert difference.correlation is None


@pytest.mark.parametrize("attempts", [1, 3])
def test_one_sample_that_moved_is_never_surer_than_none(attempts: int) -> None:
    none = compare(_pairs(100, 0, 0, 100), single=attempts == 1)
    moved = compare(
        [PairedSample(cluster="m", first=1, second=1 - 1 / attempts), *_pairs(99, 0, 0, 99)], single=attempts == 1
    )
    widths = [high - low for low, high in map(_ends, (none, moved))]
    assert widths[0] <= widths[1]
    assert _ends(moved)[0] < 0


def test_clusters_of_unequal_size_leave_few_degrees() -> None:
    sizes = [50, *[1] * 50]
    pairs = [
        PairedSample(cluster=str(number), first=number % 2, second=0.5)
        for number, size in enumerate(sizes)
        for _ in range(size)
    ]
    assert compare(pairs).degrees == pytest.approx(100**2 / (50**2 + 50) - 1)


@pytest.mark.parametrize("value", [-3.5, 1.01, math.nan])
def test_a_pair_outside_0_to_1_is_refused(value: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        PairedSample(cluster="a", first=value, second=0.5)
    with pytest.raises(BadInput, match="between 0 and 1"):
        PairedSample(cluster="a", first=0.5, second=value)


def test_a_million_pairs_that_moved_are_tested_at_once() -> None:
    started = time.process_time()
    mid, exact = mcnemar_mid_p(499_000, 501_000), mcnemar_exact(499_000, 501_000)
    assert time.process_time() - started < 0.5
    assert mid == pytest.approx(2 * normal_cdf(-2000 / math.sqrt(1_000_000)), rel=1e-3)
    assert mid < exact


@pytest.mark.parametrize("level", [0.95, 0.99, 0.9975])
def test_interval_and_p_value_say_the_same_for_every_count_that_moved(level: float) -> None:
    for moved, wins in product(range(1, 26), range(26)):
        if wins > moved:
            continue
        for count in (moved, 2 * moved, 200):
            low, high = _ends(compare(_pairs(0, wins, moved - wins, count), level=level))
            found = compare(_pairs(0, wins, moved - wins, count)).p_value <= 1 - level
            assert found == (not low <= 0 <= high)


def test_another_level_is_what_comparing_at_it_gives() -> None:
    for pairs in (
        _pairs(5, 9, 1, 30),
        [PairedSample(cluster=str(i // 2), first=i / 12, second=0.5) for i in range(12)],
    ):
        assert at_level(compare(pairs), pairs, 0.99) == compare(pairs, level=0.99)


def test_five_clusters_can_never_find_anything() -> None:
    pairs = [PairedSample(cluster=str(i % 5), first=1, second=0) for i in range(50)]
    difference = compare(pairs)
    assert difference.p_least == 0.0625
    assert difference.p_value == 0.0625
    assert _ends(difference)[0] <= 0


def test_runs_that_always_differ_end_at_one() -> None:
    difference = compare(_pairs(0, 12, 0, 12))
    assert (difference.value, difference.high) == (1, 1)
    assert difference.low is not None
    assert 0.5 < difference.low < 1


def test_one_cluster_says_nothing_about_spread() -> None:
    difference = compare([PairedSample(cluster="a", first=1, second=0), PairedSample(cluster="a", first=1, second=1)])
    assert (difference.low, difference.high, difference.standard_error, difference.degrees) == (None, None, None, None)
    assert (difference.method, difference.p_value) == ("no interval: one cluster", 1)


def test_runs_without_a_common_sample_are_refused() -> None:
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([])


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [(-0.01, 0.03, "go"), (-0.05, 0.01, "inconclusive"), (-0.09, -0.03, "no_go"), (None, None, "inconclusive")],
)
def test_a_new_version_ships_only_when_its_interval_clears_the_margin(
    low: float | None, high: float | None, decision: str
) -> None:
    seen = msgspec.structs.replace(compare(_pairs(5, 1, 1, 10)), low=low, high=high)
    assert non_inferior(seen, 0.02) == decision


def _pairs(both: int, wins: int, losses: int, count: int) -> list[PairedSample]:
    kinds = [(1, 1)] * both + [(1, 0)] * wins + [(0, 1)] * losses
    kinds += [(0, 0)] * (count - len(kinds))
    return [PairedSample(cluster=str(i), first=first, second=second) for i, (first, second) in enumerate(kinds)]


def _ends(difference: Difference) -> tuple[float, float]:
    assert difference.low is not None
    assert difference.high is not None
    return difference.low, difference.high


def _error(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def _binomial(count: int, hits: int, rate: float) -> float:
    log = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(log + hits * math.log(rate) + (count - hits) * math.log1p(-rate))


def _limit(test: object, count: int) -> int:
    """The largest smaller side that is still significant at 0.05, or -1."""
    assert callable(test)
    low, high = -1, count // 2 + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if test(middle, count - middle) < 0.05 else (low, middle)
    return low


def _outside(count: int, limit: int, rate: float) -> float:
    return sum(_binomial(count, hits, rate) + _binomial(count, count - hits, rate) for hits in range(limit + 1))


def test_what_only_rounding_tells_apart_is_a_tie() -> None:
    first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert first != second
    difference = compare([PairedSample(cluster=str(n), first=first, second=second) for n in range(20)], single=False)
    assert (difference.value, difference.ties, difference.p_value) == (0.0, 20, 1.0)


def test_differences_that_cancel_within_every_cluster_are_none() -> None:
    pairs = [
        PairedSample(cluster=str(n), first=first, second=second)
        for n in range(20)
        for first, second in ((1 / 3, 0.0), (2 / 3, 1.0))
    ]
    difference = compare(pairs, single=False)
    assert (difference.value, difference.p_value) == (0.0, 1.0)
    assert (difference.wins, difference.losses) == (20, 20)


def test_a_clear_difference_outlasts_the_correction_for_a_thousand_slices() -> None:
    clear = sign_flips([0.5] * 100)
    assert 2 / 2**100 < clear < 1e-10
    assert sign_flips([0.5, -0.5] * 50) > 0.9


@pytest.mark.parametrize("moved", [0.25, 0.4, -0.25])
def test_differences_that_are_all_alike_are_tested_by_the_test_that_is_named(moved: float) -> None:
    """Six wins of six by sign flips: 2 of 64 patterns are as far from 0."""
    found = compare(_apart([moved] * 6), single=False)
    assert found.p_value == pytest.approx(2 / 64)
    assert found.test == SIGN_FLIPS
    assert found.low is not None
    assert found.high is not None
    assert found.low > 0 or found.high < 0


@pytest.mark.parametrize("moved", [0.05, 0.25, 0.4, -0.3, 1.0])
@pytest.mark.parametrize("count", [2, 4, 6, 9, 20, 60])
def test_a_little_jitter_changes_no_side_and_hardly_the_interval(moved: float, count: int) -> None:
    alike = compare(_apart([moved] * count), single=False)
    jittered = compare(_apart([moved * (1 - 0.001 * (at % 3)) for at in range(count)]), single=False)
    assert alike.low is not None
    assert alike.high is not None
    assert jittered.low is not None
    assert jittered.high is not None
    assert (alike.low > 0, alike.high < 0) == (jittered.low > 0, jittered.high < 0)
    assert alike.p_value == pytest.approx(jittered.p_value, abs=0.02)
    near = 0.02 if abs(moved) < 1 else 0.5  # a whole win may have been a whole loss
    assert (alike.low, alike.high) == pytest.approx((jittered.low, jittered.high), abs=near)


def test_a_p_value_is_that_of_the_test_it_names() -> None:
    source = random.Random(1)
    for _ in range(100):
        pairs = _apart([source.gauss(0.1, 0.1) for _ in range(source.randint(6, 12))])
        found = compare(pairs, single=False)
        by_flips = sign_flips([pair.difference for pair in pairs])
        assert found.low is not None
        assert found.high is not None
        assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)
        assert found.p_value >= by_flips
        assert found.test == (SIGN_FLIPS if found.p_value == by_flips else T_OVER_SAMPLES)


def _apart(differences: Sequence[float]) -> list[PairedSample]:
    return [
        PairedSample(cluster=str(at), first=max(one, 0.0), second=max(-one, 0.0)) for at, one in enumerate(differences)
    ]
