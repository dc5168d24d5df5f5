import math
import random

import numpy as np
import pytest

from proctor.stats.item_fit import discrimination, find_agreement, find_misfit

HARD = {str(at): at / 100 for at in range(100)}


def system(seed: int, *, is_alike: bool = True) -> dict[str, float]:
    source = random.Random(seed)
    return {id: float(source.random() < (rate if is_alike else 0.5)) for id, rate in HARD.items()}


def misfit(own: dict[str, float], others: list[dict[str, float]]) -> float | None:
    agreement = find_agreement(others)
    assert agreement is not None
    expected = [sum(other[id] for other in others) / len(others) for id in own]
    return find_misfit([*own.values()], expected, agreement)


def test_a_system_like_the_earlier_ones_fits() -> None:
    others = [system(seed) for seed in range(10)]
    assert sum(misfit(system(100 + seed), others) is not None for seed in range(100)) <= 5


def test_a_system_that_finds_other_samples_hard_does_not() -> None:
    others = [system(seed) for seed in range(10)]
    alien = [misfit(system(100 + seed, is_alike=False), others) for seed in range(50)]
    found = [one for one in alien if one is not None]
    assert len(found) >= 40
    assert sum(found) / len(found) == pytest.approx(0.0, abs=0.15)


@pytest.mark.parametrize("count", [3, 4, 6, 10, 30])
@pytest.mark.parametrize("spread", [0.1, 0.6])
def test_few_systems_that_differ_much_do_not_make_the_next_one_unfit(count: int, spread: float) -> None:
    """Of systems like the earlier ones, one in four hundred is warned of at most; twice that is allowed here, for chance."""
    source = np.random.default_rng(count)
    expected = np.linspace(-1, 1, 40)
    other = expected**2 - np.mean(expected**2)  # as far from `expected` as can be
    warned = 0
    for _ in range(4_000):
        before = source.normal(0.5, math.sqrt(spread**2 + 1 / 197), count)
        own = math.tanh(source.normal(0.5, math.sqrt(spread**2 + 1 / 37)))
        values = own * expected / np.std(expected) + math.sqrt(1 - own**2) * other / np.std(other)
        agreement = (float(np.mean(before)), float(np.var(before, ddof=1)), count)
        warned += find_misfit([*values], [*expected], agreement) is not None
    assert warned <= 20


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_systems_say_nothing_of_their_agreement(count: int) -> None:
    assert find_agreement([system(seed) for seed in range(count)]) is None


def test_few_or_equal_values_say_nothing() -> None:
    agreement = find_agreement([system(seed) for seed in range(5)])
    assert agreement is not None
    assert find_misfit([1.0, 0.0] * 5, [0.0, 1.0] * 5, agreement) is None
    assert find_misfit([1.0] * 40, [0.0, 1.0] * 20, agreement) is None


def test_samples_that_some_systems_lack_count_for_the_others() -> None:
    """Each system lacks other samples, so that none is known by all."""
    others = [{id: value for id, value in system(seed).items() if int(id) % 10 != seed} for seed in range(10)]
    agreement, whole = find_agreement(others), find_agreement([system(seed) for seed in range(10)])
    assert agreement is not None
    assert whole is not None
    assert agreement[2] == 10
    assert agreement[0] == pytest.approx(whole[0], abs=0.1)


def test_a_sample_that_good_systems_fail_tells_them_apart_the_wrong_way() -> None:
    systems = [{str(at): float(at < rate) for at in range(20)} for rate in range(1, 11)]
    for at, own in enumerate(systems):
        own |= {"right": float(at >= 5), "wrong": float(at < 5), "same": 1.0}
    assert (discrimination(systems, "right") or 0) > 0.7
    assert (discrimination(systems, "wrong") or 0) < -0.7
    assert discrimination(systems, "same") is None
    assert discrimination(systems, "unknown") is None
    assert discrimination(systems[:7], "right") is None
