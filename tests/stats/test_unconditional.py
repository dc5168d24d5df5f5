"""Powers as published tables give them for this test are in `tests/stats/test_power.py`; here are its size and its laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats.paired import mcnemar_exact
from proctor.stats.unconditional import unconditional_exact


def _rejected(pairs: int, won: float, lost: float) -> tuple[float, float]:
    """Return how often the unconditional test, and McNemar's, find a difference at 5 %."""
    both = [0.0, 0.0]
    for wins in range(pairs + 1):
        for losses in range(pairs - wins + 1):
            ties = pairs - wins - losses
            ways = math.comb(pairs, wins) * math.comb(pairs - wins, losses)
            chance = ways * won**wins * lost**losses * (1 - won - lost) ** ties
            for index, p_value in enumerate((unconditional_exact(wins, losses, pairs), mcnemar_exact(wins, losses))):
                both[index] += chance * (p_value <= 0.05)
    return both[0], both[1]


@pytest.mark.parametrize("pairs", [8, 20, 30])
@pytest.mark.parametrize("moving", [0.03, 0.08, 0.2, 0.45, 0.8, 1.0])
def test_equal_runs_are_told_apart_in_at_most_the_stated_share(pairs: int, moving: float) -> None:
    assert _rejected(pairs, moving / 2, moving / 2)[0] <= 0.05


def test_it_finds_more_than_the_test_of_mcnemar() -> None:
    unconditional, mcnemar = _rejected(20, 0.2, 0.05)
    assert unconditional > mcnemar + 0.07
    unconditional, mcnemar = _rejected(30, 0.2, 0.05)
    assert unconditional > mcnemar + 0.1


@given(wins=st.integers(0, 30), losses=st.integers(0, 30), ties=st.integers(0, 60))
def test_no_side_is_preferred_and_more_wins_are_never_less_clear(wins: int, losses: int, ties: int) -> None:
    p_value = unconditional_exact(wins, losses, wins + losses + ties)
    assert p_value == unconditional_exact(losses, wins, wins + losses + ties)
    assert 0 < p_value <= 1
    if wins > losses:
        assert unconditional_exact(wins + 1, losses, wins + losses + ties + 1) <= p_value + 0.02


def test_all_pairs_that_move_one_way_are_the_least_likely_pattern_of_coins() -> None:
    assert unconditional_exact(9, 0, 9) == pytest.approx(0.5**8)
    assert unconditional_exact(0, 0, 9) == 1.0
