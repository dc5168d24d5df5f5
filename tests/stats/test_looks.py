"""The error rates of 10,000 suites of each kind are measured by `python -m bench decisions`."""

import random

import pytest

from proctor.core.errors import BadInput
from proctor.stats.looks import Look, Question, looks


def _until_decided(question: Question, values: list[float]) -> Look:
    looking = looks(question)
    for value in values:
        look = looking.add(value)
        if look.decision:
            break
    return look


def test_a_clear_case_is_decided_early_on_either_side() -> None:
    question = Question(limit=0.5, most=400, binary=True)
    good, bad = (_until_decided(question, [value] * 400) for value in (1.0, 0.0))
    assert (good.decision, bad.decision) == ("go", "no_go")
    assert good.steps == bad.steps < 20
    assert good.low >= 0.5 >= bad.high


def test_where_lower_is_better_the_sides_change() -> None:
    question = Question(limit=0.5, higher=False, most=400, binary=True)
    assert _until_decided(question, [0.0] * 400).decision == "go"
    assert _until_decided(question, [1.0] * 400).decision == "no_go"


def test_what_is_not_decided_after_the_last_step_is_futile() -> None:
    question = Question(limit=0.5, most=300, binary=True)
    assert _until_decided(question, [1.0, 0.0] * 150).decision == "futile"


def test_the_interval_of_a_whole_suite_is_its_value() -> None:
    source = random.Random(1)
    values = [float(source.random() < 0.7) for _ in range(60)]
    looking = looks(Question(limit=0.2, most=60, target="suite", binary=True))
    last = [looking.add(value) for value in values][-1]
    assert last.low == pytest.approx(last.value) == pytest.approx(last.high)


def test_a_suite_as_good_as_its_limit_is_good() -> None:
    question = Question(limit=0.85, most=20, target="suite", binary=True)
    assert _until_decided(question, [1.0] * 6 + [0.0] + [1.0] * 6 + [0.0] + [1.0] * 5 + [0.0]).decision == "go"


def test_a_value_out_of_bounds_is_refused() -> None:
    looking = looks(Question(limit=0.5, most=300))
    with pytest.raises(BadInput, match="between 0"):
        looking.add(1.5)
    with pytest.raises(BadInput, match="is at most 1"):
        looking.add(1.0, 2.0)


def test_a_limit_that_nothing_can_reach_is_refused() -> None:
    with pytest.raises(BadInput, match="outside"):
        Question(limit=1.2, most=300)
