import math
import random
from itertools import pairwise

import pytest

from proctor.core.errors import BadInput
from proctor.stats.sequential import betting_looks, boundary, confidence_sequence, paired_e_value, paired_looks

ROUNDS = 400


@pytest.mark.parametrize(("variance", "computed"), [(100, 36.56395), (1000, 96.06402), (10000, 327.30186)])
def test_the_computed_boundary(variance: float, computed: float) -> None:
    assert boundary(variance, tuned_for=100) == pytest.approx(computed, abs=1e-5)


@pytest.mark.parametrize(
    ("wins", "losses", "computed"),
    [(9, 1, 9.30909), (10, 0, 93.0909), (10, 1, 15.5152), (11, 1, 26.2564), (12, 1, 45.0110)],
)
def test_the_computed_e_values(wins: int, losses: int, computed: float) -> None:
    assert paired_e_value(wins, losses) == pytest.approx(computed, rel=1e-5)
    assert paired_e_value(losses, wins) == paired_e_value(wins, losses)


def test_no_discordant_pair_is_no_evidence() -> None:
    assert paired_e_value(0, 0) == 1
    assert [look.e_value for look in paired_looks([(1, 1), (0, 0)])] == [1, 1]


def test_overwhelming_evidence_is_no_overflow() -> None:
    assert math.isinf(paired_e_value(10_000, 0))
    assert paired_e_value(10_000, 10_000) < 1


def test_a_decision_stands_whatever_comes_later() -> None:
    looks = list(paired_looks([(1.0, 0.0)] * 9 + [(0.0, 1.0)] * 9))
    assert looks[8].decided
    assert looks[-1].decided
    assert looks[-1].e_value < 20


def test_looking_after_every_sample_finds_no_difference_that_is_not_there() -> None:
    """Looked at the same way, a test of 5 % would find one in 3 of 10 runs."""
    source = random.Random(1)
    found = naive = 0
    for _ in range(ROUNDS):
        pairs = [(float(source.random() < 0.3), float(source.random() < 0.3)) for _ in range(400)]
        found += [*paired_looks(pairs)][-1].decided
        total = squares = 0.0
        peeked = False
        for count, (first, second) in enumerate(pairs, 1):
            total, squares = total + first - second, squares + (first - second) ** 2
            peeked = peeked or (count >= 20 and abs(total) > 1.96 * math.sqrt(squares))
        naive += peeked
    assert found / ROUNDS <= 0.05
    assert naive / ROUNDS > 0.2


def test_a_real_difference_is_found_early() -> None:
    """The win and loss shares .25 and .05 need 52 samples at a fixed size, and about 60 on average here."""
    source = random.Random(2)
    steps = []
    for _ in range(200):
        outcomes = source.choices([(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)], [0.25, 0.05, 0.7], k=400)
        steps.append(next((look.steps for look in paired_looks(outcomes) if look.decided), 400))
    assert sum(steps) / 200 == pytest.approx(62, abs=10)


def test_the_confidence_sequence_holds_the_mean_at_all_times() -> None:
    source = random.Random(3)
    missed = 0
    for _ in range(ROUNDS):
        ends = [*confidence_sequence([float(source.random() < 0.7) for _ in range(300)])]
        missed += not all(one.low <= 0.7 <= one.high for one in ends)
        assert all(later.low >= sooner.low for sooner, later in pairwise(ends))
    assert missed / ROUNDS <= 0.05
    assert ends[-1].high - ends[-1].low < 0.22


@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_betting_against_the_truth_loses_and_against_an_error_wins(mean: float) -> None:
    source = random.Random(4)
    lost = won = 0
    for _ in range(ROUNDS // 2):
        lost += [*betting_looks([float(source.random() < mean) for _ in range(200)], mean)][-1].decided
        won += [*betting_looks([float(source.random() < mean - 0.25) for _ in range(200)], mean)][-1].decided
    assert lost / (ROUNDS // 2) <= 0.06
    assert won / (ROUNDS // 2) > 0.95


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        boundary(1, tuned_for=1, alpha=0)
    with pytest.raises(BadInput, match="not below 0"):
        boundary(-1, tuned_for=1)
    with pytest.raises(BadInput, match="counts"):
        paired_e_value(-1, 0)
    with pytest.raises(BadInput, match="one is 2"):
        list(confidence_sequence([2.0]))
    with pytest.raises(BadInput, match="lies between 0"):
        list(betting_looks([0.5], 1.0))
