"""What every scorer promises."""

import asyncio
import inspect
import time
from abc import ABC, abstractmethod
from typing import Any

import pytest

from proctor.api import resolve
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory

HOSTILE_ANSWERS = {
    "nothing": "",
    "whitespace": " \n\t ",
    "controls": "\x00\x1b[31m\u202e\ud800",
    "deep": "[" * 100_000,
    "long": "B\n答案 " * 5_000,
}
MOST_SECONDS = 5.0


class ScorerContract(ABC):
    """Tests of a scorer, with a sample of the kind that it is for.

    class TestBrevity(ScorerContract):
        scorer = "brevity"  # as --scorer has it, or the function itself

        def sample(self):
            return Sample.ask("a", "Which letter?", target="B")
    """

    scorer: Any

    @abstractmethod
    def sample(self) -> Sample:
        """Return a sample with all that the scorer needs."""

    @pytest.fixture
    def function(self) -> Scorer:
        given = vars(type(self)).get("scorer", self.scorer)  # a function itself, not a method of the test
        [bound] = resolve.scorers([given])
        return bound.function

    @pytest.mark.parametrize("kind", HOSTILE_ANSWERS)
    def test_any_answer_gets_a_verdict_in_time(self, function: Scorer, kind: str) -> None:
        sample = self.sample()
        began = time.process_time()
        result = score(function, sample, HOSTILE_ANSWERS[kind])
        assert isinstance(result, Score | Unscored | bool | int | float | None), "not a verdict"
        assert time.process_time() - began < MOST_SECONDS
        assert sample == self.sample(), "the sample was changed"

    def test_the_same_answer_gets_the_same_verdict(self, function: Scorer) -> None:
        assert score(function, self.sample(), "a cat") == score(function, self.sample(), "a cat")

    def test_its_verdict_is_stored_with_a_run(self) -> None:
        import proctor

        given = vars(type(self)).get("scorer", self.scorer)
        task = proctor.Task(name="contract", samples=[self.sample()], scorers=[given])
        run = proctor.evaluate(task, agent=lambda question: "a cat", store=":memory:")
        [verdict] = run.store.verdicts(run.id)
        assert isinstance(verdict.result, Score) or verdict.result.why != "scorer_failed", verdict.result.reason


def score(function: Scorer, sample: Sample, answer: str) -> Any:
    result: Any = function(sample, Trajectory.of(answer))
    return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result


async def _wait_for(result: Any) -> object:
    return await result
