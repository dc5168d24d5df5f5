import random

import pytest

from proctor.core.errors import BadInput
from proctor.stats.power import (
    Variance,
    mcnemar_samples,
    more_samples,
    paired_spread,
    samples_needed,
    smallest_difference,
    variance,
)


def test_samples_for_three_points_are_as_published() -> None:
    assert samples_needed(0.03, paired_spread(1 / 9)) == pytest.approx(968.998, abs=1e-3)


@pytest.mark.parametrize(("attempts", "published", "computed"), [(1, 0.132, 0.1327), (10, 0.075, 0.0757)])
def test_the_smallest_difference_of_198_samples_is_as_published(
    attempts: int, published: float, computed: float
) -> None:
    found = smallest_difference(198, paired_spread(1 / 9, 1 / 6, 1 / 6, attempts=(attempts, attempts)))
    assert found == pytest.approx(published, abs=2e-3)
    assert found == pytest.approx(computed, abs=1e-4)


def test_the_smallest_difference_undoes_the_samples_needed() -> None:
    needed = samples_needed(0.05, 0.2, alpha=0.01, power=0.9)
    assert smallest_difference(round(needed), 0.2, alpha=0.01, power=0.9) == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize(("attempts", "cut"), [(2, 1 / 3), (4, 1 / 2), (6, 5 / 9)])
def test_attempts_cut_the_variance_as_published(attempts: int, cut: float) -> None:
    spread = Variance(between=1 / 12, within=1 / 6)
    assert 1 - spread.of_mean(attempts) / spread.of_mean(1) == pytest.approx(cut)


def test_the_variance_splits_into_samples_and_attempts() -> None:
    source = random.Random(5)
    rates = [source.random() for _ in range(5000)]
    split = variance([[float(source.random() < rate) for _ in range(4)] for rate in rates])
    assert split is not None
    assert split.between == pytest.approx(1 / 12, abs=0.005)
    assert split.within == pytest.approx(1 / 6, abs=0.005)


def test_single_attempts_cannot_split_the_variance() -> None:
    assert variance([(1.0,), (0.0,), (1.0, 0.0)]) is None
    assert variance([]) is None


def test_samples_for_mcnemar_are_the_known_ones() -> None:
    assert mcnemar_samples(0.15, 0.05) == pytest.approx(154.6, abs=0.05)
    assert mcnemar_samples(0.05, 0.15) == mcnemar_samples(0.15, 0.05)


def test_a_clear_difference_needs_no_more_samples() -> None:
    assert more_samples(0.2, 0.02, 100) == 0


def test_a_doubtful_difference_says_how_many_more_would_decide() -> None:
    """At 100 samples the error is 0.05; for 80 % power the difference must be 2.8 errors, so 0.05 needs 785."""
    assert more_samples(0.05, 0.05, 100) == 685
    assert more_samples(-0.05, 0.05, 100) == 685


def test_no_number_of_samples_decides_a_tie() -> None:
    assert more_samples(0, 0.05, 100) is None
    with pytest.raises(BadInput, match="difference of 0"):
        samples_needed(0, 0.1)
    with pytest.raises(BadInput, match="difference of 0"):
        mcnemar_samples(0.1, 0.1)


@pytest.mark.parametrize("alpha_and_power", [(0, 0.8), (1, 0.8), (0.05, 0), (0.05, 1)])
def test_alpha_and_power_must_be_chances(alpha_and_power: tuple[float, float]) -> None:
    alpha, power = alpha_and_power
    with pytest.raises(BadInput, match="Alpha and power"):
        samples_needed(0.1, 0.1, alpha=alpha, power=power)


def test_shares_above_one_and_no_samples_are_refused() -> None:
    with pytest.raises(BadInput, match="Shares"):
        mcnemar_samples(0.8, 0.4)
    with pytest.raises(BadInput, match="At least 1"):
        smallest_difference(0, 0.1)
