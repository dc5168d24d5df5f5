"""Metrics of DeepEval: what holds without it here, and the library itself in an environment of its own."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import throwaway

from proctor import Sample, Score, Trajectory
from proctor.api import resolve
from proctor.core.errors import BadInput, MissingExtra
from proctor_judging.judges import deepeval

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_library_itself() -> None:
    throwaway.run_tests("veadk", HERE / "in_deepeval.py")


@pytest.mark.skipif(find_spec("deepeval") is not None, reason="DeepEval is installed")
def test_without_the_library_its_extra_is_named() -> None:
    with pytest.raises(MissingExtra, match=r"pip install .*\[deepeval\]"):
        deepeval.make("mine:metric", {})
    with pytest.raises(MissingExtra, match=r"pip install .*\[deepeval\]"):
        resolve.scorers(["deepeval:mine:metric"])


def test_other_scorers_are_left_alone() -> None:
    def mine(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=1)

    [bound] = resolve.scorers([mine])
    assert bound.function is mine
    assert not deepeval.is_metric(object())
    with pytest.raises(BadInput, match="no metric of DeepEval"):
        deepeval.wrap(object())
