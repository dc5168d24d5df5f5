"""Bounds of a share of a finite set: exact where all is known, and right however one stops."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import chance, rounds

from proctor.core.errors import BadInput
from proctor.stats.rate import wilson
from proctor_audit.finite import finite_bounds

Stops = Callable[[int, int, float], bool]
STOPS: dict[str, Stops] = {  # after so many hits of so many draws, where the share is as given
    "never": lambda _, __, ___: False,
    "after 30": lambda _, draws, __: draws == 30,
    "at a high share": lambda hits, draws, share: draws >= 10 and hits / draws > share + 0.15,
    "when Wilson's interval misses": lambda hits, draws, share: not _covers(hits, draws, share),
}


def _covers(hits: int, draws: int, share: float) -> bool:
    interval = wilson(hits / draws, draws)
    return interval.low <= share <= interval.high


def coverage(stops: Stops, share: float, size: int, repeats: int) -> float:
    draw, covered = random.Random(1), 0
    truth = [number < round(share * size) for number in range(size)]
    for _ in range(repeats):
        draw.shuffle(truth)
        hits = draws = 0
        for value in truth:
            hits, draws = hits + value, draws + 1
            if stops(hits, draws, share):
                break
        bounds = finite_bounds(hits, draws, size)
        covered += bounds.low <= share <= bounds.high
    return covered / repeats


@pytest.mark.slow
@pytest.mark.parametrize("name", STOPS)
@pytest.mark.parametrize(("share", "size"), [(0.5, 40), (0.9, 200), (0.7, 1000), (0.02, 300)])
def test_the_bounds_hold_however_one_stops(name: str, share: float, size: int) -> None:
    assert coverage(STOPS[name], share, size, rounds(1000)) >= 0.95 - chance(0.95, 1000)


def test_an_interval_for_a_fixed_number_does_not_hold_where_one_stops_at_will() -> None:
    stops = STOPS["when Wilson's interval misses"]
    draw, missed = random.Random(1), 0
    for _ in range(200):
        hits = draws = 0
        for value in draw.sample([number < 100 for number in range(200)], 200):
            hits, draws = hits + value, draws + 1
            if draws >= 10 and stops(hits, draws, 0.5):
                missed += 1
                break
    assert missed / 200 > 0.2


@given(st.data(), st.integers(1, 300))
def test_bounds_are_around_what_is_known_and_alike_for_hits_and_misses(data: st.DataObject, size: int) -> None:
    draws = data.draw(st.integers(0, size))
    hits = data.draw(st.integers(0, draws))
    bounds = finite_bounds(hits, draws, size)
    assert hits - 1e-9 <= size * bounds.low <= size * bounds.high <= size - (draws - hits) + 1e-9
    mirrored = finite_bounds(draws - hits, draws, size)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((bounds.low, bounds.high), abs=1e-9)


def test_all_known_is_a_point_and_nothing_known_is_everything() -> None:
    assert (finite_bounds(6, 8, 8).low, finite_bounds(6, 8, 8).high) == (0.75, 0.75)
    assert (finite_bounds(0, 0, 8).low, finite_bounds(0, 0, 8).high) == (0.0, 1.0)


def test_counts_that_do_not_fit_are_refused() -> None:
    for counts in ((2, 1, 5), (1, 6, 5), (0, 0, 0), (-1, 2, 5)):
        with pytest.raises(BadInput, match="does not fit"):
            finite_bounds(*counts)
