"""Means of any numbers: the plain t interval without clusters, a wider one with them, none from one cluster."""

import math
import random
from statistics import fmean, stdev

import pytest

from proctor.stats.mean import estimate_mean


def test_without_clusters_it_is_students_interval() -> None:
    values = [3.0, -1.5, 40.0, 7.25]
    found = estimate_mean("x", values, list("abcd"), planned=5)
    error = stdev(values) / 2
    assert found.value == pytest.approx(fmean(values))
    assert found.standard_error == pytest.approx(error)
    assert found.high == pytest.approx(fmean(values) + 3.182446305284263 * error)
    assert (found.method, found.scored, found.planned, found.degrees) == ("t over samples", 4, 5, 3)


@pytest.mark.parametrize(
    ("values", "clusters", "method"),
    [
        ([], [], "nothing scored"),
        ([2.0], ["a"], "no interval: one sample"),
        ([1.0, 2.0], ["a", "a"], "no interval: one cluster"),
    ],
)
def test_one_cluster_says_nothing_of_spread(values: list[float], clusters: list[str], method: str) -> None:
    found = estimate_mean("x", values, clusters, planned=2)
    assert (found.low, found.high, found.standard_error, found.method) == (None, None, None, method)


def test_no_end_lies_below_what_a_count_can_be() -> None:
    assert estimate_mean("tokens", [0.0, 100.0], ["a", "b"], planned=2, least=0.0).low == 0


def test_numbers_that_move_together_are_covered_as_often_as_is_said() -> None:
    draw = random.Random(5)
    covered = naive = 0
    for _ in range(1_000):
        centres = [draw.gauss(10, 3) for _ in range(12)]
        values = [centre + draw.gauss(0, 1) for centre in centres for _ in range(6)]
        found = estimate_mean("x", values, [str(place // 6) for place in range(72)], planned=72)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 10 <= found.high
        naive += abs(fmean(values) - 10) <= 1.994 * stdev(values) / math.sqrt(72)
    assert 930 <= covered <= 970
    assert naive < 800, "which is what clusters are for"
