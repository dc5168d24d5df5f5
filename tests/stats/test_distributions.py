"""Against numbers of scipy 1.17.1."""

import math

import pytest

from proctor.stats.distributions import (
    beta_cdf,
    beta_quantile,
    chi_squared_quantile,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

T_QUANTILES = [
    (1e-09, 1, -318309886.1837907),
    (1e-09, 2, -22360.679741456875),
    (1e-09, 3.5, -439.4984934393447),
    (1e-09, 19, -10.613521312506379),
    (1e-09, 100000.0, -5.9983614616790755),
    (0.005, 1, -63.65674116287158),
    (0.005, 10, -3.1692726726169504),
    (0.005, 199, -2.6007602160585166),
    (0.2, 2, -1.060660171779821),
    (0.2, 19, -0.8609505502689285),
    (0.6, 1, 0.32491969623290634),
    (0.6, 3.5, 0.27326545405577973),
    (0.975, 1, 12.706204736174694),
    (0.975, 2, 4.302652729749462),
    (0.975, 10, 2.228138851986274),
    (0.975, 199, 1.9719565442517533),
    (0.975, 100000.0, 1.9599877075346095),
    (0.999, 19, 3.5794001489547154),
]
T_CDF = [
    (-300.0, 1, 0.0010610290242204857),
    (-300.0, 4, 3.703429371284012e-10),
    (-300.0, 30, 5.009667503580099e-54),
    (-40.0, 30, 6.863022597203209e-28),
    (-2.5, 1, 0.12111894159084341),
    (-2.5, 30, 0.009057824534033344),
    (-2.5, 1000000.0, 0.006209744751081627),
    (-0.001, 4, 0.499625000078125),
    (0.7, 1, 0.6944001122142147),
    (0.7, 1000000.0, 0.7580362663567293),
    (6.0, 4, 0.9980587314765197),
]
BETA_CDF = [
    (1e-08, 0.5, 0.5, 6.366197734286143e-05),
    (0.3, 0.5, 0.5, 0.36901011956554536),
    (0.9, 2, 3, 0.9963),
    (0.01, 19, 3, 2.0602900000000012e-36),
    (0.85, 19, 3, 0.3704955177196224),
    (0.5, 500, 520, 0.734506577151153),
    (0.02, 0.01, 40, 0.9968570200829627),
    (0.9, 90000, 10000.0, 0.4988786056430611),
    (0.9012, 90000, 10000.0, 0.8973553397532228),
    (0.4, 3e5, 5e5, 1.0),
    (0.001, 2, 10000.0, 0.9995030931942525),
]
BETA_QUANTILES = [
    (0.025, 19, 3, 0.6962255930860758),
    (0.975, 19, 3, 0.9695110323784845),
    (0.025, 0.5, 0.5, 0.001541333133436012),
    (0.5, 1, 20, 0.03406367107515445),
    (1e-06, 3, 7, 0.0022912212217033106),
    (0.975, 2500, 2500, 0.5138570692489505),
    (0.999, 40, 1, 0.9999749878044706),
]


@pytest.mark.parametrize(("probability", "degrees", "expected"), T_QUANTILES)
def test_quantiles_of_t_are_those_of_scipy(probability: float, degrees: float, expected: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("x", "degrees", "expected"), T_CDF)
def test_probabilities_of_t_are_those_of_scipy(x: float, degrees: float, expected: float) -> None:
    assert t_cdf(x, degrees) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("x", "a", "b", "expected"), BETA_CDF)
def test_probabilities_of_beta_are_those_of_scipy(x: float, a: float, b: float, expected: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("probability", "a", "b", "expected"), BETA_QUANTILES)
def test_quantiles_of_beta_are_those_of_scipy(probability: float, a: float, b: float, expected: float) -> None:
    assert beta_quantile(probability, a, b) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("probability", "expected"),
    [(1e-300, -37.0470962993612), (0.025, -1.9599639845400545), (0.8, 0.8416212335729143), (0.999999, 4.753424308817)],
)
def test_normal_quantiles_and_probabilities_undo_each_other(probability: float, expected: float) -> None:
    assert normal_quantile(probability) == pytest.approx(expected, rel=1e-9)
    assert normal_cdf(expected) == pytest.approx(probability, rel=1e-9)


def test_the_ends_of_a_distribution_are_certain() -> None:
    assert (beta_cdf(0, 2, 3), beta_cdf(-1, 2, 3), beta_cdf(1, 2, 3), beta_cdf(2, 2, 3)) == (0, 0, 1, 1)
    assert (beta_quantile(0, 2, 3), beta_quantile(1, 2, 3)) == (0, 1)
    assert (t_cdf(-math.inf, 3), t_cdf(0, 3), t_cdf(math.inf, 3)) == (0, 0.5, 1)
    assert t_quantile(0.5, 3) == 0


@pytest.mark.parametrize("probability", [0, 1, -0.1, 1.1, math.nan])
def test_a_quantile_of_no_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        t_quantile(probability, 3)


@pytest.mark.parametrize("parameter", [0, -1, math.nan])
def test_parameters_that_are_not_above_zero_are_refused(parameter: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        t_cdf(1, parameter)
    with pytest.raises(ValueError, match="above 0"):
        beta_cdf(0.5, 1, parameter)
    with pytest.raises(ValueError, match="probability"):
        beta_quantile(math.nan, 1, 1)


def test_beta_keeps_eight_digits_up_to_parameters_of_a_hundred_thousand() -> None:
    special = pytest.importorskip("scipy.special", reason="needs the extra 'matching'")
    for a, b, x in (
        (58_943, 0.087, 0.999995),
        (1e5, 1e5, 0.499),
        (0.05, 9e4, 1e-7),
        (5e4, 3, 0.9999),
        (0.5, 1e5, 1e-5),
    ):
        assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-8)


@pytest.mark.parametrize(
    ("probability", "degrees", "expected"),
    [
        (0.025, 0.5, 5.273202591259991e-07),
        (0.975, 1, 5.023886187314888),
        (0.025, 2, 0.05063561596857975),
        (0.5, 10, 9.34181776559197),
        (0.975, 59, 82.1174059402383),
        (0.025, 61, 41.303137877306476),
        (0.975, 100000.0, 100878.41530566558),
    ],
)
def test_chi_squared_quantiles_are_those_of_scipy(probability: float, degrees: float, expected: float) -> None:
    assert chi_squared_quantile(probability, degrees) == pytest.approx(expected, rel=3e-4)
