"""Equal runs are told apart in at most 5 % of all cases, however many there are."""

import random
from itertools import combinations

import pytest

from proctor.reports.verdicts import Untested, decide_each, decide_in_order
from proctor.stats import paired

ROUNDS = 300
SAMPLES = 60


def equal_runs(source: random.Random, count: int) -> list[list[int]]:
    """Runs that are right with the same chance on each sample."""
    chances = [source.betavariate(2, 1) for _ in range(SAMPLES)]
    return [[source.random() < chance for chance in chances] for _ in range(count)]


def row(first: list[int], second: list[int]) -> Untested:
    pairs = [
        paired.PairedSample(cluster=str(n), first=float(b), second=float(a))
        for n, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    value = paired.compare(pairs)
    return Untested(
        metric="accuracy",
        slice="",
        pairs=pairs,
        difference=value,
        floor=value.value,
        ceiling=value.value,
        missing=0,
    )


@pytest.mark.slow
def test_all_pairs_of_equal_agents_are_rarely_ranked_apart() -> None:
    source = random.Random(5)
    wrong = 0
    for _ in range(ROUNDS):
        rows = [[row(one, other)] for one, other in combinations(equal_runs(source, 4), 2)]
        wrong += any(decided[0].outcome != "inconclusive" for decided in decide_each(rows, 0.05))
    assert wrong / ROUNDS <= 0.05


@pytest.mark.slow
def test_no_run_of_a_trend_without_a_change_is_often_marked_against_the_baseline() -> None:
    source = random.Random(6)
    wrong = 0
    for _ in range(ROUNDS):
        baseline, *others = equal_runs(source, 6)
        rows = decide_in_order([row(baseline, other) for other in others], 0.05)
        wrong += any(decided.outcome != "inconclusive" for decided in rows)
    assert wrong / ROUNDS <= 0.05
