"""How frequent an event is, corrected by labels: the interval covers what it promises."""

import random

import pytest

from proctor_audit.inspector.prevalence import ROGAN_GLADEN, correct_prevalence, draw_trials

SETTINGS = [  # share of events, sensitivity, specificity, trials, labels, drawn by finding
    (0.3, 0.7, 0.9, 300, 60, True),
    (0.3, 0.7, 0.9, 300, 60, False),
    (0.5, 0.85, 0.9, 400, 80, True),
    (0.1, 0.8, 0.98, 1000, 200, True),
    (0.2, 0.9, 0.97, 2000, 300, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "sensitivity", "specificity", "trials", "count", "by_finding"), SETTINGS)
def test_the_interval_covers_95_percent(
    share: float, sensitivity: float, specificity: float, trials: int, count: int, by_finding: bool
) -> None:
    draw, covered, repeats = random.Random(1), 0, 1500
    for number in range(repeats):
        truth = {str(id): draw.random() < share for id in range(trials)}
        flags = {id: draw.random() < (sensitivity if is_there else 1 - specificity) for id, is_there in truth.items()}
        ids = draw_trials(flags, count, str(number)) if by_finding else draw.sample(sorted(flags), count)
        estimate = correct_prevalence(flags, {id: truth[id] for id in ids})
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= share <= estimate.high
    assert 0.93 <= covered / repeats <= 0.97


def test_rules_that_never_err_keep_their_share() -> None:
    flags = {str(id): id < 20 for id in range(100)}
    estimate = correct_prevalence(flags, {id: flags[id] for id in draw_trials(flags, 40, "0")})
    assert estimate is not None
    assert estimate.value == pytest.approx(0.2)


def test_rogan_gladen_is_the_inversion_of_both_errors() -> None:
    flags = {str(id): id < 500 for id in range(1000)}
    people = {str(id): id < 45 for id in range(50)} | {str(id): id < 505 for id in range(500, 550)}
    estimate = correct_prevalence(flags, people)
    assert estimate is not None
    assert estimate.value == pytest.approx(0.5)  # sensitivity and specificity are 0.9
    assert estimate.method in (ROGAN_GLADEN, "PPI, stratified")


def test_too_few_labels_correct_nothing() -> None:
    flags = {"a": True, "b": False, "c": False}
    assert correct_prevalence(flags, {"a": True}) is None


def test_a_draw_has_half_of_its_trials_with_a_finding_and_is_repeatable() -> None:
    flags = {str(id): id < 30 for id in range(1000)}
    drawn = draw_trials(flags, 40, "0")
    assert sum(flags[id] for id in drawn) == 20
    assert drawn == draw_trials(dict(reversed(flags.items())), 40, "0")
    assert len(draw_trials(flags, 2000, "0")) == 1000
