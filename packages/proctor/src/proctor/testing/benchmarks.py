"""What every benchmark promises."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import pytest

import proctor
from proctor.api import resolve
from proctor.core.sample import Sample
from proctor.core.task import Task


class BenchmarkContract:
    """Tests of a benchmark; a few of its samples are played with agents that know nothing, or everything.

    class TestPlanets(BenchmarkContract):
        benchmark = "planets"

    Attributes:
        benchmark: the task as `proctor run` has it.
        options: the options of the task.
        limit: how many samples agents play.
        has_targets: False where a sample does not hold its answer, so that no agent can give it back.
    """

    benchmark: ClassVar[str]
    options: ClassVar[Mapping[str, Any]] = {}
    has_targets: ClassVar[bool] = True
    limit: ClassVar[int] = 20

    @pytest.fixture
    def task(self) -> Task:
        return resolve.task(self.benchmark, self.options)[0]

    @pytest.fixture
    def samples(self, task: Task) -> list[Sample]:
        return read_samples(task)

    def test_it_has_a_version_and_scorers(self, task: Task) -> None:
        assert task.version, "numbers of two versions must not be mixed up"
        assert task.scorers

    def test_each_sample_has_an_id_of_its_own(self, samples: list[Sample]) -> None:
        ids = [sample.id for sample in samples]
        assert ids
        assert len(ids) == len({*ids})

    def test_its_samples_are_the_same_in_the_same_order_each_time(self, samples: list[Sample]) -> None:
        assert samples == read_samples(resolve.task(self.benchmark, self.options)[0])

    def test_its_samples_can_be_stored(self, samples: list[Sample]) -> None:
        for sample in samples:
            assert msgspec.json.decode(msgspec.json.encode(sample), type=Sample) == sample

    def test_an_agent_that_knows_nothing_gets_a_number(self) -> None:
        run = self.play("baseline:null")
        assert {*run.outcomes} <= {"scored", "agent_failed"}

    def test_an_agent_that_gives_back_the_targets_gets_full_marks(self) -> None:
        if self.has_targets:
            number = self.play("baseline:oracle").headline
            assert number is not None
            assert number.value == 1.0

    def play(self, agent: str) -> proctor.Run:
        return proctor.evaluate(
            self.benchmark, agent=agent, options=dict(self.options), limit=self.limit, store=":memory:"
        )


def read_samples(task: Task) -> list[Sample]:
    return [*(task.samples() if callable(task.samples) else task.samples)]
