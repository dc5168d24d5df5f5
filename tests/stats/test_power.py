import math
import random

import pytest

from proctor.core.errors import BadInput
from proctor.stats.distributions import t_quantile
from proctor.stats.paired import Pair, compare, mcnemar_exact
from proctor.stats.power import (
    Variance,
    mcnemar_samples,
    samples_needed,
    to_detect,
    variance,
)


def test_samples_for_three_points_are_as_published() -> None:
    assert samples_needed(0.03, 1 / 9) == pytest.approx(968.998, abs=1e-3)


@pytest.mark.parametrize(("attempts", "difference"), [(1, 0.1327), (10, 0.0757)])
def test_198_samples_find_the_difference_that_is_published(attempts: int, difference: float) -> None:
    spread = 1 / 9 + 2 * (1 / 6) / attempts
    assert samples_needed(difference, spread) == pytest.approx(198, rel=5e-3)


@pytest.mark.parametrize(("attempts", "cut"), [(2, 1 / 3), (4, 1 / 2), (6, 5 / 9)])
def test_attempts_cut_the_variance_as_published(attempts: int, cut: float) -> None:
    spread = Variance(between=1 / 12, within=1 / 6)
    one, several = (spread.between + spread.within / count for count in (1, attempts))
    assert 1 - several / one == pytest.approx(cut)


def test_the_variance_splits_into_samples_and_attempts() -> None:
    source = random.Random(5)
    rates = [source.random() for _ in range(5000)]
    split = variance([[float(source.random() < rate) for _ in range(4)] for rate in rates])
    assert split is not None
    assert split.between == pytest.approx(1 / 12, abs=0.005)
    assert split.within == pytest.approx(1 / 6, abs=0.005)


def test_single_attempts_cannot_split_the_variance() -> None:
    assert variance([(1.0,), (0.0,), (1.0, 0.0)]) is None
    assert variance([]) is None


def test_samples_for_mcnemar_are_the_known_ones() -> None:
    assert mcnemar_samples(0.15, 0.05) == pytest.approx(154.6, abs=0.05)
    assert mcnemar_samples(0.05, 0.15) == mcnemar_samples(0.15, 0.05)


@pytest.mark.parametrize(("wins", "losses", "difference"), [(15, 5, 0.1), (10, 10, 0.1), (1, 0, 0.05), (30, 25, 0.2)])
def test_as_many_samples_as_said_find_the_difference_four_times_in_five(
    wins: int, losses: int, difference: float
) -> None:
    needed = to_detect(compare(_pairs(wins, losses, 100)), difference)
    assert needed is not None
    moved = max((wins + losses) / 100, difference)
    assert needed.moved == (wins + losses) / 100
    power = _power_of_mcnemar(needed.samples, (moved + difference) / 2, (moved - difference) / 2)
    assert 0.78 <= power <= 0.88


def test_points_in_clusters_need_as_many_as_t_over_clusters_finds() -> None:
    source = random.Random(1)
    pairs = [
        Pair(cluster=str(cluster), first=min(max(0.5 + shared + source.gauss(0, 0.1), 0), 1), second=0.5)
        for cluster in range(40)
        for shared in [source.gauss(0, 0.1)]
        for _ in range(5)
    ]
    needed = to_detect(compare(pairs), 0.05)
    assert needed is not None
    assert needed.moved is None
    clusters = needed.samples / 5
    error = math.sqrt((0.1**2 + 0.1**2 / 5) / clusters)
    assert 0.05 / error == pytest.approx(t_quantile(0.975, clusters - 1) + t_quantile(0.8, clusters - 1), rel=0.2)
    assert needed.low < needed.samples < needed.high


def test_what_never_moved_in_clusters_says_nothing() -> None:
    pairs = [Pair(cluster=str(i // 2), first=1, second=1) for i in range(20)]
    assert to_detect(compare(pairs), 0.05) is None


@pytest.mark.parametrize("difference", [0.0, -0.1, 1.01])
def test_a_difference_that_cannot_be_is_refused(difference: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 100 points"):
        to_detect(compare(_pairs(5, 5, 20)), difference)


def _pairs(wins: int, losses: int, count: int) -> list[Pair]:
    kinds = [(1, 0)] * wins + [(0, 1)] * losses + [(1, 1)] * (count - wins - losses)
    return [Pair(cluster=str(i), first=first, second=second) for i, (first, second) in enumerate(kinds)]


def _power_of_mcnemar(samples: int, wins: float, losses: float) -> float:
    """How often the exact test finds the first run better, summed over all outcomes."""
    moved = wins + losses
    found = 0.0
    for count in range(1, samples + 1):
        weight = _binomial(samples, count, moved)
        if weight > 1e-9:
            found += weight * sum(
                _binomial(count, won, wins / moved)
                for won in range(count // 2 + 1, count + 1)
                if mcnemar_exact(won, count - won) <= 0.05
            )
    return found


def _binomial(count: int, hits: int, rate: float) -> float:
    if rate >= 1:
        return float(hits == count)
    log = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(log + hits * math.log(rate) + (count - hits) * math.log1p(-rate))


def test_no_number_of_samples_decides_a_tie() -> None:
    with pytest.raises(BadInput, match="difference of 0"):
        samples_needed(0, 0.1)
    with pytest.raises(BadInput, match="difference of 0"):
        mcnemar_samples(0.1, 0.1)


@pytest.mark.parametrize("alpha_and_power", [(0, 0.8), (1, 0.8), (0.05, 0), (0.05, 1)])
def test_alpha_and_power_must_be_chances(alpha_and_power: tuple[float, float]) -> None:
    alpha, power = alpha_and_power
    with pytest.raises(BadInput, match="Alpha and power"):
        samples_needed(0.1, 0.1, alpha=alpha, power=power)


def test_shares_above_one_are_refused() -> None:
    with pytest.raises(BadInput, match="Shares"):
        mcnemar_samples(0.8, 0.4)
