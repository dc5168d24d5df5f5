"""Does a 95 % interval cover 95 %? Samples are drawn by the thousand with numpy; the intervals are those of `estimate`."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from simulated import chance, rounds

from proctor.core.tally import Tally
from proctor.stats.estimate import combine, estimate
from proctor.stats.paired import PairedSample, compare
from proctor.stats.strata import MeasuredStratum
from proctor.stats.strata import estimate as of_strata
from proctor_ci.stats.bounds import moved, one_sided

pytestmark = pytest.mark.slow

ROUNDS = rounds(2000)
CHANCE = chance(0.95, 2000)
NOISE = 0.011 + CHANCE  # about two standard errors of a share of 0.95 over so many rounds

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

ATTEMPTS: Sequence[tuple[int, int, Draw, float]] = [
    (20, 5, lambda draw, shape: draw.beta(0.5, 0.5, shape), 0.5),
    (20, 5, lambda draw, shape: draw.beta(2, 2, shape), 0.5),
    (20, 5, lambda draw, shape: draw.beta(9, 1, shape), 0.9),
    (20, 5, lambda draw, shape: draw.beta(19, 1, shape), 0.95),
    (20, 5, lambda draw, shape: draw.beta(2, 0.2, shape), 2 / 2.2),
    (10, 5, lambda draw, shape: draw.beta(2, 0.2, shape), 2 / 2.2),
    (50, 5, lambda draw, shape: draw.beta(49, 1, shape), 0.98),
    (50, 5, lambda draw, shape: draw.beta(5, 0.15, shape), 5 / 5.15),
    (100, 3, lambda draw, shape: np.full(shape, 0.99), 0.99),
    (100, 3, lambda draw, shape: (draw.random(shape) > 0.05) * 1.0, 0.95),
    (200, 3, lambda draw, shape: draw.beta(5, 0.15, shape), 5 / 5.15),
    (10, 3, lambda draw, shape: draw.beta(9, 1, shape), 0.9),
    (10, 3, lambda draw, shape: np.full(shape, 0.98), 0.98),
]
CLUSTERS: Sequence[Sequence[int]] = [
    [10] * 40,
    [1, 2, 3, 4] * 10,
    [5] * 10,
    [10] * 5,
    [1] * 10 + [2] * 5 + [20] * 2,
    [50] + [1] * 50,
    [30, 20, 10, 5, 5, 3, 3, 2, 2, 1, 1, 1],
]
WHOLE: Sequence[tuple[int, Sequence[int], float]] = [  # clusters, their sizes in turn, and how many fail as a whole
    (100, (1, 1, 1, 1, 20), 0.05),
    (100, (1, 1, 1, 1, 20), 0.1),
    (60, (1, 30), 0.05),
    (40, (1, 20), 0.1),
    (40, (1, 1, 1, 2, 2, 3, 5, 10), 0.1),
    (20, (1, 20), 0.2),
    (30, (5,), 0.2),
]
POINTS: Sequence[tuple[Draw, float]] = [
    (lambda draw, shape: draw.beta(2, 2, shape), 0.5),
    (lambda draw, shape: draw.beta(9, 1, shape), 0.9),
    (lambda draw, shape: draw.beta(190, 10, shape), 0.95),
    (lambda draw, shape: draw.beta(0.3, 0.1, shape), 0.75),
    (lambda draw, shape: np.where(draw.random(shape) < 0.9, 1.0, draw.random(shape)), 0.95),
    (lambda draw, shape: draw.choice([1, 0.75, 0.5, 0.25, 0], p=[0.8, 0.1, 0.05, 0.03, 0.02], size=shape), 0.9075),
    (lambda draw, shape: draw.beta(0.5, 10, shape), 0.5 / 10.5),
    (lambda draw, shape: draw.beta(0.3, 6, shape), 0.3 / 6.3),
    (lambda draw, shape: draw.beta(0.2, 2.3, shape), 0.08),
]
LOGNORMAL: Sequence[tuple[float, float]] = [(1.4, 0.08), (1, 0.08), (0.7, 0.1), (2, 0.05)]  # sigma, mean


def _lognormal(sigma: float, mean: float) -> tuple[Draw, float]:
    """Return points that are capped at 1, and their mean."""
    location = math.log(mean) - sigma**2 / 2
    above = 0.5 * math.erfc(-location / sigma / math.sqrt(2))  # of what lies above 1
    beyond = 0.5 * math.erfc((location + sigma**2) / -sigma / math.sqrt(2))
    return lambda draw, shape: np.minimum(draw.lognormal(location, sigma, shape), 1), mean * (1 - beyond) + above


@pytest.mark.parametrize("setting", range(len(ATTEMPTS)))
def test_several_attempts_are_covered(setting: int) -> None:
    samples, attempts, rates, truth = ATTEMPTS[setting]
    draw = np.random.default_rng(setting)
    right = draw.binomial(attempts, rates(draw, (ROUNDS, samples)))
    covered = _coverage(right / attempts, [1] * samples, truth, trials=samples * attempts, whole=True)
    assert 0.925 - NOISE <= covered <= 0.99


@pytest.mark.parametrize("shape", [(3, 2), (9, 1), (2, 0.3), (0.5, 0.5)])
@pytest.mark.parametrize("setting", range(len(CLUSTERS)))
def test_right_and_wrong_in_unequal_clusters_are_covered(setting: int, shape: tuple[float, float]) -> None:
    sizes = CLUSTERS[setting]
    draw = np.random.default_rng(setting)
    right = draw.binomial(sizes, draw.beta(*shape, (ROUNDS, len(sizes))))
    covered = _coverage(right, sizes, shape[0] / sum(shape), trials=sum(sizes), whole=True)
    assert 0.925 - NOISE <= covered <= 0.995


@pytest.mark.parametrize(("count", "sizes", "wrong"), WHOLE)
def test_clusters_that_fail_as_a_whole_are_covered_and_gates_hold(
    count: int, sizes: Sequence[int], wrong: float
) -> None:
    each = np.resize(sizes, count)
    totals = each * (np.random.default_rng(count).random((ROUNDS, count)) >= wrong)
    covered = above = wrong_go = 0
    for one in _tallies(totals, each.tolist(), trials=int(each.sum()), whole=True):
        made, bounds = estimate("", one), one_sided(estimate("", one), 0.05)
        assert made.low is not None
        assert made.high is not None
        assert bounds is not None
        covered += made.low <= 1 - wrong <= made.high
        above += made.low > 1 - wrong
        wrong_go += bounds.low > 1 - wrong
    assert covered / ROUNDS >= 0.925 - CHANCE
    assert max(above, wrong_go) / ROUNDS <= 0.055 + CHANCE


@pytest.mark.parametrize(("count", "sizes", "wrong"), WHOLE[1:6:2])
def test_differences_of_clusters_that_fail_as_a_whole_are_covered(
    count: int, sizes: Sequence[int], wrong: float
) -> None:
    each, draw, turns = np.resize(sizes, count), np.random.default_rng(count), 300
    covered = wrong_go = 0
    for lost in draw.random((turns, count)) < wrong:
        pairs = [
            PairedSample(cluster=str(at), first=1.0 - one, second=1.0)
            for at, (size, one) in enumerate(zip(each, lost, strict=True))
            for _ in range(size)
        ]
        found, bounds = compare(pairs), moved(pairs).bounds(0.05)
        assert found.low is not None
        assert found.high is not None
        assert bounds is not None
        covered += found.low <= -wrong <= found.high
        wrong_go += bounds.low > -wrong
    assert covered / turns >= 0.925 - 0.02
    assert wrong_go / turns <= 0.055 + 0.02


def test_strata_of_clusters_that_fail_as_a_whole_are_covered() -> None:
    """Two strata of sizes 3 to 1 in the task, each with as many clusters of 1 and of 20 samples."""
    each, wrong = np.resize((1, 1, 1, 1, 20), 50), 0.1
    totals = each * (np.random.default_rng(7).random((ROUNDS, 2, 50)) >= wrong)
    covered = wrong_go = 0
    for pair in totals:
        tallies = _tallies(pair, each.tolist(), trials=int(each.sum()), whole=True)
        parts = zip(("easy", "hard"), tallies, (750.0, 250.0), strict=True)
        made = of_strata("", [MeasuredStratum(name=name, tally=one, size=size) for name, one, size in parts])
        bounds = one_sided(made, 0.05)
        assert made.low is not None
        assert made.high is not None
        assert bounds is not None
        covered += made.low <= 1 - wrong <= made.high
        wrong_go += bounds.low > 1 - wrong
    assert covered / ROUNDS >= 0.925 - CHANCE
    assert wrong_go / ROUNDS <= 0.055 + CHANCE


@pytest.mark.parametrize("count", [5, 10, 20, 50, 100])
@pytest.mark.parametrize("setting", range(len(POINTS)))
def test_points_are_covered_however_skewed(setting: int, count: int) -> None:
    values, truth = POINTS[setting]
    drawn = values(np.random.default_rng(setting), (ROUNDS, count))
    assert 0.925 - NOISE <= _coverage(drawn, [1] * count, truth, trials=count, whole=False) <= 0.999


@pytest.mark.parametrize("count", [30, 50, 100])
@pytest.mark.parametrize(("sigma", "mean"), LOGNORMAL)
def test_lognormal_points_are_covered(sigma: float, mean: float, count: int) -> None:
    values, truth = _lognormal(sigma, mean)
    drawn = values(np.random.default_rng(count), (ROUNDS, count))
    assert 0.925 - NOISE <= _coverage(drawn, [1] * count, truth, trials=count, whole=False) <= 0.99


@pytest.mark.parametrize(("sigma", "mean"), LOGNORMAL[:2])
def test_a_gate_on_lognormal_losses_seldom_says_go(sigma: float, mean: float) -> None:
    """Without regard to skewness GO is wrong in 8 to 12 % of the suites."""
    values, truth = _lognormal(sigma, mean)
    drawn = 1 - values(np.random.default_rng(50), (500, 50))
    found = [one_sided(estimate("", one), 0.05) for one in _tallies(drawn, [1] * 50, trials=50, whole=False)]
    wrong = sum(one is not None and one.low > 1 - truth for one in found)
    assert wrong / len(drawn) <= 0.055 + 0.017


@pytest.mark.parametrize("rate", [0.8, 0.95])
def test_strata_of_several_attempts_are_covered(rate: float) -> None:
    """Four strata of ten samples with five attempts each, the samples of different difficulty."""
    draw = np.random.default_rng(1)
    rates = draw.beta(10 * rate, 10 * (1 - rate), (ROUNDS, 4, 10))
    means = draw.binomial(5, rates) / 5
    weights = [0.1, 0.2, 0.3, 0.4]
    hits = 0
    for strata in means:
        parts = [estimate("", one) for one in _tallies(strata, [1] * 10, trials=50, whole=True)]
        whole = combine("", "", list(zip(weights, parts, strict=True)))
        assert whole.low is not None
        assert whole.high is not None
        hits += whole.low <= rate <= whole.high
    assert 0.925 - NOISE <= hits / ROUNDS <= 0.99


def _coverage(totals: np.ndarray, sizes: Sequence[int], truth: float, *, trials: int, whole: bool) -> float:
    """The share of rounds whose interval holds the truth; `totals` has a row for each round, a column for a cluster."""
    hits = 0
    for one in _tallies(totals, sizes, trials=trials, whole=whole):
        made = estimate("", one)
        assert made.low is not None
        assert made.high is not None
        hits += made.low <= truth <= made.high
    return hits / len(totals)


def _tallies(totals: np.ndarray, sizes: Sequence[int], *, trials: int, whole: bool) -> list[Tally]:
    of = np.asarray(sizes, dtype=float)
    columns = zip(
        totals.sum(axis=1).tolist(), (totals**2).sum(axis=1).tolist(), (totals * of).sum(axis=1).tolist(), strict=True
    )
    return [
        Tally(
            clusters=len(sizes),
            samples=sum(sizes),
            total=total,
            squares=squares,
            cross=cross,
            sizes=float((of**2).sum()),
            sample_squares=total,
            binary=False,
            all_or_nothing=whole,
            scored=trials,
            planned=trials,
        )
        for total, squares, cross in columns
    ]
