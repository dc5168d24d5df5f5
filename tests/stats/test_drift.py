"""Changes of a repeated measurement: found soon, and seldom where there are none."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import pytest

from proctor.core.errors import BadInput
from proctor_ci.stats.drift import SIZES, Detector, DriftUnit, Shift, _Bet, _Term, _Values


def runs(rates: Sequence[float], count: int, seed: int) -> Iterator[dict[str, DriftUnit]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield {str(number): DriftUnit(float(rng.random() < rate)) for number, rate in enumerate(rates)}


def feed(detector: Detector, *parts: Iterator[dict[str, DriftUnit]]) -> list[Shift]:
    return [found for run in itertools.chain(*parts) if (found := detector.add(run)) is not None]


@pytest.mark.parametrize(
    "values", [(0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.0), (0.25, 0.5, 1.0, 0.75), (0.1, 0.1, 0.1, 0.9)]
)
def test_a_bet_on_which_value_is_the_newest_is_fair_or_worse(values: tuple[float, ...]) -> None:
    pool = _Values()
    for value in values:
        pool.add(value)
    for direction, stake in itertools.product(("down", "up"), (0.3, 2.0, 40.0)):
        earned = []
        for value in values:
            bet = _Bet("down" if direction == "down" else "up", 0.1)
            bet.add(0, [_Term(DriftUnit(value), pool)], stake)
            earned.append(math.exp(bet.log))
        mean = math.fsum(earned) / len(earned)
        assert mean <= 1 + 1e-12
        assert mean == pytest.approx(1.0) or len(set(values)) > 2


def test_a_fall_is_found_within_three_runs_with_the_run_it_began_with() -> None:
    rates = [0.8] * 200
    delays = []
    for seed in range(12):
        found = feed(Detector(100), runs(rates, 12, seed), runs([0.7] * 200, 8, seed + 50))
        falls = [one for one in found if one.direction == "down" and one.found >= 12]
        assert falls, seed
        delays.append(falls[0].found - 11)
        assert falls[0].since >= 10
        assert falls[0].before > falls[0].after
        assert falls[0].chance <= 1 / 100
    assert sum(delays) / len(delays) <= 3


def test_runs_without_a_change_seldom_alarm() -> None:
    found = feed(Detector(100), runs([0.8] * 60 + [0.5] * 40, 300, 3))
    assert len(found) <= 3


def test_a_recovery_is_a_rise_after_the_fall() -> None:
    good, bad = [0.9] * 100, [0.6] * 100
    found = feed(Detector(1000), runs(good, 10, 1), runs(bad, 5, 2), runs(good, 6, 3))
    assert [(one.direction, one.begin, one.since) for one in found] == [("down", 0, 10), ("up", 10, 15)]


def test_samples_that_never_change_show_nothing_and_new_samples_are_not_compared() -> None:
    detector = Detector(100)
    assert feed(detector, iter([{"a": DriftUnit(1.0)}] * 50)) == []
    assert feed(detector, iter([{f"{run}-{n}": DriftUnit(0.0) for n in range(50)} for run in range(20)])) == []


def test_a_cluster_counts_as_one_observation() -> None:
    single = {str(n): DriftUnit(1.0) for n in range(40)}
    lost = {str(n): DriftUnit(0.0) for n in range(40)}
    together, gone = {"c": DriftUnit(1.0, 40)}, {"c": DriftUnit(0.0, 40)}
    assert feed(Detector(100), iter([single] * 4), iter([lost]))
    assert not feed(Detector(100), iter([together] * 4), iter([gone]))


@pytest.mark.parametrize("rate", [1.0, 0.0, math.nan, math.inf])
def test_a_rate_of_false_alarms_must_be_one(rate: float) -> None:
    with pytest.raises(BadInput, match="above 1"):
        Detector(rate)


def test_huge_stakes_do_not_overflow() -> None:
    detector = Detector(1e9)
    assert len(SIZES) == 4
    assert (
        feed(
            detector,
            iter([{"a": DriftUnit(1.0, 1e6), "b": DriftUnit(0.5, 1e-6)}] * 3),
            iter([{"a": DriftUnit(0.999, 1e6)}]),
        )
        == []
    )


def test_a_change_begins_where_the_means_lie_apart_the_clearest() -> None:
    detector = Detector(100)
    runs = [{str(at): DriftUnit(float(at < right)) for at in range(40)} for right in (30, 31, 30, 12, 11)]
    found = [shift for run in runs if (shift := detector.add(run)) is not None]
    assert [(one.since, one.found) for one in found] == [(3, 3)]
