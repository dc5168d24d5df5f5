"""What every scorer by name promises: a verdict for any text, in time, without changing what it was given."""

import itertools
import time
from typing import Any

import pytest
import simulated

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.lookup import find_scorer, functions

MADE: dict[str, dict[str, Any]] = {
    "combine": {"parts": [{"scorer": "exact"}]},
    "limits": {"characters": 10},
    "adaptive": {"scorer": "exact"},
}
ANSWERS = {
    "nothing": "",
    "blanks": " \n\t ",
    "the target": "B",
    "controls": "\x00\x1b[31m\u202e\ud800",
    "deep": "[" * 100_000,
    "long": "B\n答案 " * 5_000,
}
TARGETS = ("B", "{", None, ["B", "(", 7], {"x": 1}, 7)
ENDLESS = {"one line": "a" * 10, "lines": "B\n答案 " * 2, "brackets": "{[(" * 3}  # repeated, to some ten characters
TEN_MEGABYTES = 1_000_000  # times
A_FIFTH = 20_000  # of a megabyte


def scorers() -> list[str]:
    found: dict[str, None] = {}
    for room in registry.SCORERS.names():
        part = registry.SCORERS.find(room)
        found |= dict.fromkeys([room] if part.make or part.combine else [])
        found |= dict.fromkeys(functions(room, part))
    return [*found]


def scorer(name: str) -> Any:
    return find_scorer(name, MADE.get(name))


@pytest.mark.parametrize("name", scorers())
def test_any_answer_gets_a_verdict_in_time(name: str) -> None:
    """Without `--torture`, long answers meet one target only."""
    for target, (case, answer) in itertools.product(TARGETS, ANSWERS.items()):
        if len(answer) > 1_000 and target != TARGETS[0] and not simulated.long:
            continue
        sample = Sample.ask("a", "?", target=target, meta={"type": "exact"})
        began = time.process_time()
        try:
            result = scorer(name)(sample, Trajectory.of(answer))
        except BadInput:  # the person's own target is at fault; the engine makes it a scorer that failed
            assert isinstance(target, dict), case
            result = None
        except Exception as error:
            pytest.fail(f"{case}, target {target!r}: {error!r}")
        assert result is None or isinstance(result, Score | Unscored), (case, target)
        assert time.process_time() - began < 5, (case, target)
        assert sample == Sample.ask("a", "?", target=target, meta={"type": "exact"}), (case, target)


@pytest.mark.slow
@pytest.mark.parametrize("name", scorers())
@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_megabytes_get_a_verdict_in_time(name: str, answer: str) -> None:
    """Ten of them under `--torture`; a fifth of one otherwise: what takes the square of the length takes too long for it too."""
    endless = answer * (TEN_MEGABYTES if simulated.long else A_FIFTH)
    began = time.process_time()
    result = scorer(name)(Sample.ask("a", "?", target="B", meta={"type": "exact"}), Trajectory.of(endless))
    assert isinstance(result, Score | Unscored)
    assert time.process_time() - began < 20


@pytest.mark.parametrize("name", scorers())
def test_the_same_twice_gives_the_same(name: str) -> None:
    sample = Sample.ask("a", "?", target="The cat", meta={"type": "exact"})
    one = scorer(name)
    assert one(sample, Trajectory.of("a cat")) == one(sample, Trajectory.of("a cat"))


@pytest.mark.parametrize("name", sorted({name.partition(":")[0] for name in scorers()}))
def test_an_option_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        find_scorer(name, {"no_such_option": 1})
