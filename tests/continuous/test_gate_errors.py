"""How often a gate says GO where the truth is bad, and NO-GO where it is good: at most as often as its error, by simulation.

Each suite is drawn where good just ends, where an error is most likely.
"""

import random
from collections.abc import Callable, Sequence

import pytest
from simulated import rounds

from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor.stats.paired import PairedSample
from proctor_ci.stats.bounds import moved, one_sided

ERROR = 0.05
ROUNDS = rounds(1_000)
MOST = ERROR + 0.005 + 1.645 * (ERROR * (1 - ERROR) / ROUNDS) ** 0.5  # the last part is the chance in the simulation

Suite = Callable[[random.Random], tuple[Sequence[Case], float]]
Pairs = Callable[[random.Random], tuple[Sequence[PairedSample], float]]


def _binary(source: random.Random, count: int, rate: float) -> tuple[Sequence[Case], float]:
    return [Case(cluster=str(n), values=(float(source.random() < rate),), planned=1) for n in range(count)], rate


def _points(source: random.Random, count: int, full: float) -> tuple[Sequence[Case], float]:
    """Draw full marks, or else a quarter on average."""
    values = [1.0 if source.random() < full else source.choice((0, 0.25, 0.5)) for _ in range(count)]
    return [Case(cluster=str(n), values=(value,), planned=1) for n, value in enumerate(values)], full + (1 - full) / 4


def _attempts(source: random.Random, count: int, rate: float) -> tuple[Sequence[Case], float]:
    rates = [source.betavariate(2 * rate, 2 * (1 - rate)) for _ in range(count)]
    return [
        Case(cluster=str(n), values=tuple(float(source.random() < one) for _ in range(4)), planned=4)
        for n, one in enumerate(rates)
    ], rate


def _clusters(source: random.Random, count: int, rate: float) -> tuple[Sequence[Case], float]:
    rates = [source.betavariate(4 * rate, 4 * (1 - rate)) for _ in range(count)]
    return [
        Case(cluster=str(n), values=(float(source.random() < one),), planned=1)
        for n, one in enumerate(rates)
        for _ in range(5)
    ], rate


@pytest.mark.slow
@pytest.mark.parametrize(
    "suite",
    [
        lambda source: _binary(source, 50, 0.85),
        lambda source: _binary(source, 200, 0.95),
        lambda source: _points(source, 50, 0.8),
        lambda source: _points(source, 100, 0.93),
        lambda source: _attempts(source, 60, 0.85),
        lambda source: _clusters(source, 40, 0.85),
    ],
    ids=["binary-50", "binary-200", "points-50", "points-100", "attempts", "clusters"],
)
def test_a_threshold_errs_at_most_as_often_as_it_says(suite: Suite) -> None:
    source = random.Random(1)
    wrong_go = wrong_no = 0
    for _ in range(ROUNDS):
        cases, truth = suite(source)
        bounds = one_sided(estimate("", tally(cases)), ERROR)
        assert bounds is not None
        wrong_go += bounds.low > truth
        wrong_no += bounds.high < truth
    assert max(wrong_go, wrong_no) / ROUNDS <= MOST


def _moves(source: random.Random, count: int, won: float, lost: float) -> tuple[Sequence[PairedSample], float]:
    pairs = []
    for n in range(count):
        drawn = source.random()
        first, second = (1, 0) if drawn < won else (0, 1) if drawn < won + lost else (1, 1)
        pairs.append(PairedSample(cluster=str(n), first=first, second=second))
    return pairs, won - lost


def _falls(source: random.Random, count: int) -> tuple[Sequence[PairedSample], float]:
    """Draw points of which one in five is cut to a random part."""
    pairs = []
    for n in range(count):
        before = 1.0 if source.random() < 0.8 else source.random()
        now = before if source.random() < 0.8 else before * source.random()
        pairs.append(PairedSample(cluster=str(n), first=now, second=before))
    return pairs, -0.2 * 0.9 * 0.5


def _worse_clusters(
    source: random.Random, count: int, size: int, attempts: int
) -> tuple[Sequence[PairedSample], float]:
    pairs = []
    for cluster in range(count):
        before = source.betavariate(4, 1)
        now = before * (1 - 0.25 * source.random())
        for _ in range(size):
            first, second = (sum(source.random() < rate for _ in range(attempts)) / attempts for rate in (now, before))
            pairs.append(PairedSample(cluster=str(cluster), first=first, second=second))
    return pairs, -0.8 * 0.125


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "single"),
    [
        (lambda source: _moves(source, 100, 0.05, 0.1), True),
        (lambda source: _moves(source, 200, 0.0, 0.02), True),
        (lambda source: _moves(source, 50, 0.1, 0.2), True),
        (lambda source: _falls(source, 50), True),
        (lambda source: _worse_clusters(source, 100, 1, 4), False),
        (lambda source: _worse_clusters(source, 40, 5, 1), True),
    ],
    ids=["both-ways", "one-way", "few", "points", "attempts", "clusters"],
)
def test_a_margin_errs_at_most_as_often_as_it_says(suite: Pairs, single: bool) -> None:
    source = random.Random(2)
    wrong_go = wrong_no = 0
    for _ in range(ROUNDS):
        pairs, truth = suite(source)
        bounds = moved(pairs, single=single).bounds(ERROR)
        assert bounds is not None
        wrong_go += bounds.low > truth
        wrong_no += bounds.high < truth
    assert max(wrong_go, wrong_no) / ROUNDS <= MOST


@pytest.mark.slow
def test_equal_agents_are_seldom_called_better_and_mostly_no_worse() -> None:
    """400 pairs of which a tenth moves: GO at a margin of 10 points in nearly all, "better" in at most 5 %."""
    source = random.Random(3)
    better = cleared = 0
    for _ in range(600):
        pairs, _ = _moves(source, 400, 0.05, 0.05)
        bounds = moved(pairs).bounds(ERROR)
        assert bounds is not None
        better += bounds.low > 0
        cleared += bounds.low > -0.1
    assert better / 600 <= 0.07
    assert cleared / 600 >= 0.98
