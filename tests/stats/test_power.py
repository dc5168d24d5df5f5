import math
import random
from functools import partial

import pytest

from proctor.core.errors import BadInput
from proctor.stats.distributions import t_quantile
from proctor.stats.paired import PairedSample, compare, mcnemar_exact
from proctor.stats.planning import Spread, least_samples, power_to_compare
from proctor.stats.power import to_detect


@pytest.mark.parametrize(
    ("spread", "attempts", "difference", "samples"),
    [
        (Spread(between=1 / 9, within=0, is_binary=False), 1, 0.03, 969),
        (Spread(between=1 / 9, within=1 / 3), 10, 0.0757, 198),
        (Spread(between=1 / 9, within=1 / 3, is_binary=False), 1, 0.1327, 198),
    ],
)
def test_as_many_samples_as_published_find_a_difference(
    spread: Spread, attempts: int, difference: float, samples: int
) -> None:
    """Miller 2024; t and sign flips in place of the normal distribution take up to five samples more."""
    found = least_samples(partial(power_to_compare, attempts=attempts, spread=spread, difference=difference), 0.8)
    assert found is not None
    assert samples - 1 <= found <= samples + 6


@pytest.mark.parametrize(("attempts", "cut"), [(2, 1 / 3), (4, 1 / 2), (6, 5 / 9)])
def test_attempts_cut_the_variance_as_published(attempts: int, cut: float) -> None:
    spread = Spread(between=1 / 12, within=1 / 6)
    assert 1 - spread.total(attempts) / spread.total(1) == pytest.approx(cut)


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
        PairedSample(cluster=str(cluster), first=min(max(0.5 + shared + source.gauss(0, 0.1), 0), 1), second=0.5)
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
    pairs = [PairedSample(cluster=str(i // 2), first=1, second=1) for i in range(20)]
    assert to_detect(compare(pairs), 0.05) is None


@pytest.mark.parametrize("difference", [0.0, -0.1, 1.01])
def test_a_difference_that_cannot_be_is_refused(difference: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 100 points"):
        to_detect(compare(_pairs(5, 5, 20)), difference)


def _pairs(wins: int, losses: int, count: int) -> list[PairedSample]:
    kinds = [(1, 0)] * wins + [(0, 1)] * losses + [(1, 1)] * (count - wins - losses)
    return [PairedSample(cluster=str(i), first=first, second=second) for i, (first, second) in enumerate(kinds)]


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
