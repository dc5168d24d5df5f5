"""What is expected of steps makes looks more precise where it is right, and nothing wrong where it is not.

The error rates of 10,000 suites of each kind are measured by `python -m bench known_looks`.
"""

import random
from collections.abc import Callable, Sequence
from statistics import fmean

import pytest

from proctor.core.errors import BadInput
from proctor_ci.stats.known_steps import NO_GAIN, KnownSteps
from proctor_ci.stats.looks import LooksQuestion, StepsLook, looks

STEPS = 300
MARGIN = 0.1


def _suite(source: random.Random, lost: float) -> tuple[list[float], list[float]]:
    """Return differences to a baseline, and what was expected of them: it knows a third of what moves."""
    values = source.choices([1.0, 0.0, -1.0], [0.1, 0.9 - lost, lost], k=STEPS)
    return values, [value / 2 + source.gauss(0, 0.3) for value in values]


def _play(values: Sequence[float], expected: Sequence[float] | None) -> StepsLook:
    centre = None if expected is None else fmean(expected)
    looking = looks(LooksQuestion(limit=-MARGIN, low=-1.0, most=len(values), binary=True, expected=centre))
    for number, value in enumerate(values):
        look = looking.add(value, expected=None if expected is None else expected[number])
        if look.decision:
            break
    return look


def test_what_helps_decides_sooner_and_as_often() -> None:
    source = random.Random(1)
    suites = [_suite(source, 0.1) for _ in range(20)]
    plain = [_play(values, None) for values, _ in suites]
    known = [_play(values, expected) for values, expected in suites]
    assert fmean(look.steps for look in known) < 0.85 * fmean(look.steps for look in plain)
    assert sum(look.decision == "go" for look in known) >= sum(look.decision == "go" for look in plain) - 1
    assert all(look.gain.share < 1 for look in known if look.decision == "go" and look.steps < 200)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda source, expected: [0.0] * len(expected),
        lambda source, expected: source.sample(expected, len(expected)),
        lambda source, expected: [source.lognormvariate(0, 1.5) for _ in expected],
    ],
    ids=["nothing", "shuffled", "rare and large"],
)
def test_what_is_wrong_changes_next_to_nothing(
    wrong: Callable[[random.Random, list[float]], list[float]],
) -> None:
    source = random.Random(2)
    changed = 0
    for _ in range(12):
        values, expected = _suite(source, 0.1)
        plain, known = _play(values, None), _play(values, wrong(source, expected))
        changed += (plain.decision, plain.steps) != (known.decision, known.steps)
    assert changed <= 2


def test_at_the_limit_a_decision_is_seldom_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_ci.stats.looks._HARDLY", 0.0)
    source, suites = random.Random(3), 30
    decisions = [_play(*_suite(source, 0.2)).decision for _ in range(suites)]
    assert decisions.count("go") <= 0.05 * suites + 4
    assert decisions.count("no_go") <= 0.05 * suites + 4


def test_after_the_last_step_all_is_as_without_it() -> None:
    values, expected = _suite(random.Random(4), 0.2)
    steps = KnownSteps(fmean(expected), STEPS)
    assert (
        steps.look(values[:150], expected[:150], [1.0] * 150) == NO_GAIN
    )  # no look before that a slope could come from
    assert steps.look(values[:200], expected[:200], [1.0] * 200) != NO_GAIN
    assert steps.look(values, expected, [1.0] * STEPS) == NO_GAIN


def test_a_step_of_which_nothing_is_known_ends_the_gain() -> None:
    values, expected = _suite(random.Random(1), 0.1)
    looking = looks(LooksQuestion(limit=-0.02, low=-1.0, most=STEPS, binary=True, expected=fmean(expected)))
    shares = [
        looking.add(value, expected=None if number == 200 else expected[number]).gain.share
        for number, value in enumerate(values)
    ]
    assert min(shares[:200]) < 1
    assert {*shares[200:]} == {1.0}


@pytest.mark.parametrize("more", [{"low": 0.0, "limit": 0.5}, {"low": -1.0, "limit": 0.0, "target": "suite"}])
def test_only_differences_of_samples_like_these_are_adjusted(more: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="adjusts differences"):
        LooksQuestion(most=10, expected=0.0, **more)  # type: ignore[arg-type]  # the options of each case
