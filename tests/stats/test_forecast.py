"""How many samples decide, by the bounds that will decide it."""

import random

import pytest

from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor.stats.paired import PairedSample
from proctor.stats.rate import Interval
from proctor_ci.stats.bounds import exact, moved, one_sided
from proctor_ci.stats.forecast import expect_difference, expect_share


def _pairs(count: int, won: int, lost: int, name: str = "") -> list[PairedSample]:
    moves = [(1, 0)] * won + [(0, 1)] * lost + [(1, 1)] * (count - won - lost)
    return [PairedSample(cluster=f"{name}{n}", first=first, second=second) for n, (first, second) in enumerate(moves)]


def test_what_is_expected_of_as_many_samples_is_what_they_show() -> None:
    cases = [Case(cluster=str(n // 2), values=(float(n % 5 > 0), 1.0), planned=2) for n in range(60)]
    one = estimate("score", tally(cases))
    expected = expect_share(one, 60)
    assert expected.value == one.value is not None
    assert expected.bounds(60, expected.value, 0.05) == one_sided(one, 0.05)
    for pairs, single in ((_pairs(50, 4, 7), True), (_pairs(50, 4, 7), False)):
        found = moved(pairs, single=single)
        shown, seen = expect_difference(found).bounds(50, found.value, 0.05), found.bounds(0.05)
        assert shown is not None
        assert seen is not None
        assert shown.low == pytest.approx(seen.low)
        assert shown.high == pytest.approx(seen.high)


@pytest.mark.parametrize(("count", "needed"), [(3, 59), (50, 59), (58, 59)])
def test_nothing_failed_and_as_many_are_needed_as_exclude_the_limit(count: int, needed: int) -> None:
    one = estimate("failed", tally([Case(cluster=str(n), values=(0.0,), planned=1) for n in range(count)]))
    expected = expect_share(one, count)
    found = expected.needed(0.0, 0.05, lambda ends: ends.high <= 0.05, 0.05, power=0.8, kept=0, most=10_000)
    assert found == needed
    assert exact(0, needed, 0.05).high <= 0.05 < exact(0, needed - 1, 0.05).high


@pytest.mark.parametrize("kept", [0, 60])
def test_so_many_samples_decide_in_about_four_of_five_cases(kept: int) -> None:
    source = random.Random(1)

    def draw(count: int) -> list[PairedSample]:
        moves = [source.random() for _ in range(count)]
        won, lost = sum(one < 0.06 for one in moves), sum(0.06 <= one < 0.12 for one in moves)
        return _pairs(count, won, lost, "more ")

    def decides(ends: Interval) -> bool:
        return ends.low > -0.1

    first = _pairs(60, 3, 4)
    found = moved(first)
    count = expect_difference(found).needed(0.0, -0.1, decides, 0.02, power=0.8, kept=kept, most=10_000)
    assert count is not None
    assert count > 60
    decided = 0
    for _ in range(200):
        bounds = moved([*(first if kept else ()), *draw(count - kept)]).bounds(0.02)
        assert bounds is not None
        decided += decides(bounds)
    assert 0.7 <= decided / 200 <= 0.93
