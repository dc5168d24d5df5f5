import random

import pytest
from bench.given import Suite, simulate

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence
from proctor.core.tally import Case, tally
from proctor.stats.covariate import (
    ADJUSTED,
    CovariateFit,
    CovariateGroup,
    CovariateSample,
    Other,
    adjust,
    fit_groups,
    gain,
)
from proctor.stats.estimate import estimate


def group(drawn: int = 40, others: int = 400, *, agree: float = 0.8, seed: int = 1) -> CovariateGroup:
    """Half of the samples are right; the earlier run earned the same with this chance, and where not drawn half too."""
    source = random.Random(seed)
    values = [float(place % 2) for place in range(drawn)]
    return CovariateGroup(
        size=drawn + others,
        samples=[
            CovariateSample(cluster=f"s{at}", value=value, earlier=value if source.random() < agree else 1 - value)
            for at, value in enumerate(values)
        ],
        others=[Other(cluster=f"o{at}", earlier=float(at % 2)) for at in range(others)],
    )


def plain(one: CovariateGroup) -> Estimate:
    return estimate(
        "accuracy", tally(Case(cluster=each.cluster, values=(each.value,), planned=1) for each in one.samples)
    )


def test_a_draw_of_samples_that_were_easy_before_is_taken_down() -> None:
    found = group()
    easy = CovariateGroup(
        size=found.size, samples=found.samples, others=[Other(cluster=str(at), earlier=0.0) for at in range(400)]
    )
    adjusted, fit = adjust(plain(easy), {"": easy})
    assert isinstance(fit, CovariateFit)
    assert adjusted.value is not None
    assert adjusted.value < 0.3
    assert adjusted.method == ADJUSTED


def test_the_interval_is_narrower_and_the_bounds_move_along() -> None:
    found = group()
    alone = plain(found)
    adjusted, fit = adjust(alone, {"": found})
    assert isinstance(fit, CovariateFit)
    assert fit.correlation > 0.4
    assert gain(alone, adjusted) > 0.05
    assert adjusted.floor == pytest.approx(adjusted.value)


def test_the_slope_is_that_of_the_regression() -> None:
    """Without an error of the centres (about one suite) it is covariance over variance."""
    found = group()
    fit = fit_groups({"": found}, of_suite=True)
    assert isinstance(fit, CovariateFit)
    values = fit.values[""]
    pairs = [(one.value, one.earlier or 0.0) for one in found.samples]
    x_mean = sum(x for _, x in pairs) / 40
    slope = sum((y - 0.5) * (x - x_mean) for y, x in pairs) / sum((x - x_mean) ** 2 for _, x in pairs)
    shifts = [y - value for (y, _), value in zip(pairs, values, strict=True)]
    ones = [shift for shift, (_, x) in zip(shifts, pairs, strict=True) if x == 1]
    zeros = [shift for shift, (_, x) in zip(shifts, pairs, strict=True) if x == 0]
    assert ones[0] - zeros[0] == pytest.approx(slope)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (group(others=0), "every sample of the earlier runs is in this run"),
        (group(drawn=8), "fewer than 10"),
        (group(agree=0.5, seed=3), "agree too little"),
        (
            CovariateGroup(
                size=9,
                samples=[CovariateSample(cluster="a", value=1.0, earlier=None)],
                others=[Other(cluster="b", earlier=1)],
            ),
            "no sample in common",
        ),
    ],
)
def test_where_nothing_is_gained_the_plain_estimate_stays_and_says_why(found: CovariateGroup, why: str) -> None:
    adjusted, told = adjust(plain(found), {"": found})
    assert adjusted == plain(found)
    assert isinstance(told, Sentence)
    assert why in str(told)


@pytest.mark.parametrize(
    "suite",
    [
        Suite(name="samples", samples=1_000, drawn=100),
        Suite(name="suite", samples=1_000, drawn=100, target="suite"),
        Suite(name="strata", samples=600, drawn=100, strata=((0.6, 0.85), (0.4, 0.5))),
    ],
    ids=lambda suite: suite.name,
)
def test_intervals_hold_the_truth_and_are_narrower_by_simulation(suite: Suite) -> None:
    """In short; `python -m bench given` is the long form."""
    found = simulate(suite, 250)
    assert 0.915 <= found.adjusted <= 0.985
    assert found.narrower > 0.19
    assert abs(found.bias) < 0.012
