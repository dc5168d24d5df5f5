"""What is computed here by hand is what the packages of the field compute, which are imported by the tests that need them.

Each worker imports this file, and one runs it.
"""

import math
import random
import string
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.stats.distributions import beta_cdf, beta_quantile, normal_cdf, normal_quantile, t_cdf, t_quantile
from proctor.trajectory_matching.assignment import best
from proctor_judging.matching.porter import stem
from proctor_judging.matching.unit_table import _lines, read_unit
from proctor_judging.stats.agreement import Scale, krippendorff_alpha
from proctor_judging.stats.ranking import RankedBattle, bradley_terry

SHAPES = st.floats(0.05, 500)
SHARES = st.floats(1e-6, 1 - 1e-6)


@example(0.75, 1.0, 0.055)
@given(SHARES, SHAPES, SHAPES)
def test_the_beta_distribution_is_that_of_scipy(share: float, a: float, b: float) -> None:
    from scipy import stats

    assert beta_cdf(share, a, b) == pytest.approx(stats.beta.cdf(share, a, b), rel=1e-9, abs=1e-12)
    assert beta_quantile(share, a, b) == pytest.approx(stats.beta.ppf(share, a, b), rel=1e-9)


@given(SHARES, st.floats(0.5, 1e5))
def test_t_and_the_normal_distribution_are_those_of_scipy(share: float, degrees: float) -> None:
    from scipy import stats

    quantile = stats.t.ppf(share, degrees)
    assert t_quantile(share, degrees) == pytest.approx(quantile, rel=1e-8, abs=1e-8)
    assert t_cdf(quantile, degrees) == pytest.approx(share, rel=1e-8)
    assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), rel=1e-9, abs=1e-9)
    assert normal_cdf(5 * share) == pytest.approx(stats.norm.cdf(5 * share), rel=1e-12)


@pytest.mark.parametrize("scale", get_args(Scale))
def test_alpha_is_that_of_krippendorff(scale: Scale) -> None:
    import krippendorff

    chance = random.Random(scale)
    for _ in range(60):
        raters, items = chance.randint(2, 5), chance.randint(3, 30)
        table = [[chance.choice([1, 2, 3, 5, None]) for _ in range(items)] for _ in range(raters)]
        if len({rating for row in table for rating in row if rating is not None}) < 2:
            continue
        if all(sum(row[item] is not None for row in table) < 2 for item in range(items)):
            continue
        data = np.array([[np.nan if rating is None else rating for rating in row] for row in table])
        pairable = {row[item] for item in range(items) for row in table if sum(r[item] is not None for r in table) > 1}
        if len(pairable - {None}) < 2:
            continue
        expected = krippendorff.alpha(reliability_data=data, level_of_measurement=scale)
        assert krippendorff_alpha(zip(*table, strict=True), scale=scale).value == pytest.approx(expected, abs=1e-12)


def test_strengths_are_those_of_choix() -> None:
    import choix

    chance = random.Random(7)
    for _ in range(8):
        names = [f"s{number}" for number in range(chance.randint(3, 7))]
        battles, wins = [], []
        for number in range(200):
            first, second = chance.sample(range(len(names)), 2)
            won = chance.random() < 1 / (1 + math.exp(0.3 * (first - second)))
            battles.append(RankedBattle(item=str(number), first=names[first], second=names[second], won=float(won)))
            wins.append((first, second) if won else (second, first))
        expected = choix.opt_pairwise(len(names), wins)
        found = {rating.name: rating.strength for rating in bradley_terry(battles, resamples=10).ratings}
        assert [found[name] for name in names] == pytest.approx(list(expected - expected.mean()), abs=1e-5)


def test_the_best_assignment_is_that_of_scipy() -> None:
    from scipy.optimize import linear_sum_assignment

    chance = random.Random(3)
    for _ in range(100):
        rows, columns = chance.randint(1, 9), chance.randint(1, 9)
        weights = [[chance.choice([0.0, 0.25, 0.5, chance.random()]) for _ in range(columns)] for _ in range(rows)]
        at = linear_sum_assignment(np.array(weights), maximize=True)
        total = sum(weights[row][column] for row, column in best(weights).items())
        assert total == pytest.approx(np.array(weights)[at].sum())


def test_stems_are_those_of_nltk() -> None:
    from nltk.stem.porter import PorterStemmer

    chance, nltk = random.Random(11), PorterStemmer()
    ends = ["s", "es", "ies", "ed", "eed", "ing", "ational", "ization", "fulness", "ousli", "ly", "y", "e", "ement", ""]
    letters = string.ascii_lowercase + "aeiouy" * 4
    for _ in range(20_000):
        word = "".join(chance.choices(letters, k=chance.randint(1, 9))) + chance.choice(ends) + chance.choice(ends)
        assert stem(word) == nltk.stem(word), word


OTHERS = {  # pint names one thing, other places another one; or they are bases of our own
    "gallon", "fluid_ounce", "fl_oz", "ton", "month", "year", "yr", "decade", "century", "centuries", "degree", "deg",
    "person", "decibel", "quarter", "quart", "pint", "cup", "barrel", "acre",
}  # fmt: skip


def test_factors_of_units_are_those_of_pint() -> None:
    import pint

    registry: Any = pint.UnitRegistry()
    differ, compared = {}, 0
    for _, _, words, _, _ in _lines():
        for word in set(words) - OTHERS:
            ours = read_unit(word.replace("_", " "))
            if not word.isidentifier() or word not in registry or ours is None or ours.zero:
                continue
            theirs = registry.Quantity(1.0, word).to_base_units()
            grams = sum(power for base, power in ours.dimensions if base == "g")  # theirs are kilograms
            if theirs.magnitude * 1000**grams != pytest.approx(float(ours.factor), rel=1e-9):
                differ[word] = (float(ours.factor), ours.dimensions, str(theirs))
            compared += 1
    assert not differ, "".join(f"\n{k} {v}" for k, v in differ.items())
    assert compared > 60
