import random
from collections import Counter
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
def test_a_draw_is_in_the_expected_order_and_within_a_larger_one(
    expected: dict[int, float], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(expected)))
    drawn = draw_spread(expected, count, random.Random(0))
    assert len({*drawn}) == count
    assert [expected[key] for key in drawn] == sorted(expected[key] for key in drawn)
    assert {*drawn} <= {*draw_spread(expected, data.draw(st.integers(count, len(expected))), random.Random(0))}


@given(st.integers(1, 60), st.integers(0, 20), st.data())
def test_a_draw_takes_half_of_its_samples_from_each_half(size: int, seed: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, size))
    drawn = draw_spread({at: at / 100 for at in range(size)}, count, random.Random(seed))
    assert abs(sum(at < size // 2 for at in drawn) - count * (size // 2) / size) < 1


@pytest.mark.parametrize(("size", "count"), [(3, 2), (7, 3), (10, 4)])
def test_every_sample_is_drawn_as_often_whatever_is_expected_of_it(size: int, count: int) -> None:
    source = random.Random(1)
    expected = {at: at**2 / 100 for at in range(size)}
    counts = Counter(key for _ in range(6_000) for key in draw_spread(expected, count, source))
    chance = count / size
    error = (6_000 * chance * (1 - chance)) ** 0.5
    assert all(abs(counts[key] - 6_000 * chance) < 4 * error for key in expected)


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
@pytest.mark.parametrize("of_suite", [True, False])
def test_recorded_tasks_of_other_families_save_calls_at_stated_coverage(
    systems: list[RecordedSystem], count: int, of_suite: bool
) -> None:
    """`python -m bench items` with fewer draws."""
    spread = [ours for ours, _ in replay(systems, count, 60, of_suite=of_suite).values()]
    if of_suite:
        assert fmean(square for one in spread for square in one.squares) ** 0.5 < AT_MOST[count]
    assert 0.92 < fmean(held for one in spread for held in one.held) < 0.99


def test_a_system_unlike_all_others_loses_nothing(systems: list[RecordedSystem]) -> None:
    results = replay(systems, 15, 12, shuffled=True).values()
    errors = [fmean(square for each in side for square in each.squares) ** 0.5 for side in zip(*results, strict=True)]
    assert errors[0] < 1.1 * errors[1]
    assert fmean(held for ours, _ in results for held in ours.held) > 0.93
