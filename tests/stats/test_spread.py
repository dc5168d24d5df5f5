import random
from statistics import fmean

import pytest
from bench.items import AT_MOST, FILE, RecordedSystem, read_systems, replay
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.datasets.rows import rows
from proctor.stats.estimate import estimate
from proctor.stats.spread import SPREAD, draw_spread, estimate_spread, times_as_many


def plain(values: list[float]) -> Estimate:
    return estimate(
        "accuracy", tally(Case(cluster=str(at), values=(value,), planned=1) for at, value in enumerate(values))
    )


@given(st.dictionaries(st.integers(), st.floats(0, 1), min_size=1, max_size=40), st.data())
def test_a_draw_takes_one_of_each_part_in_order(expected: dict[int, float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(expected)))
    drawn = draw_spread(expected, count, random.Random(0))
    assert len({*drawn}) == count
    assert [expected[key] for key in drawn] == sorted(expected[key] for key in drawn)


def test_every_sample_is_drawn_about_as_often_whatever_is_expected_of_it() -> None:
    source = random.Random(1)
    expected = {at: at**2 / 100 for at in range(10)}
    counts = dict.fromkeys(expected, 0)
    for _ in range(6_000):
        for key in draw_spread(expected, 4, source):
            counts[key] += 1
    assert all(count == pytest.approx(2_400, rel=0.12) for count in counts.values())


def test_values_in_the_expected_order_say_as_much_as_a_larger_draw() -> None:
    values = [0.0] * 20 + [1.0] * 20
    alone = plain(values)
    spread = estimate_spread(alone, values, 400)
    assert spread.value == alone.value
    assert spread.method == SPREAD
    assert times_as_many(alone, spread) > 2
    assert alone.low is not None
    assert spread.low is not None
    assert alone.low < spread.low


@pytest.mark.parametrize("values", [[0.0, 1.0] * 20, [1.0] * 40, [0.0], [0.0, 1.0, 1.0]])
def test_an_expectation_that_says_nothing_leaves_the_plain_interval(values: list[float]) -> None:
    assert estimate_spread(plain(values), values, 400) == plain(values)


def test_a_draw_of_all_samples_stays_plain() -> None:
    values = [0.0] * 20 + [1.0] * 20
    assert estimate_spread(plain(values), values, 40) == plain(values)


@pytest.fixture(scope="module")
def systems() -> list[RecordedSystem]:
    return read_systems(rows(FILE))


@pytest.mark.parametrize("count", AT_MOST)
def test_recorded_tasks_of_other_families_save_calls_at_stated_coverage(
    systems: list[RecordedSystem], count: int
) -> None:
    """`python -m bench items` with few draws."""
    spread = [ours for ours, _ in replay(systems, count, 12).values()]
    assert fmean(square for one in spread for square in one.squares) ** 0.5 < AT_MOST[count]
    assert 0.92 < fmean(held for one in spread for held in one.held) < 0.99


def test_a_system_unlike_all_others_loses_nothing(systems: list[RecordedSystem]) -> None:
    results = replay(systems, 15, 12, shuffled=True).values()
    errors = [fmean(square for each in side for square in each.squares) ** 0.5 for side in zip(*results, strict=True)]
    assert errors[0] < 1.1 * errors[1]
    assert fmean(held for ours, _ in results for held in ours.held) > 0.93
