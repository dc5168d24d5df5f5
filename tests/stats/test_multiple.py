import pytest

from proctor.core.errors import BadInput
from proctor.stats.multiple import holm


def test_adjusted_values_are_the_known_ones_in_the_order_asked() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_adjusted_values_are_those_of_statsmodels() -> None:
    assert holm([0.001, 0.8, 0.02, 0.02, 0.04, 0.3]) == pytest.approx([0.006, 0.8, 0.1, 0.1, 0.12, 0.6])


def test_one_question_needs_no_correction_and_none_is_fine() -> None:
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_no_adjusted_value_is_above_one() -> None:
    assert holm([0.7, 0.9]) == [1, 1]


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        holm([0.5, p])
