"""The error rates of 10,000 suites of each kind are measured by `python -m bench decisions`."""

import random

import pytest

from proctor.core.errors import BadInput
from proctor_ci.stats.looks import (
    BETTING,
    BETTING_WITHOUT_REPLACEMENT,
    TWENTY_LOOKS,
    LooksQuestion,
    StepsLook,
    looks,
)


def _until_decided(question: LooksQuestion, values: list[float]) -> StepsLook:
    looking = looks(question)
    for value in values:
        look = looking.add(value)
        if look.decision:
            break
    return look


def test_a_clear_case_is_decided_early_on_either_side() -> None:
    question = LooksQuestion(limit=0.5, most=400, binary=True)
    good, bad = (_until_decided(question, [value] * 400) for value in (1.0, 0.0))
    assert (good.decision, bad.decision) == ("go", "no_go")
    assert good.steps == bad.steps == 20  # the first look
    assert good.low >= 0.5 >= bad.high


def test_where_lower_is_better_the_sides_change() -> None:
    question = LooksQuestion(limit=0.5, higher=False, most=400, binary=True)
    assert _until_decided(question, [0.0] * 400).decision == "go"
    assert _until_decided(question, [1.0] * 400).decision == "no_go"


@pytest.mark.parametrize("most", [100, 400])
def test_what_will_hardly_be_decided_is_futile_before_the_last_step(most: int) -> None:
    question = LooksQuestion(limit=0.5, most=most, binary=True)
    look = _until_decided(question, [1.0, 0.0] * (most // 2))
    assert look.decision == "futile"
    assert most / 3 < look.steps < most


def test_where_betting_is_the_method_a_weak_effect_is_decided_at_a_look() -> None:
    """Betting alone would not: 58 % of 600 are no great gain, but a look at half of the steps or more shows that it is one."""
    values = [1.0 if number % 50 < 29 else 0.0 for number in range(600)]
    look = _until_decided(LooksQuestion(limit=0.51, most=600, binary=True), [values[7 * at % 600] for at in range(600)])
    assert look.decision == "go"
    assert 300 <= look.steps < 600
    assert look.steps % 30 == 0
    assert look.low > 0.51


@pytest.mark.parametrize(("most", "method"), [(500, TWENTY_LOOKS), (501, BETTING)])
def test_the_number_of_steps_chooses_the_method(most: int, method: str) -> None:
    assert looks(LooksQuestion(limit=0.5, most=most)).method == method
    assert looks(LooksQuestion(limit=0.5, most=most, target="suite")).method == BETTING_WITHOUT_REPLACEMENT


def test_a_count_is_decided_exactly_where_its_interval_leaves_the_limit() -> None:
    """The paths of 20 tosses, all of them: GO in no more than the error, and the interval says so."""
    question = LooksQuestion(limit=0.6, most=12, binary=True, error=0.1)
    chance = 0.0
    for path in range(1 << 12):
        tosses = [float(path >> at & 1) for at in range(12)]
        looking, wins = looks(question), sum(tosses)
        decided = [look for toss in tosses if (look := looking.add(toss)).decision in ("go", "no_go")]
        assert all((look.low > 0.6) == (look.decision == "go") for look in decided)
        if decided and decided[0].decision == "go":
            chance += 0.6**wins * 0.4 ** (12 - wins)
    assert 0.05 < chance <= 0.1


def test_a_step_more_than_there_can_be_is_refused() -> None:
    looking = looks(LooksQuestion(limit=0.5, most=1))
    looking.add(1.0)
    with pytest.raises(BadInput, match="All 1 steps"):
        looking.add(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("most", [100, pytest.param(240, marks=pytest.mark.torture)])
def test_at_the_limit_a_decision_is_seldom_made(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points in clusters of different sizes, looked at after every step; 10,000 suites are in `bench/decisions.py`."""
    monkeypatch.setattr("proctor_ci.stats.betting._GRID", 1)  # only the limit is bet against, which decides the same
    source, wrong = random.Random(4), {"go": 0, "no_go": 0, "futile": 0}
    for _ in range(150):
        looking = looks(LooksQuestion(limit=0.85, most=most, heaviest=4))
        for _ in range(most):
            look = looking.add(source.choice((1.0, 1.0, 1.0, 0.4)), source.choice((1, 4)))
            if look.decision:
                wrong[look.decision] += 1
                break
    assert max(wrong["go"], wrong["no_go"]) / 150 <= 0.09  # 5 %, and what chance may add


def test_equal_agents_that_fail_in_whole_clusters_are_seldom_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A race of two, by the error of each side; `python -m bench clusters` has more of them, and of more agents."""
    monkeypatch.setattr("proctor_ci.stats.looks._HARDLY", 0.0)
    source, races, sizes = random.Random(5), 100, [1, 20] * 6
    question = LooksQuestion(limit=0.0, low=-1.0, most=len(sizes), error=0.025, heaviest=max(sizes))
    told_apart = 0
    for _ in range(races):
        looking = looks(question)
        for size in source.sample(sizes, len(sizes)):
            first, second = (source.random() < 0.2 for _ in range(2))
            if looking.add(float(first) - float(second), size).decision in ("go", "no_go"):
                told_apart += 1
                break
    assert told_apart / races <= 0.05 + 1.645 * (0.05 * 0.95 / races) ** 0.5


def test_a_value_between_makes_a_count_a_mean() -> None:
    """What was announced as right or wrong has points after all: bounds then rest on their spread."""
    question = LooksQuestion(limit=0.6, most=100, binary=True)
    look = _until_decided(question, [0.7, 0.75, 0.8, 0.75] * 25)
    assert (look.decision, look.steps) == ("go", 15)


def test_the_interval_of_a_whole_suite_is_its_value() -> None:
    source = random.Random(1)
    values = [float(source.random() < 0.7) for _ in range(60)]
    looking = looks(LooksQuestion(limit=0.2, most=60, target="suite", binary=True))
    last = [looking.add(value) for value in values][-1]
    assert last.low == pytest.approx(last.value) == pytest.approx(last.high)


def test_a_suite_as_good_as_its_limit_is_good() -> None:
    question = LooksQuestion(limit=0.85, most=20, target="suite", binary=True)
    assert _until_decided(question, [1.0] * 6 + [0.0] + [1.0] * 6 + [0.0] + [1.0] * 5 + [0.0]).decision == "go"


def test_a_value_out_of_bounds_is_refused() -> None:
    looking = looks(LooksQuestion(limit=0.5, most=300))
    with pytest.raises(BadInput, match="between 0"):
        looking.add(1.5)
    with pytest.raises(BadInput, match="is at most 1"):
        looking.add(1.0, 2.0)


def test_a_limit_that_nothing_can_reach_is_refused() -> None:
    with pytest.raises(BadInput, match="outside"):
        LooksQuestion(limit=1.2, most=300)
